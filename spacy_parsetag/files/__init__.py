"""Writes files whole or not at all, reads compressed ones, and finds them by patterns."""

"""Writes files whole or not at all, and finds them by patterns."""

"""Draws trees as text, as SVG and as pages, and says what labels mean."""

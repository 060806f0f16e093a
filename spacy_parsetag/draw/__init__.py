"""Draws trees as text, as SVG, as pages and for LaTeX, and says what labels mean."""

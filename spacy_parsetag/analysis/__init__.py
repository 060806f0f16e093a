"""Analyses of treebanks and parsers: deviation, stack, tags and labels, and what deviation has to do with F."""

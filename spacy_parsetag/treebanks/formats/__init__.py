"""Kinds of treebank files, one in each file. `table` gives them names."""

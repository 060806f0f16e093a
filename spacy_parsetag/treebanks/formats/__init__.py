"""Describes kinds of treebank files, one in each file. `table` gives them names."""

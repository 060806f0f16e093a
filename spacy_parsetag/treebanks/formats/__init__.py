"""Readers of treebank files that are not quite Penn brackets. `table` gives them names."""

"""Readers of treebank files that are not quite Penn brackets. `training.formats` gives them names."""

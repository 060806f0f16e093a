"""spaCy components: `parsetag`, `parsetag_ensemble`, and the factories of these, `one_sentence` and `tree_matcher`."""

"""spaCy components: `parsetag`, `parsetag_ensemble`, and the factories of these, `one_sentence`, `paragraphs` and
`tree_matcher`."""

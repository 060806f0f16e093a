"""spaCy components: `parsetag`, and `one_sentence`, which it can stand behind."""

"""Constituency parsing as tagging, for spaCy.

    nlp.add_pipe("parsetag")

scores two tags per token, finds the best tree among all valid tag sequences, and sets it as
`doc.spans["constituents"]`.
"""

__version__ = "0.1.0"

"""Regular English inflection. Irregular forms are written out in the lexicon files.

>>> plural("fox"), third_person("carry"), past("hope"), participle("stop", double=True)
('foxes', 'carries', 'hoped', 'stopping')
"""

_VOWELS = "aeiou"
_HISS = ("s", "x", "z", "ch", "sh")
# Spelling is a poor guide to the sound of a first letter; these are the exceptions that the lexicon holds.
_CONSONANT_SOUND = ("uni", "use", "usu", "euro", "one", "once", "ukul")
_VOWEL_SOUND = ("hour", "honest", "honou", "heir", "8", "11-", "18-")


def plural(word: str) -> str:
    """Plural of a regular noun: *box* -> *boxes*."""
    if word.endswith(_HISS):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in _VOWELS:
        return f"{word[:-1]}ies"
    return f"{word}s"


def third_person(verb: str) -> str:
    """Third person singular of a regular verb: *watch* -> *watches*."""
    return f"{verb}es" if verb.endswith("o") else plural(verb)


def past(verb: str, *, double: bool = False) -> str:
    """Past tense and past participle of a regular verb."""
    if double:
        return f"{verb}{verb[-1]}ed"
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return f"{verb[:-1]}ied"
    return f"{verb}ed"


def participle(verb: str, *, double: bool = False) -> str:
    """Present participle of a regular verb."""
    if double:
        return f"{verb}{verb[-1]}ing"
    if verb.endswith("ie"):
        return f"{verb[:-2]}ying"
    if verb.endswith("e") and not verb.endswith(("ee", "ye", "oe")):
        return f"{verb[:-1]}ing"
    return f"{verb}ing"


def comparison(adjective: str, *, double: bool = False) -> tuple[str, str]:
    """Comparative and superlative of an adjective that takes *-er* and *-est*."""
    stem = adjective
    if double:
        stem = f"{adjective}{adjective[-1]}"
    elif adjective.endswith("e"):
        stem = adjective[:-1]
    elif adjective.endswith("y"):
        stem = f"{adjective[:-1]}i"
    return f"{stem}er", f"{stem}est"


def takes_an(word: str) -> bool:
    """Check whether the indefinite article before a word is *an*."""
    lower = word.lower()
    if lower.startswith(_CONSONANT_SOUND):
        return False
    return lower.startswith(_VOWEL_SOUND) or lower[:1] in _VOWELS

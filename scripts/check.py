"""Ends with a message where the treebank lacks a part, or a later command or the package could not take a name."""

import sys
from pathlib import Path

# spaCy leaves the quotes around an argument on Windows.
name, treebank, test = (argument.strip('"') for argument in sys.argv[1:])
if not f"parsetag_{name}".isidentifier():
    sys.exit(f"A name with more than letters, digits and _, which no package may have: {name}")
if len(treebank.split()) > 1 or "'" in treebank:
    sys.exit(f"A treebank with an apostrophe or with blanks, which no command takes: {treebank}")
if missing := [part for part in ("train", "dev", test) if not Path(treebank, f"{part}.mrg").is_file()]:
    sys.exit(
        f"No {', '.join(missing)} part in {treebank}: put NAME.mrg there. "
        "Without a test part evaluate on dev: --vars.test dev"
    )

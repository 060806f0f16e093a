"""Ends with a message where the treebank lacks a part, or a later command or the package could not take a name."""

import sys
from pathlib import Path

# spaCy leaves the quotes around an argument on Windows.
name, treebank, test = (argument.strip('"') for argument in sys.argv[1:])
if not f"parsetag_{name}".isidentifier():
    sys.exit(f"A name with more than letters, digits and _, which no package may have: {name}")
if len(treebank.split()) > 1 or "'" in treebank:
    sys.exit(f"A treebank with an apostrophe or with blanks, which no command takes: {treebank}")
parts = dict.fromkeys(("train", "dev", test))
if missing := [f"{part}.mrg" for part in parts if not Path(treebank, f"{part}.mrg").is_file()]:
    hint = " Without a test part evaluate on dev: --vars.test dev" if f"{test}.mrg" in missing and test != "dev" else ""
    sys.exit(f"No {', '.join(missing)} in {Path(treebank).resolve()}; a path counts from the project's folder.{hint}")

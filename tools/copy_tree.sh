# Sourced by scripts that compile the package elsewhere: makes a folder, $work, that goes with the script, and a function that copies
# there what is needed.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

copy_tree() {
  git ls-files -z --cached --others --exclude-standard -- setup.py setup.cfg pyproject.toml README.md LICENSE LICENSES \
    spacy_parsetag tests tools | tar --null -T - -c | tar -x -C "$work"
  cd "$work"
  python setup.py -q egg_info
}

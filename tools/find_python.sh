# Sourced by scripts that run on several Pythons. Names one of a version that starts, on PATH or of pyenv, or says that there is none and
# fails: find_python 3.12
find_python() {
  local candidate
  for candidate in "$(command -v "python$1")" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python; do
    [ -x "$candidate" ] && "$candidate" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null &&
      { echo "$candidate"; return; }
  done
  echo "$1: not found on PATH or among pyenv's versions" >&2
  return 1
}

# The versions that setup.cfg promises, a line each.
promised_pythons() {
  sed -nE 's/.*Programming Language :: Python :: (3\.[0-9]+)$/\1/p' "$(dirname "${BASH_SOURCE[0]}")/../setup.cfg"
}

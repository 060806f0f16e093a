#!/usr/bin/env bash
# Builds the compiled modules with AddressSanitizer and UndefinedBehaviorSanitizer, in a copy, and runs tests/decode and tests/ml
# over them, or the tests that are named, with the registers that are there and with the narrowest ones (WIDTHS="64 16"), and with
# many random examples (PROFILE=large). Takes GCC and Python with the extra `test`.
set -euo pipefail
cd "$(dirname "$0")/.."

. tools/copy_tree.sh
copy_tree

sanitize="-fsanitize=address,undefined -fno-sanitize-recover=undefined"
PARSETAG_FLAGS="-O1 -g1 $sanitize" LDFLAGS="$sanitize" python setup.py -q build_ext --inplace
export PYTHONPATH="$work" PARSETAG_REGISTERS
# New memory is full of what nobody would read by intention.
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0:max_malloc_fill_size=1073741824
export LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"
[ $# -gt 0 ] || set -- tests/decode tests/ml
for PARSETAG_REGISTERS in ${WIDTHS:-64 16}; do
  python -m pytest -q -p no:cacheprovider --hypothesis-profile "${PROFILE:-large}" "$@"
done

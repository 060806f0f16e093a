#!/usr/bin/env bash
# Compiles the modules with GCC, Clang and MinGW-w64, as far as they are there, each warning an error, with and without the compilers'
# vectors. What GCC builds without vectors (PARSETAG_PORTABLE), as Microsoft's compiler does, runs tests/decode and
# tests/ml, or the tests that are named. Nothing that MinGW-w64 compiles is run.
#
#     apt-get install g++ clang g++-mingw-w64-x86-64
#     tools/compilers.sh
set -euo pipefail
cd "$(dirname "$0")/.."

. tools/copy_tree.sh
copy_tree
modules=$(python -c "import setup; print(*(name.replace('.', '/') for name in setup.MODULES))")
for module in $modules; do python -m cython -3 --cplus "$module.pyx" -o "$module.cpp"; done
headers=$(python -c "import sysconfig; print(sysconfig.get_paths()['include'])")

# Python's headers with what its pyconfig.h says on Windows.
cp -rL "$headers" windows
cat >windows/pyconfig.h <<'C'
#define MS_WIN64
#define MS_WIN32
#define MS_WINDOWS
#define NT_THREADS 1
#define HAVE_DECLSPEC_DLL
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_FLOAT 4
#define SIZEOF_DOUBLE 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_TIME_T 8
#define SIZEOF_PID_T 4
#define SIZEOF_WCHAR_T 2
#define ALIGNOF_LONG 4
#define ALIGNOF_SIZE_T 8
#define HAVE_STDDEF_H 1
#define HAVE_STDINT_H 1
#define HAVE_INTTYPES_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_WCHAR_H 1
#define HAVE_UINTPTR_T 1
C

warnings="-Wall -Wextra -Wpedantic -Werror"
for compiler in g++ clang++ x86_64-w64-mingw32-g++; do
  command -v "$compiler" >/dev/null || { echo "$compiler: not here"; continue; }
  include=$headers level=-O1
  [[ $compiler != *mingw* ]] || include=windows
  [[ $compiler != clang* ]] || level=-O0 # it warns of the same before it optimizes
  for portable in "" -DPARSETAG_PORTABLE; do
    [ "$compiler$portable" != g++-DPARSETAG_PORTABLE ] || continue # which is built below
    for module in $modules; do
      # shellcheck disable=SC2086
      "$compiler" -std=c++17 $level $warnings $portable -isystem "$include" -c "$module.cpp" -o /dev/null
    done
    echo "$compiler $portable: no warnings"
  done
done

PARSETAG_FLAGS="-O1 -DPARSETAG_PORTABLE $warnings -isystem $headers" python setup.py -q build_ext --inplace
[ $# -gt 0 ] || set -- tests/decode tests/ml
PYTHONPATH="$work" python -m pytest -q -p no:cacheprovider "$@"

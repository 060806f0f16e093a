#!/usr/bin/env bash
# Builds the compiled modules for aarch64 with Debian's cross compiler, in a copy, and runs tests/decode and tests/ml over them, or
# the tests that are named, on an emulated CPU: Debian's Python for arm64, and the wheels for aarch64 of what the package needs.
#
#     apt-get install g++-aarch64-linux-gnu qemu-user-static
#     tools/aarch64.sh                      # a folder of its own for Python and wheels, 700 MB, which goes
#     AARCH64=FOLDER tools/aarch64.sh tests/decode/test_nodes.py   # this folder, which stays for the next run
#
# Takes Debian, pip and Cython. Emulation is ten to twenty times as slow as the CPU.
set -euo pipefail
cd "$(dirname "$0")/.."

. tools/copy_tree.sh
machine=$(realpath -m "${AARCH64:-$work/aarch64}")
root=$machine/root site=$machine/site

if [ ! -d "$site" ]; then
  mkdir -p "$root" "$machine"/apt/{lists,cache,dpkg}/
  touch "$machine/apt/dpkg/status"
  apt=(-qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State::lists="$machine/apt/lists" -o APT::Sandbox::User=root
    -o Dir::State::status="$machine/apt/dpkg/status" -o Dir::Cache="$machine/apt/cache" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::Etc::sourcelist="$machine/apt/sources.list")
  # Debian's own sources alone: others may have nothing for arm64.
  echo "deb http://deb.debian.org/debian $(. /etc/os-release && echo "$VERSION_CODENAME") main" >"$machine/apt/sources.list"
  apt-get "${apt[@]}" update
  apt-get "${apt[@]}" install --download-only --no-install-recommends -y python3 libpython3-dev libstdc++6 libgomp1
  for package in "$machine"/apt/cache/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
fi
python=$(echo "$root"/usr/bin/python3.[0-9]*[0-9])
version=${python##*python}
if [ ! -d "$site" ]; then
  needed=$(python -c "from setuptools.config.setupcfg import read_configuration as read
options = read('setup.cfg')['options']
print('\n'.join(options['install_requires']))")
  printf '%s\n' "$needed" "pytest>=8" "hypothesis>=6.100" >"$machine/needed.txt"
  python -m pip install -q --no-compile --target "$site.part" --only-binary :all: --implementation cp --python-version "$version" \
    --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --platform manylinux2014_aarch64 -r "$machine/needed.txt"
  mv "$site.part" "$site"
fi

copy_tree
python -c "import setup
for name in setup.MODULES: print(name.replace('.', '/'), *setup.flags_of('unix', name))" | while read -r module flags; do
  python -m cython -3 --cplus "$module.pyx" -o "$module.cpp"
  # shellcheck disable=SC2086
  aarch64-linux-gnu-g++ $flags -fPIC -fwrapv -shared -I "$root/usr/include/python$version" -idirafter "$root/usr/include" \
    -I "$(dirname "$module")" "$module.cpp" -o "$module.so"
done
[ $# -gt 0 ] || set -- tests/decode tests/ml
PYTHONPATH="$work:$site" qemu-aarch64-static -L "$root" "$python" -c "import platform; print(platform.machine(), platform.python_version())"
PYTHONPATH="$work:$site" qemu-aarch64-static -L "$root" "$python" -m pytest -q -p no:cacheprovider "$@"

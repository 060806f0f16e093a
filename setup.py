"""Builds the compiled modules: each compiler gets flags in its own words. All else stands in setup.cfg."""

import os
from glob import glob

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# -g0: Python asks for debugging symbols, which take a quarter of the time to build and most of a module's size.
FLAGS = {"msvc": ["/O2", "/std:c++17", "/EHsc", "/D_CRT_SECURE_NO_WARNINGS"], "unix": ["-O3", "-g0", "-std=c++17"]}
# Without these GCC makes no vectors of the recurrence. Its loops read no floating-point flags and no sign of a zero.
MORE = {"unix": {"spacy_parsetag.ml._sru": ["-fno-trapping-math", "-fno-signed-zeros"]}}
MODULES = [
    "spacy_parsetag.decode._nodes",
    "spacy_parsetag.decode._passes",
    "spacy_parsetag.ml._mlp",
    "spacy_parsetag.ml._sru",
    "spacy_parsetag.search._kernel",
]


def flags_of(compiler: str, module: str) -> list[str]:
    """Returns the flags of a kind of compiler ("msvc", "unix", "mingw32") for a module; PARSETAG_FLAGS come last."""
    kind = "msvc" if compiler == "msvc" else "unix"
    return FLAGS[kind] + MORE.get(kind, {}).get(module, []) + os.environ.get("PARSETAG_FLAGS", "").split()


class BuildExt(build_ext):
    """Builds extensions with flags for the compiler that is there."""

    def build_extension(self, ext: Extension) -> None:
        ext.extra_compile_args = flags_of(self.compiler.compiler_type, ext.name)
        super().build_extension(ext)


if __name__ == "__main__":
    headers = sorted(glob("spacy_parsetag/*/*.hpp"))
    modules = [Extension(name, [name.replace(".", "/") + ".pyx"], language="c++", depends=headers) for name in MODULES]
    setup(ext_modules=modules, cmdclass={"build_ext": BuildExt})

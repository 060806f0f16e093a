"""Checks that a folder has all files of a release, and that a package index has the same ones.

    python -m tools.index FOLDER VERSION
    python -m tools.index FOLDER VERSION --index ADDRESS [--wait SECONDS]

A release has an sdist, and for each Python in setup.cfg's classifiers a wheel for each platform of `PLATFORMS`. The
index, whose address is that of its "simple" pages, is asked for its JSON page of the project (PEP 691), and must have
the files with the same hashes.
"""

import argparse
import configparser
import hashlib
import http.client
import json
import re
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLATFORMS = (
    r"manylinux\w*_x86_64",
    r"manylinux\w*_aarch64",
    r"musllinux\w*_x86_64",
    r"musllinux\w*_aarch64",
    r"macosx\w*_x86_64",
    r"macosx\w*_arm64",
    "win_amd64",
    "win_arm64",
)
NONE = {("cp310", "win_arm64")}  # for which spaCy has no wheels


def pythons() -> list[str]:
    """The Pythons of the classifiers, as wheels name them: "cp310"."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf8")
    versions = re.findall(r"Python :: 3\.(\d+)", setup["metadata"]["classifiers"])
    return [f"cp3{minor}" for minor in versions]


def missing(names: list[str], version: str) -> list[str]:
    """The files of a release that are not among these, as patterns."""
    stem = rf"spacy_parsetag-{re.escape(version)}"
    machines = [(python, platform) for python in pythons() for platform in PLATFORMS]
    patterns = [rf"{stem}\.tar\.gz"]
    for python, platform in machines:
        if (python, platform) not in NONE:
            patterns.append(rf"{stem}-{python}-{python}-(\w+\.)*{platform}(\.\w+)*\.whl")
    return [pattern for pattern in patterns if not any(re.fullmatch(pattern, name) for name in names)]


def published(index: str) -> dict[str, str]:
    """The files that the index has of the project, with their SHA-256."""
    request = urllib.request.Request(
        f"{index.rstrip('/')}/spacy-parsetag/", headers={"Accept": "application/vnd.pypi.simple.v1+json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return {file["filename"]: file["hashes"]["sha256"] for file in json.load(answer)["files"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("version", metavar="VERSION")
    parser.add_argument("--index", metavar="ADDRESS")
    parser.add_argument("--wait", type=float, default=0)
    args = parser.parse_args()
    # What publishes them leaves a signature beside each, which the index does not list.
    paths = sorted(path for pattern in ("*.whl", "*.tar.gz") for path in args.folder.glob(pattern))
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    if absent := missing(list(files), args.version):
        raise SystemExit("\n".join([f"{args.folder} lacks {len(absent)} files:", *absent]))
    sys.stdout.write(f"{args.folder}: all {len(files)} files of {args.version}\n")
    if args.index is None:
        return
    until = time.monotonic() + args.wait
    while True:
        hashes: dict[str, str] = {}
        failure = ""
        try:
            hashes = published(args.index)
        except (OSError, http.client.HTTPException, ValueError) as error:  # a first release is not found at once
            failure = f" ({error})"
        wrong = [name for name, digest in files.items() if hashes.get(name) != digest]
        if not wrong or time.monotonic() >= until:
            break
        time.sleep(10)  # an index shows files some time after it took them
    if wrong:
        lacks = f"The index lacks these, or has them with another hash: {len(wrong)}{failure}"
        raise SystemExit("\n".join([lacks, *wrong]))
    sys.stdout.write(f"The index has all {len(files)} of them\n")


if __name__ == "__main__":
    main()

"""`python -m spacy parsetag download`: installs a trained pipeline, in the version that goes with this package."""

import json
import subprocess
import sys
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import srsly
from spacy.util import is_compatible_version
from typer import Argument as Arg, Option as Opt

from ..errors import Errors
from ._util import note

# The pipelines with the versions that go together. `address` is where their wheels are published, null before any is.
TABLE = json.loads((Path(__file__).parent / "pipelines.json").read_text(encoding="utf8"))


def download_cli(
    name: Annotated[str, Arg(metavar="NAME", help=f"Pipeline: {', '.join(TABLE['pipelines'])}")],
    source: Annotated[
        str | None,
        Opt("--from", metavar="PLACE", help="Folder with its wheel or sources, or address of a package index"),
    ] = None,
) -> None:
    """Install a trained pipeline with pip, in the version that goes with this version of spacy-parsetag.

    \b
    Examples:
      python -m spacy parsetag download en_parsetag_sm
      python -m spacy parsetag download en_parsetag_sm --from models
    """
    if name not in TABLE["pipelines"]:
        raise ValueError(Errors.E478.format(name=name, known=", ".join(TABLE["pipelines"])))
    pipeline_version, required = (TABLE["pipelines"][name][key] for key in ("version", "spacy-parsetag"))
    package_version = version("spacy-parsetag")
    if not is_compatible_version(package_version, required):
        raise ValueError(Errors.E479.format(name=name, version=pipeline_version, range=required, ours=package_version))
    if source is None and TABLE["address"] is None:
        raise ValueError(Errors.E480.format(name=name, version=pipeline_version))
    if find_spec("pip") is None:
        raise ImportError(Errors.E481.format(python=sys.executable))
    with tempfile.TemporaryDirectory() as folder:
        if source is None:
            wheel = f"{TABLE['address']}/{name}-{pipeline_version}/{name}-{pipeline_version}-py3-none-any.whl"
        elif "://" in source:
            # Alone, so that the other packages still come from where the user's pip finds them.
            options = "--no-deps", "--only-binary=:all:", "--index-url", source, "-d", folder
            pip("download", *options, f"{name}=={pipeline_version}")
            wheel = in_folder(Path(folder), name, pipeline_version)
        else:
            wheel = in_folder(Path(source), name, pipeline_version)
        pip("install", wheel)
    note(f"{name} {pipeline_version} is installed: spacy.load({name!r})", "good")


def in_folder(folder: Path, name: str, pipeline_version: str) -> str:
    """Find what pip installs of a folder: the pipeline's wheel, or the folder with its sources."""
    candidates = sorted(folder.glob(f"{name}-{pipeline_version}-*.whl"))
    meta = folder / name / "meta.json"
    if meta.with_name("setup.py").is_file() and srsly.read_json(meta)["version"] == pipeline_version:
        candidates.append(meta.parent)
    if not candidates:
        raise ValueError(Errors.E482.format(folder=folder, name=name, version=pipeline_version))
    return str(candidates[0].resolve())


def pip(*arguments: str) -> None:
    """Runs pip, which says itself what is wrong."""
    if subprocess.run([sys.executable, "-m", "pip", *arguments]).returncode:
        raise ValueError(Errors.E483.format(command=" ".join(("pip", *arguments))))

"""What a release has: all wheels, one version, and files that say the same."""

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import srsly

from tools import index

ROOT = Path(__file__).resolve().parent.parent
VERSION = re.search(r"^version = (.+)$", (ROOT / "setup.cfg").read_text(encoding="utf8"), re.MULTILINE)[1]  # type: ignore[index]
PLATFORMS = (
    "manylinux_2_27_x86_64.manylinux_2_28_x86_64", "manylinux2014_aarch64.manylinux_2_17_aarch64",
    "musllinux_1_2_x86_64", "musllinux_1_2_aarch64", "macosx_11_0_x86_64", "macosx_11_0_arm64",
    "win_amd64", "win_arm64",
)  # fmt: skip
NAMES = [f"spacy_parsetag-{VERSION}.tar.gz"] + [
    f"spacy_parsetag-{VERSION}-{python}-{python}-{platform}.whl" for python in index.pythons() for platform in PLATFORMS
]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[dict[str, str], str]]:
    """Files that an index has, and its address."""
    files: dict[str, str] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert self.path == "/simple/spacy-parsetag/"
            self.send_response(200 if files else 404)
            self.end_headers()
            rows = [{"filename": name, "hashes": {"sha256": digest}} for name, digest in files.items()]
            self.wfile.write(json.dumps({"files": rows}).encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield files, f"http://127.0.0.1:{server.server_port}/simple"
    server.shutdown()


def test_a_missing_wheel_is_named() -> None:
    assert index.pythons() == ["cp310", "cp311", "cp312", "cp313", "cp314"] and len(NAMES) == 41
    assert index.missing(NAMES, VERSION) == []
    for number, name in enumerate(NAMES):
        absent = index.missing(NAMES[:number] + NAMES[number + 1 :], VERSION)
        assert len(absent) == ("cp310-win_arm64" not in name), name
    assert len(index.missing(NAMES, "9.9.9")) == 40


def test_the_index_has_all(
    served: tuple[dict[str, str], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files, address = served
    for name in NAMES:
        (tmp_path / name).write_bytes(name.encode())
        files[name] = hashlib.sha256(name.encode()).hexdigest()
    monkeypatch.setattr("sys.argv", ["index", str(tmp_path), VERSION, "--index", address])
    index.main()
    assert "has all 41" in capsys.readouterr().out
    files[NAMES[3]] = "0"
    del files[NAMES[5]]
    with pytest.raises(SystemExit, match=re.escape(NAMES[3])) as error:
        index.main()
    assert NAMES[5] in str(error.value) and NAMES[4] not in str(error.value)


def test_an_index_that_does_not_answer_yet(
    served: tuple[dict[str, str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked until the time is over: as long as it knows no such project, or nobody answers."""
    files, address = served
    for name in NAMES:
        (tmp_path / name).write_bytes(b"")
    waits = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            files.update(dict.fromkeys(NAMES, hashlib.sha256(b"").hexdigest()))

    monkeypatch.setattr(index.time, "sleep", wait)
    arguments = ["index", str(tmp_path), VERSION, "--wait", "600", "--index", address]
    monkeypatch.setattr("sys.argv", arguments)
    index.main()
    assert waits == [10, 10]
    monkeypatch.setattr("sys.argv", [*arguments, "--wait", "0", "--index", "http://127.0.0.1:9/simple"])
    with pytest.raises(SystemExit, match=r"lacks these.*41 \(.*refused"):
        index.main()


def test_one_version() -> None:
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf8")
    heads = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf8"), re.MULTILINE)
    assert heads[0].rstrip(",") in ("Unreleased", VERSION)


def test_pipelines_of_the_page() -> None:
    page = (ROOT / "RELEASING.md").read_text(encoding="utf8")
    table = json.loads((ROOT / "spacy_parsetag" / "cli" / "pipelines.json").read_text(encoding="utf8"))["pipelines"]
    rows = {f"| `{name}` | {row['version']} | `{row['spacy-parsetag']}` |" for name, row in table.items()}
    assert rows == set(re.findall(r"^\| `[a-z]+_\w+` \|.*\|$", page, re.MULTILINE))
    for command in re.findall(r"\btools/\w+\.(?:sh|py)", page):
        assert (ROOT / command).is_file(), command


def test_versions_in_paths() -> None:
    """Where a page or a project file names the folder of a pipeline, it has the version that `meta.json` says."""
    files = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("models/**/project.yml"), *ROOT.glob("benchmarks/*.py")]
    text = "\n".join(path.read_text(encoding="utf8") for path in files)
    found = set(re.findall(r"\b((?:en|id)_parsetag_[a-z]+)-(\d[\d.]*\d)\b", text))
    assert len(found) >= 2
    for name, version in found:
        assert json.loads((ROOT / "models" / name / "meta.json").read_text(encoding="utf8"))["version"] == version


def test_the_universe_entry() -> None:
    """Its fields are those of spaCy's universe.json, and its code runs."""
    entry = json.loads((ROOT / ".github" / "universe.json").read_text(encoding="utf8"))
    assert entry["id"] == entry["pip"] == "spacy-parsetag" and entry["category"] == ["pipeline", "research"]
    assert len(entry["slogan"]) < 100 and all(isinstance(line, str) for line in entry["code_example"])
    names: dict[str, object] = {}
    [folder] = (ROOT / "models" / "en_parsetag_sm" / "en_parsetag_sm").glob("en_parsetag_sm-*")
    exec("\n".join(entry["code_example"]).replace("en_parsetag_sm", folder.as_posix()), names)
    assert "doc" in names


def test_workflows_are_yaml() -> None:
    for path in [*ROOT.glob(".github/**/*.yml"), ROOT / "CITATION.cff"]:
        assert srsly.read_yaml(path), path

"""Runs shell snippets, with a `python` that needs no seconds to import spaCy.

`Shell` starts one Python that has imported what commands import. `python` on the PATH of the shell is a small program
that asks this one to fork, and hands it its arguments, folder, environment and standard streams. So the snippets run as
they are printed, pipes and all.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

PRELOADED = (
    "spacy",
    "spacy.cli",
    "nltk",
    "spacy_parsetag.cli",
    "spacy_parsetag.pipeline.component",
    "spacy.training.loop",
)
CLIENT = """\
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [b"x"], [0, 1, 2])
    request = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    server.sendall(len(request).to_bytes(4, "big") + request)
    code = server.recv(1)
sys.exit(code[0] if code else 134)
"""
# Steps of training that a snippet gets, whatever its config says: what is tried here is that it runs.
CAP = ["--training.max_steps", "6", "--training.eval_frequency", "3", "--training.patience", "0"]


class Shell:
    """A bash in a folder of its own, with a fast `python`.

    folder (Path): Where programs and the socket go.
    paths (list[Path]): Folders that Python imports from, beside its own.
    """

    def __init__(self, folder: Path, paths: list[Path]) -> None:
        self.paths = paths
        self.address = str(folder / "socket")
        bin = folder / "bin"
        bin.mkdir(parents=True)
        (bin / "client.py").write_text(CLIENT.format(address=self.address), encoding="utf8")
        for name in ("python", "python3"):
            (bin / name).write_text(
                f'#!/bin/sh\nexec "{sys.executable}" -S -E "{bin}/client.py" "$@"\n', encoding="utf8"
            )
            (bin / name).chmod(stat.S_IRWXU)
        for name in ("pip", "pip3", "uv"):  # a page must not change the environment that tests run in
            (bin / name).write_text("#!/bin/sh\nexit 1\n", encoding="utf8")
            (bin / name).chmod(stat.S_IRWXU)
        path = os.pathsep.join([str(bin), str(Path(sys.executable).parent), os.environ["PATH"]])
        self.env = {
            **os.environ,
            "PATH": path,
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "OMP_NUM_THREADS": "1",
            "PYTHONUNBUFFERED": "1",
        }
        self.server = subprocess.Popen(
            [sys.executable, __file__, self.address], env=self.env, stdout=subprocess.PIPE, text=True
        )
        assert self.server.stdout is not None and self.server.stdout.readline() == "ready\n"

    def run(self, text: str, cwd: Path) -> str:
        """Run a snippet, and give what it printed.

        RAISES (AssertionError): If one of its commands fails.
        """
        run = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text], cwd=cwd, env=self.env, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, f"{text}\n{run.stdout}\n{run.stderr}"
        return run.stdout + run.stderr

    def close(self) -> None:
        self.server.kill()
        self.server.wait()


def _serve(address: str) -> None:
    for name in PRELOADED:
        __import__(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        print("ready", flush=True)
        while True:
            client, _ = server.accept()
            if os.fork() == 0:
                server.close()
                _answer(client)
            client.close()


def _answer(client: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, streams, _, _ = socket.recv_fds(client, 1, 3)
    length = int.from_bytes(client.recv(4, socket.MSG_WAITALL), "big")
    argv, folder, env = json.loads(client.recv(length, socket.MSG_WAITALL))
    for stream, number in zip(streams, (0, 1, 2), strict=True):
        os.dup2(stream, number)
    # Those that are there know of the old ones whether they can seek.
    sys.stdin = open(0, encoding="utf8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf8", closefd=False)  # noqa: SIM115
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    sys.path[0] = folder
    code = _run(argv)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    client.sendall(bytes([code & 255]))
    os._exit(0)


def _run(argv: list[str]) -> int:
    """Do what `python ARGV` does, and give its exit code."""
    import traceback

    try:
        if argv[:1] == ["-m"]:
            sys.argv = argv[1:]
            if argv[1] in ("pip", "venv", "ensurepip"):
                return 1
            if argv[1:3] == ["spacy", "train"]:
                sys.argv += CAP
            runpy.run_module(argv[1], run_name="__main__", alter_sys=True)
        elif argv[:1] == ["-"]:
            sys.argv = argv
            exec(compile(sys.stdin.read(), "<stdin>", "exec"), {"__name__": "__main__"})
        else:
            sys.argv = argv
            sys.path[0] = str(Path(argv[0]).parent)
            runpy.run_path(argv[0], run_name="__main__")
    except SystemExit as err:
        return err.code if isinstance(err.code, int) else int(err.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    _serve(sys.argv[1])

"""Compares the speed of two clones of this repository, such as two commits: a statement, timed in both by turns.

    git clone . ../old
    (cd ../old && git checkout COMMIT && python setup.py -q egg_info build_ext --inplace)
    python benchmarks/pairs.py ../old . --setup SETUP STATEMENT

As in timeit, a setup runs once and a statement many times; --old-setup is for the first clone where names differ, --env
NAME=VALUE for the environment of the second one: then both may be the same clone. Each clone has a process of its own,
which takes the package from there, with the same other packages in both. One process waits while the other one runs, on
one core. Ratios are the new one's time over the old one's: of the fastest runs, and the median of all rounds. CPU time
is that of the process itself: where a statement runs commands, wall time counts.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from cores import ONE_CORE
from record import parse_arguments, write_result
from timing import in_turn, seconds_of


class Clone:
    """A process that takes the package from a clone, and times a statement when it is told to.

    folder (Path): The clone, built.
    setup, statement (str): Python code.
    env (Mapping[str, str]): What its environment has beside that of this process.
    RAISES (SystemExit): If the setup fails, or takes the package from elsewhere.
    """

    def __init__(self, folder: Path, setup: str, statement: str, env: Mapping[str, str]) -> None:
        command = [sys.executable, str(Path(__file__).resolve()), "--child"]
        paths = os.pathsep.join([str(folder.resolve()), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **ONE_CORE, "PYTHONPATH": paths, **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._ask({"folder": str(folder.resolve()), "setup": setup, "statement": statement})

    def run(self) -> tuple[float, float]:
        """Run the statement; return its CPU and wall seconds."""
        cpu, wall = self._ask({})
        return cpu, wall

    def _ask(self, question: dict[str, str]) -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(self.process.wait() or 1)
        return json.loads(answer)


def answer_questions() -> None:
    """Set up in the process of a clone, then time the statement for each line of the input."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the code prints is no answer
    question = json.loads(sys.stdin.readline())
    names: dict[str, Any] = {}
    exec(compile(question["setup"], "setup", "exec"), names)
    package = sys.modules.get("spacy_parsetag")
    if package is None or not Path(str(package.__file__)).is_relative_to(question["folder"]):
        raise SystemExit(f"The setup did not import spacy_parsetag from {question['folder']}.")
    run = partial(exec, compile(question["statement"], "statement", "exec"), names)
    print("{}", file=answers, flush=True)
    for _ in sys.stdin:
        print(json.dumps(seconds_of(run)), file=answers, flush=True)


def main() -> None:
    if sys.argv[1:] == ["--child"]:
        return answer_questions()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="a clone, built")
    parser.add_argument("new", type=Path, help="the other one")
    parser.add_argument("statement", help="Python code to time")
    parser.add_argument("--setup", default="import spacy_parsetag", help="Python code to run before")
    parser.add_argument("--old-setup", help="the same in the first clone, if it differs there")
    parser.add_argument(
        "--env", action="append", default=[], metavar="NAME=VALUE", help="environment of the second one"
    )
    parser.add_argument("--repeats", type=int, default=9, help="rounds")
    args = parse_arguments(parser)
    setups = {"old": args.setup if args.old_setup is None else args.old_setup, "new": args.setup}
    envs = {"old": {}, "new": dict(pair.split("=", 1) for pair in args.env)}
    clones = {name: Clone(getattr(args, name), setups[name], args.statement, envs[name]) for name in setups}
    times = in_turn({name: clone.run for name, clone in clones.items()}, args.repeats, lambda run: run())
    for clone in clones.values():
        clone.process.communicate()  # which ends it
    figures = {
        **{name: seconds.figures() for name, seconds in times.items()},
        "new_over_old": round(times["new"].over(times["old"]), 3),
        "median_of_rounds": round(times["new"].median_over(times["old"]), 3),
        "wall_new_over_old": round(times["new"].best_wall / times["old"].best_wall, 3),
    }
    for name, value in figures.items():
        print(f"{name}: {value}")
    write_result(figures, args.output, args.made_by)


if __name__ == "__main__":
    main()

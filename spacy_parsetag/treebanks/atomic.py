"""Files that appear whole or not at all, and that never replace what is still to be read."""

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import Errors


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Give a temporary path in the same folder, which replaces `path` when the block ends well.

    When the block raises, or is interrupted, the temporary file is removed and what stood at `path` stays. Symbolic
    links are followed. What is not a regular file (a pipe, /dev/stdout) is written to directly.

    path (str | Path): The file to write.
    YIELDS (Path): Where to write it.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        yield target
        return
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        yield temporary
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def refuse_overwrite(inputs: Iterable[str | Path], outputs: Iterable[str | Path | None]) -> None:
    """Raise if an output is one of the inputs, or two outputs are the same file.

    inputs (Iterable[str | Path]): Files that are read.
    outputs (Iterable[str | Path | None]): Files that will be written. None and "-", the standard output, are fine.
    RAISES (ValueError): With the name of the file.
    """
    taken = {os.path.realpath(path) for path in inputs}
    for path in outputs:
        if path is None or str(path) == "-" or (os.path.exists(path) and not os.path.isfile(path)):
            continue
        real = os.path.realpath(path)
        if real in taken:
            raise ValueError(Errors.E395.format(path=path))
        taken.add(real)

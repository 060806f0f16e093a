"""Keeps a folder for one process at a time."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ..errors import Errors


@contextmanager
def lock_folder(folder: Path, name: str) -> Iterator[IO[bytes]]:
    """Keep other runs out of a folder until the block, or the process, ends.

    name (str): The lock, a file in a folder below this one. That folder is removed with it, unless it holds more.
    RAISES (ValueError): If another run is in the folder.
    """
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        file = path.open("ab")
    except FileNotFoundError as err:  # the other one ends at this moment
        raise ValueError(Errors.E035.format(path=folder)) from err
    with file:
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not os.path.samestat(os.fstat(file.fileno()), path.stat()):
                    raise BlockingIOError  # the other one has removed this file, and a third has made a new one
        except (BlockingIOError, FileNotFoundError, PermissionError) as err:  # the last on Windows
            raise ValueError(Errors.E035.format(path=folder)) from err
        try:
            yield file
        finally:
            if sys.platform == "win32":  # which removes no file that is open
                file.close()
            with suppress(OSError):  # there, another run may have it by now
                path.unlink()
            file.close()
            with suppress(OSError):  # there is more, or another run is about to begin
                path.parent.rmdir()

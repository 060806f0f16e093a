"""Files that appear whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Give a temporary path in the same folder, which replaces `path` when the block ends well.

    When the block raises, or is interrupted, the temporary file is removed and what stood at `path` stays. Symbolic
    links are followed. Something that is no regular file (a pipe, /dev/stdout) is written to directly.

    path (Union[str, Path]): The file to write.
    YIELDS (Path): Where to write it.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        yield target
        return
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        yield temporary
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)

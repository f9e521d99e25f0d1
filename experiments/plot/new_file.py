"""Files that take their place when they are whole."""

import contextlib
import fcntl
import os
import tempfile

from unusable import Unusable


waiting = None  # files that wait for others, as (temporary, path, a descriptor that keeps its lock); None where each goes by itself


@contextlib.contextmanager
def all_or_none():
    """While it lasts, files that are written wait beside their places; they take them together at its end, or after an error none does."""
    global waiting
    waiting = []
    try:
        yield
        for temporary, path, _ in waiting:
            put_in_place(temporary, path)
    finally:
        for temporary, _, descriptor in waiting:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            os.close(descriptor)
        waiting = None


def write(path, fill):
    """Calls `fill` with a new file beside `path` and puts it in its place; only a regular file is replaced."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise Unusable(f"cannot write '{path}': it is no regular file, and only such are replaced")
    temporary = None
    try:
        number, temporary = tempfile.mkstemp(prefix=".part-", dir=path.parent)
        with os.fdopen(number, "wb") as file:
            fcntl.flock(number, fcntl.LOCK_EX)  # says that somebody still writes it
            os.fchmod(number, 0o666 & ~current_umask())
            fill(file)
            file.flush()
            os.fsync(number)
            if waiting is not None:
                waiting.append((temporary, path, os.dup(number)))
        if waiting is None:
            put_in_place(temporary, path)
        temporary = None
    except OSError as error:
        raise Unusable(f"cannot write '{path}': {error.strerror}") from error
    finally:
        if temporary is not None:
            os.unlink(temporary)


def put_in_place(temporary, path):
    try:
        os.replace(temporary, path)
    except OSError as error:
        raise Unusable(f"cannot write '{path}': {error.strerror}") from error


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask

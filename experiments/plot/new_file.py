"""Files that take their place when they are whole."""

import fcntl
import os
import tempfile

from unusable import Unusable


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
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        raise Unusable(f"cannot write '{path}': {error.strerror}") from error
    finally:
        if temporary is not None:
            os.unlink(temporary)


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask

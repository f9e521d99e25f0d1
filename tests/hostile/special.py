"""Things that stand where a file is expected: folders, pipes, devices, links to nowhere, files without end."""

import gzip
import os

from start import FILE_SIZE


def special(random, path):
    """Puts one of them at `path`."""
    kind = random.choice(["folder", "pipe", "zeros", "nowhere", "loop", "bomb", "sparse", "empty", "missing"])
    try:
        MAKERS[kind](path)
    except PermissionError:  # devices are root's
        path.write_bytes(b"")


def bomb(path):
    """4 GiB of zeros, gzipped."""
    path.write_bytes(gzip.compress(bytes(16 << 20), mtime=0) * 256)


def sparse(path):
    """As large as files may get here."""
    with open(path, "wb") as file:
        file.truncate(FILE_SIZE)


MAKERS = {
    "folder": lambda path: path.mkdir(),
    "pipe": os.mkfifo,
    "zeros": lambda path: os.mknod(path, 0o20666, os.makedev(1, 5)),
    "nowhere": lambda path: path.symlink_to("no/such/file"),
    "loop": lambda path: path.symlink_to(path.name),
    "bomb": bomb,
    "sparse": sparse,
    "empty": lambda path: path.write_bytes(b""),
    "missing": lambda path: None,
}

"""A store of SQLite files in a folder of a local disk, which the processes of one machine share."""

import contextlib
import os
import pathlib
import re
import sqlite3
import threading
import time
import zlib
from typing import Optional

from .stores import shard_of

TABLES = """
CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, checksum INTEGER, value BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS held (bytes INTEGER);
INSERT INTO held SELECT 0 WHERE NOT EXISTS (SELECT * FROM held);
"""
PATIENCE = 5.0
"""Seconds that a writer waits for another one; then what it has is not kept."""
ATTEMPTS = 5
"""To open a new file, of which SQLite says that the disk has failed where another process gives the same file up meanwhile."""


class Shard:
    """One file, as this process has it open. A file that is found corrupted is given up for the next of its generation, to
    which other processes follow when they find it too: nobody writes over a file that another one has open."""

    def __init__(self, folder: pathlib.Path, number: int, capacity: Optional[int]) -> None:
        self._folder, self._number, self._capacity = folder, number, capacity
        self._one_at_a_time = threading.RLock()
        self._generation = max(self._generations(), default=0)
        self._file = sqlite3.connect(":memory:", check_same_thread=False)  # which holds nothing, until one is open
        self._open()

    def get(self, key: str) -> Optional[bytes]:
        with self._one_at_a_time:
            row = self._read(key)
        if row is None or type(row[1]) is not bytes or row[0] != zlib.crc32(row[1]):
            return None
        return row[1]

    def put(self, key: str, value: bytes) -> None:
        with self._one_at_a_time:
            try:
                self._write(key, value)
            except sqlite3.DatabaseError as error:
                self._survive(error)

    def _read(self, key: str) -> Optional[tuple[int, bytes]]:
        try:
            row: Optional[tuple[int, bytes]] = self._file.execute("SELECT checksum, value FROM entries WHERE key = ?", (key,)).fetchone()
        except sqlite3.DatabaseError as error:
            self._survive(error)
            return None
        return row

    def _write(self, key: str, value: bytes) -> None:
        self._file.execute("BEGIN IMMEDIATE")
        try:
            (held,) = self._file.execute("SELECT coalesce(sum(bytes), 0) FROM held").fetchone()
            old = self._file.execute("SELECT length(value) FROM entries WHERE key = ?", (key,)).fetchone()
            more = len(value) - (old[0] if old else 0)
            if self._capacity is None or held + more <= self._capacity:
                self._file.execute("REPLACE INTO entries VALUES (?, ?, ?)", (key, zlib.crc32(value), value))
                self._file.execute("UPDATE held SET bytes = bytes + ?", (more,))
            self._file.execute("COMMIT")
        except BaseException:
            if self._file.in_transaction:
                self._file.execute("ROLLBACK")
            raise

    def _generations(self) -> list[int]:
        self._folder.mkdir(parents=True, exist_ok=True)
        names = (re.fullmatch(rf"{self._number}\.(\d+)\.sqlite", path.name) for path in self._folder.iterdir())
        return [int(name[1]) for name in names if name]

    def _path(self, generation: int) -> pathlib.Path:
        return self._folder / f"{self._number}.{generation}.sqlite"

    def _open(self, attempts: int = ATTEMPTS) -> None:
        """Raises RuntimeError where not even a new file can be opened: once, or as often as others may have been opening it too."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._path(self._generation)
        is_new = not path.exists()
        try:
            self._file = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            self._prepare()
        except sqlite3.DatabaseError as error:
            if is_new and (attempts == 1 or "disk I/O" not in str(error)):
                raise RuntimeError(f"{path} cannot be used as a cache: {error}") from error
            self._survive(error, attempts - 1 if is_new else ATTEMPTS)

    def _prepare(self) -> None:
        """SQLite waits for nobody where the journal of a file that others open too is to become another."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self._file.execute("PRAGMA synchronous = OFF")  # what a crash of the machine takes is computed again
                self._file.execute("PRAGMA journal_mode = WAL")
                self._file.executescript(TABLES)
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def _survive(self, error: sqlite3.DatabaseError, attempts: int = ATTEMPTS) -> None:
        """A file that is locked, or on a full disk, is still good; of one that is none any more, or gone, there is a next one."""
        given_up = self._path(self._generation)
        is_corrupted = type(error) is sqlite3.DatabaseError or re.search("no such table|disk I/O|unable to open", str(error))
        if given_up.exists() and not is_corrupted:
            return
        self._file.close()
        self._generation = max([self._generation + 1, *self._generations()])
        self._open(attempts)
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):  # it is gone, or no file at all, and nobody looks at it any more
                given_up.with_name(given_up.name + suffix).unlink()


class Folder:
    """A store of SQLite files, which Python brings; LMDB is faster, but maps its file into memory, where one that is cut off
    ends the process by a signal. Keys are spread over `shards` files, so that as many processes write at once."""

    def __init__(self, path: "str | os.PathLike[str]", *, capacity: Optional[int] = None, shards: int = 4) -> None:
        """`path`: a folder of a local disk, not of a network's, whose locks SQLite cannot trust; made where it is missing.
        `capacity`: bytes of values, each file having its even part; when they are reached nothing more is kept, since what
        comes in the order of epochs would only push out what comes sooner. All processes give the same. Raises ValueError
        for a folder of other files."""
        if shards < 1 or (capacity is not None and capacity < 0):
            raise ValueError(f"{shards} shards of {capacity} bytes; give one shard at least, and 0 bytes")
        self._path, self._capacity, self._count = pathlib.Path(path), capacity, shards
        self._path.mkdir(parents=True, exist_ok=True)
        for other in self._path.iterdir():
            if not re.fullmatch(r"\d+\.\d+\.sqlite(-\w+)?", other.name):
                raise ValueError(f"the folder {self._path} has other files, as {other.name}; give one of the cache's own")
        self._shards: list[Optional[Shard]] = [None] * shards
        self._process = os.getpid()
        self._inherited: list[list[Optional[Shard]]] = []

    def get(self, key: str) -> Optional[bytes]:
        return self._shard(key).get(key)

    def put(self, key: str, value: bytes) -> None:
        self._shard(key).put(key, value)

    def _shard(self, key: str) -> Shard:
        if self._process != os.getpid():  # a worker of a DataLoader, which may neither use nor close what its parent opened
            self._inherited.append(self._shards)
            self._shards, self._process = [None] * self._count, os.getpid()
        number = shard_of(key, self._count)
        shard = self._shards[number]
        if shard is None:
            shard = Shard(self._path, number, None if self._capacity is None else self._capacity // self._count)
            self._shards[number] = shard
        return shard

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_shards": [None] * self._count, "_inherited": []}

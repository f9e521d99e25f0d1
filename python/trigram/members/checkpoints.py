"""Checkpoints in the folder in which members meet: borders of steps, from which a job goes on that has lost all its members."""

import os
import pathlib
import shutil
import sys
import tempfile
import threading
from typing import Optional

from .borders import Border, Moment
from .decision import Told
from .folder import Folder
from .holdings import SCRIPT, STATE, digest_of

KEPT = 2
"""How many stay: should the disk spoil the newest, the one before is read."""


class Checkpoints:
    """Of one job. A checkpoint is whole once each member of its epoch has written its own part, whose name has the digest of what is in it."""

    def __init__(self, folder: Folder) -> None:
        self._folder, self._path = folder, folder.path / "checkpoints"
        self._writing: Optional[threading.Thread] = None

    def write(self, moment: Moment, number: int, border: Border) -> None:
        """That member's part, while training goes on; waits for one before it. A full disk costs the checkpoint, and says so."""
        contents = {STATE: border.state.bytes(), SCRIPT: border.packed()}
        self.wait()
        self._writing = threading.Thread(target=self._write, args=(moment, number, contents))
        self._writing.start()

    def wait(self) -> None:
        """Until what was begun is written."""
        if self._writing is not None:
            self._writing.join()

    def newest(self) -> dict[str, Told]:
        """What the members who wrote it would say of themselves, by their names; of nobody where there is none."""
        for moment in sorted(self._moments(), reverse=True):
            told = {one["name"]: self._told(moment, one) for one in self._folder.epoch(moment.epoch)["members"]}
            if all(told.values()):
                return {name: one for name, one in told.items() if one}
        return {}

    def part(self, moment: Moment, part: int, digest: str) -> bytes:
        """Raises OSError where it is gone."""
        for path in self._place(moment).glob(f"*.{part}.{digest}"):
            return path.read_bytes()
        raise FileNotFoundError(f"'{self._place(moment)}' has no part with digest {digest}")

    def _write(self, moment: Moment, number: int, contents: dict[int, bytes]) -> None:
        try:
            self._place(moment).mkdir(parents=True, exist_ok=True)
            for part, content in contents.items():
                self._put(self._place(moment) / f"{number}.{part}.{digest_of(content)}", content)
            self._drop_old()
        except OSError as error:
            print(f"trigram: the checkpoint after {moment.steps} steps is not written: {error}", file=sys.stderr, flush=True)

    @staticmethod
    def _put(path: pathlib.Path, content: bytes) -> None:
        """Whole and on the disk, or not at all."""
        descriptor, draft = tempfile.mkstemp(prefix=".", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        except OSError:
            os.unlink(draft)
            raise

    def _drop_old(self) -> None:
        whole = [moment for moment in sorted(self._moments()) if self._is_whole(moment)]
        for moment in self._moments():
            if len(whole) >= KEPT and moment < whole[-KEPT]:
                shutil.rmtree(self._place(moment), ignore_errors=True)  # another member may be at it too

    def _is_whole(self, moment: Moment) -> bool:
        """By the names of its parts."""
        members = self._folder.epoch(moment.epoch)["members"]
        return all(self._parts(moment, one["number"]) for one in members)

    def _told(self, moment: Moment, member: Told) -> Optional[Told]:
        """None where a part is not there, or is not what was written."""
        parts = self._parts(moment, member["number"])
        if not parts:
            return None
        for path in parts.values():
            if digest_of(path.read_bytes()) != path.suffix[1:]:
                print(f"trigram: '{path}' is not what was written there; an older checkpoint is looked for", file=sys.stderr, flush=True)
                return None
        digests = [parts[part].suffix[1:] for part in (STATE, SCRIPT)]
        return {"name": member["name"], "address": None, "leaving": True, "settled": list(moment),
                "moments": [{"moment": list(moment), "digests": digests}]}

    def _parts(self, moment: Moment, number: int) -> dict[int, pathlib.Path]:
        """Both of a member, or none."""
        found = {int(path.name.split(".")[1]): path for path in self._place(moment).glob(f"{number}.*")}
        return found if found.keys() == {STATE, SCRIPT} else {}

    def _place(self, moment: Moment) -> pathlib.Path:
        return self._path / f"{moment.epoch}-{moment.steps}"

    def _moments(self) -> list[Moment]:
        return [Moment(*map(int, path.name.split("-"))) for path in self._path.glob("*-*")]

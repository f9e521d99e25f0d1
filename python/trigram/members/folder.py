"""The folder in which members meet, on a disk that all of them see. Who the members of an epoch are is decided once, by the file that
is there first, so that two parts of a job never both go on; and it survives the loss of any member."""

import errno
import json
import os
import pathlib
import secrets
import shutil
import tempfile
import time
from typing import Any, Optional

from .waiting import Waiting

SECRET_BYTES = 32
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class Folder:
    """Files of one job. All but decisions belong to one member each."""

    def __init__(self, place: str) -> None:
        """`place`: "file:/shared/job", or the path alone. Raises ValueError where no folder can be there."""
        self.path = pathlib.Path(place.removeprefix("file:")).absolute()
        try:
            for folder in (self.path, self.path / "waiting"):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"members cannot meet in '{self.path}': {error.strerror}; name a folder that all of them see and may write, as "
                             "TRIGRAM_RENDEZVOUS=file:/shared/job") from error
        if self.put_once("secret", secrets.token_hex(SECRET_BYTES)):
            (self.path / "secret").chmod(0o600)
        self.secret = (self.path / "secret").read_bytes()

    def wait_here(self, own: dict[str, Any]) -> None:
        """Somebody asks to become a member."""
        self._put(f"waiting/{own['name']}", own | {"since": time.time()})

    def waiting(self) -> list[dict[str, Any]]:
        """Those who ask, in the order of the numbers that they were started with, then of their coming."""
        told = [self._get(f"waiting/{path.name}") for path in (self.path / "waiting").iterdir() if not path.name.startswith(".")]
        return sorted((one for one in told if one), key=lambda one: (one["wish"], one["since"], one["name"]))

    def anybody_waits(self) -> bool:
        """At the cost of a look at the folder."""
        with os.scandir(self.path / "waiting") as found:
            return any(not one.name.startswith(".") for one in found)

    def waits(self, name: str) -> bool:
        return (self.path / "waiting" / name).exists()

    def wait_no_more(self, name: str) -> None:
        (self.path / "waiting" / name).unlink(missing_ok=True)

    def come(self, epoch: int, own: dict[str, Any]) -> None:
        """A member of the epoch before says what it holds."""
        (self.path / f"come-{epoch}").mkdir(exist_ok=True)
        self._put(f"come-{epoch}/{own['name']}", own)

    def those_who_came(self, epoch: int) -> dict[str, dict[str, Any]]:
        """By name."""
        place = self.path / f"come-{epoch}"
        names = [path.name for path in place.iterdir() if not path.name.startswith(".")] if place.is_dir() else []
        return {name: told for name in names if (told := self._get(f"come-{epoch}/{name}"))}

    def decide(self, epoch: int, decision: dict[str, Any]) -> None:
        """Unless somebody has decided before."""
        self.put_once(f"epoch-{epoch}", json.dumps(decision))

    def decided(self, epoch: int) -> Optional[dict[str, Any]]:
        """None: nobody has yet."""
        return self._get(f"epoch-{epoch}")

    def epoch(self, number: int) -> dict[str, Any]:
        """One that was decided. Raises LookupError for one that was not."""
        told = self.decided(number)
        if told is None:
            raise LookupError(f"epoch {number} of '{self.path}' has not been decided")
        return told

    def those_before(self, epoch: int) -> list[dict[str, Any]]:
        """Members of the epoch before, who may come for this one."""
        members: list[dict[str, Any]] = self.epoch(epoch - 1)["members"]
        return members

    def is_decided(self, epoch: int) -> bool:
        """At the cost of a look at the folder."""
        return (self.path / f"epoch-{epoch}").exists()

    def is_over(self, epoch: int) -> bool:
        """Somebody has come for the next one. At the cost of a look at the folder."""
        return (self.path / f"come-{epoch + 1}").exists() or self.is_decided(epoch + 1)

    def be_there(self, epoch: int, name: str) -> None:
        """A member of that epoch has what it goes on from."""
        (self.path / f"there-{epoch}").mkdir(exist_ok=True)
        self._put(f"there-{epoch}/{name}", {})

    def is_there(self, epoch: int, name: str) -> bool:
        return (self.path / f"there-{epoch}" / name).exists()

    def last(self) -> int:
        """The number of the epoch that was decided last; -1: none."""
        return max((int(path.name.removeprefix("epoch-")) for path in self.path.glob("epoch-*")), default=-1)

    def open(self, epoch: int) -> None:
        """All its members train, with all that those before have left them."""
        self.put_once(f"open-{epoch}", json.dumps({"at": time.time()}))

    def begun_at(self) -> Optional[float]:
        """When the first epoch was opened; None: not yet."""
        told = self._get("open-0")
        return None if told is None else float(told["at"])

    def is_open(self, epoch: int) -> bool:
        return (self.path / f"open-{epoch}").exists()

    def records(self, epoch: int) -> "Records":
        """By which processes of an epoch connect."""
        return Records(self, f"store-{epoch}")

    def forget_records(self, before: int) -> None:
        """Of epochs that are over."""
        for place in self.path.glob("store-*"):
            if int(place.name.removeprefix("store-")) < before:
                shutil.rmtree(place, ignore_errors=True)  # somebody who is late may be at it

    def finish(self, steps: int) -> None:
        """All steps are done, and nobody is needed any more."""
        self.put_once("finished", json.dumps({"steps": steps}))

    def finished(self) -> bool:
        return (self.path / "finished").exists()

    def _get(self, name: str) -> Optional[dict[str, Any]]:
        text = self.text(name)
        return None if text is None else dict(json.loads(text))

    def _put(self, name: str, told: dict[str, Any]) -> None:
        self.put(name, json.dumps(told))

    def text(self, name: str) -> Optional[str]:
        """Of a file; None: it is not there."""
        try:
            return (self.path / name).read_text("utf-8")
        except FileNotFoundError:
            return None

    def put(self, name: str, text: str) -> None:
        """Whole, or not yet."""
        os.replace(self._draft(name, text), self.path / name)

    def put_once(self, name: str, text: str) -> bool:
        """Whether it was the first: a link is made whole, on disks of other machines too, or not at all."""
        draft = self._draft(name, text)
        try:
            os.link(draft, self.path / name)
            return True
        except FileExistsError:
            return False
        finally:
            os.unlink(draft)

    def _draft(self, name: str, text: str) -> str:
        """Waits where the disk is full."""
        waiting = Waiting("a member")
        while True:
            try:
                return written((self.path / name).parent, text)
            except OSError as error:
                if error.errno not in NO_ROOM:
                    raise
            waiting.tell(f"room on the disk of '{self.path}'")
            waiting.pause()


class Records:
    """Texts by name, in a folder of their own within that of the job."""

    def __init__(self, folder: Folder, place: str) -> None:
        self._folder, self._place = folder, place
        (folder.path / place).mkdir(exist_ok=True)

    def put(self, name: str, text: str) -> None:
        self._folder.put(f"{self._place}/{name}", text)

    def put_once(self, name: str, text: str) -> bool:
        """As Folder.put_once."""
        return self._folder.put_once(f"{self._place}/{name}", text)

    def get(self, name: str) -> Optional[str]:
        """None: nobody has put it there."""
        return self._folder.text(f"{self._place}/{name}")

    def has(self, name: str) -> bool:
        """At the cost of a look at the folder."""
        return (self._folder.path / self._place / name).exists()


def written(folder: pathlib.Path, text: str) -> str:
    """A new file with that text, or none."""
    descriptor, draft = tempfile.mkstemp(prefix=".", dir=folder)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        return draft
    except OSError:
        os.unlink(draft)
        raise

"""Where one member meets others: in the folder of the job, or of a part of it that is cut off and trains by itself."""

from typing import Optional

from .checkpoints import Checkpoints
from .folder import Folder
from .meeting import Meeting, Rules
from .part import Part
from .reach import Reach


class Place:
    """Of one process."""

    def __init__(self, home: Folder, name: str, rules: Rules, checkpoints: Checkpoints) -> None:
        """`home`: that of the job."""
        self.home, self._name, self._rules, self._checkpoints = home, name, rules, checkpoints
        self._reach = Reach(home, rules.silence)
        self._left: Optional[tuple[Folder, int]] = None
        self._enter(home)

    def _enter(self, folder: Folder) -> None:
        self.folder, self.meeting = folder, Meeting(folder, self._name, self._rules, self._checkpoints)

    @property
    def is_apart(self) -> bool:
        """In a part, while the others go on too."""
        return isinstance(self.folder, Part)

    def go_apart(self, epoch: int) -> int:
        """To where those meet who were left out of that epoch. The number of the one before, which was all of theirs."""
        self._enter(Part(self.folder, epoch))
        self._reach.wait(self._rules.heartbeat)
        return epoch - 1

    def go_home(self, epoch: int) -> None:
        """From a part, of which that was the last epoch."""
        self._left = self.folder, epoch
        self._enter(self.home)

    def go_back_apart(self) -> int:
        """Where the job does not take who has gone home. The last epoch there."""
        assert self._left is not None
        self.home.wait_no_more(self._name)
        folder, epoch = self._left
        self._enter(folder)
        return epoch

    def settle(self) -> None:
        """An epoch has begun here. Who is at home looks for nobody any more."""
        if not self.is_apart:
            self._reach.stop()

    @property
    def is_called_home(self) -> bool:
        """In a part, and all others of the job are reached."""
        return self.is_apart and self._reach.is_whole()

    def is_cut_off(self) -> bool:
        """Of one that has gone home: for so long that the others would have gone on without it."""
        return self._reach.is_broken()

    @property
    def needs_nobody(self) -> bool:
        """The job has finished, and those who are here are too few to train."""
        return self.home.finished() and (not self.is_apart or self.meeting.is_short)

"""Whom of a job's members one reaches that trains in a part of it."""

import time
from typing import Any

from .folder import Folder
from .lines import Address, Sign
from .waiting import LOOK


class Reach:
    """Of one process: signs of life of all who are members in a folder's last epoch, asked for from the first look on."""

    def __init__(self, folder: Folder, silence: float) -> None:
        """`silence`: seconds after which who says nothing is not reached."""
        self._folder, self._silence = folder, silence
        self._signs: dict[str, Sign] = {}
        self._whole_at = 0.0

    def is_whole(self) -> bool:
        """Each of them has answered, and there is somebody to go back to. At the cost of a look at the folder."""
        if self._folder.finished():
            return False
        members = self._folder.epoch(self._folder.last())["members"]
        self._ask(members)
        signs = [self._signs[one["name"]] for one in members]
        if not signs or any(not sign.has_answered or sign.trouble(self._silence) for sign in signs):
            return False
        self._whole_at = time.monotonic()
        return True

    def is_broken(self) -> bool:
        """It was whole, and has not been for so long that others would have gone on without whoever is missing."""
        return not self.is_whole() and time.monotonic() - self._whole_at > 2 * self._silence

    def wait(self, seconds: float) -> None:
        """Until it is whole, so long at most."""
        until = time.monotonic() + seconds
        while not self.is_whole() and time.monotonic() < until:
            time.sleep(LOOK)

    def stop(self) -> None:
        self._ask([])

    def _ask(self, members: list[dict[str, Any]]) -> None:
        """Who seemed to be gone is asked anew, since a network that broke may have said so."""
        names = {one["name"] for one in members}
        for name in [name for name, sign in self._signs.items() if name not in names or sign.gone]:
            self._signs.pop(name).stop()
        for one in members:
            if one["name"] not in self._signs:
                self._signs[one["name"]] = Sign(one["name"], Address(*one["address"]), self._folder.secret)

"""The folder in a job's folder in which those meet who were left out of an epoch and do not reach the others: a part of the job that trains by itself."""

import os
from typing import Any, Optional

from .folder import Folder


class Part(Folder):
    """Of those who were left out of one epoch of `whole`, the job or a part of it. Who the members of epochs before were was decided for all of them."""

    def __init__(self, whole: Folder, epoch: int) -> None:
        self.path, self.secret = whole.path / f"part-{epoch}", whole.secret
        os.makedirs(self.path / "waiting", mode=0o700, exist_ok=True)
        self._whole, self._since = whole, epoch
        self.job: Folder = whole.job if isinstance(whole, Part) else whole

    def decided(self, epoch: int) -> Optional[dict[str, Any]]:
        return super().decided(epoch) if epoch >= self._since else self._whole.decided(epoch)

    def those_before(self, epoch: int) -> list[dict[str, Any]]:
        """But for those who are with the others."""
        elsewhere = {one["name"] for others in (self._whole.epoch(self._since), self.job.epoch(self.job.last())) for one in others["members"]}
        return [one for one in super().those_before(epoch) if one["name"] not in elsewhere]

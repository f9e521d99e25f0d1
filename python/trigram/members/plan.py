"""Members that come and go at given steps, as `trigram run --membership FILE` has them."""

import json
import pathlib
from typing import Any, Optional

from .. import library


class Plan:
    """Of one training. Members' numbers are those that `decision` gives."""

    def __init__(self, path: Optional[str], ranks: int, steps: int, border_every: int) -> None:
        """Raises ValueError for what is no such file, naming the line, and for a step that is no border."""
        self._epochs: dict[int, dict[str, Any]] = {}
        self.is_there = path is not None
        if path is not None:
            text = pathlib.Path(path).read_text("utf-8")
            library.check(library.library().trigram_member_epochs(text.encode(), ranks, steps))
            self._epochs = {one["begin"]: one for one in json.loads(library.reply()) if one["begin"] > 0}
        for step in self._epochs:
            if step % border_every:
                raise ValueError(f"{path}: members change at step {step}, and only at borders, which are {border_every} steps apart (border_every)")

    def leaves(self, step: int, number: int) -> bool:
        return number in self._epochs.get(step, {}).get("left", ())

    def is_lost(self, step: int, number: int) -> bool:
        return number in self._epochs.get(step, {}).get("lost", ())

    def joins(self, step: int, next_number: int) -> int:
        """How many join there, that have not yet."""
        return sum(1 for number in self._epochs.get(step, {}).get("joined", ()) if number >= next_number)

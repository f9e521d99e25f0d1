"""Ranks whose batches have run out: they take part in the steps of the others, with gradients of 0."""

import contextlib
import ctypes
import io
from collections.abc import Iterator, Sequence

import torch

from .bucket_memory import BucketMemory
from .device import Place
from .job_steps import JobSteps
from .library import Session


class Join:
    """Of one loop, in which each rank has batches of its own number."""

    def __init__(self, session: Session, place: Place, memory: BucketMemory, steps: JobSteps,
                 optimizers: Sequence[torch.optim.Optimizer]) -> None:
        self._session, self._place, self._memory, self._steps, self._optimizers = session, place, memory, steps, optimizers
        self._trains = [1.0] * session.ranks
        """By rank, whether it had a batch in the last step."""

    @contextlib.contextmanager
    def lasting(self) -> Iterator[None]:
        """Ends on all ranks after the last step of any."""
        self._steps.begins = lambda: self._agree(True)
        try:
            yield
            self._steps.come_between("the end of job.join()")
            while self._others_train():
                self._steps.end_backward()
                self._steps.end_step()
            self._catch_up()
        finally:
            self._steps.begins = lambda: 0

    def _others_train(self) -> bool:
        """Whether a step begins, in which this rank has nothing to add."""
        before = self._trains
        root = self._agree(False)
        if not any(self._trains):
            self._trains = before
            return False
        self._steps.begins = lambda: root
        self._steps.begin()
        return True

    def _agree(self, trains: bool) -> int:
        """The first rank that has a batch, by what all say. Collective, between two steps."""
        own = [0.0] * self._session.ranks
        own[self._session.rank] = float(trains)
        said = self._place.numbers(own)
        self._session.sum(said.data_ptr(), len(own))
        self._trains = said.tolist()
        return self._first()

    def _first(self) -> int:
        return next((rank for rank, trains in enumerate(self._trains) if trains), 0)

    def _catch_up(self) -> None:
        """Optimizers of ranks without a batch have not stepped: where replicas are equal, they take over weights, buffers and what
        optimizers keep."""
        if all(self._trains) or not self._steps.gradients_alone:
            return
        root = self._first()
        self._steps.share([*self._memory.tensors(), *self._steps.buffers()], root)
        for optimizer in self._optimizers:
            self._take_over(optimizer, root)

    def _take_over(self, optimizer: torch.optim.Optimizer, root: int) -> None:
        stream = io.BytesIO()
        torch.save(optimizer.state_dict(), stream)
        own = bytearray(stream.getvalue())
        size = torch.tensor([len(own)], dtype=torch.int64, device=self._place.device)
        self._steps.share([size], root)
        state = torch.zeros(int(size), dtype=torch.uint8, device=self._place.device)
        if self._session.rank == root:
            state.copy_(torch.frombuffer(own, dtype=torch.uint8))
        self._steps.share([state], root)
        if self._session.rank != root:
            optimizer.load_state_dict(torch.load(io.BytesIO(ctypes.string_at(state.cpu().data_ptr(), len(state))), map_location=self._place.device))

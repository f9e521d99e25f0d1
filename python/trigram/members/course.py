"""The course of one member: epoch by epoch, each of which goes on from the one before, with steps that are done by all or by none."""

import os
import platform
import secrets
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, NoReturn, Optional

import torch

from ..job import Job
from .borders import Moment, ScriptState, Stateful
from .checkpoints import Checkpoints
from .connection import Connection
from .decision import Told, rank_of
from .folder import Folder
from .holdings import Holdings
from .lines import Answers, own_host
from .meeting import NO_WISH, Admits, Rules
from .overseer import Overseer
from .place import Place
from .plan import Plan, PlanByClock, plan_of
from .sharing import batch_of, share_of
from .spacing import Spacing
from .store import EpochStore
from .tries import Tries
from .waiting import LOOK

FAREWELL = 30.0
"""Seconds in which those who stay fetch what one who leaves has."""
SAME_AGAIN = 3
"""Cuts of one step without anybody lost, after which its error is the script's."""
MakeJob = Callable[..., Job]


def needed_no_more() -> NoReturn:
    """What becomes of a newcomer where the job has finished."""
    print("trigram: the job has finished, and needs nobody any more", file=sys.stderr, flush=True)
    sys.exit(0)


class Step:
    """One step of all members, as a context: where it is cut off, as by the loss of a member, what was done within it leaves no trace, and
    the loop comes to it again."""

    def __init__(self, members: "Members", number: int) -> None:
        self._members, self.number = members, number
        self.rank, self.ranks = members.rank, members.ranks
        self.scale = 1.0
        """What to multiply the mean loss over `share` by, so that the mean over members is that over the batch: 1 where shares are equal."""

    def share(self, samples: int, batch: int, seed: int = 0) -> torch.Tensor:
        """Which of so many samples are this member's in this step. `batch` is that of all members together, which it stays when they change;
        each sample comes once an epoch of the data, in an order that the seed, the step and nothing else decides."""
        own = share_of(batch_of(self.number, samples, batch, seed), self.rank, self.ranks)
        self.scale = len(own) * self.ranks / batch
        return own

    def __enter__(self) -> "Step":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException], _: Optional[TracebackType]) -> bool:
        return self._members.end_step(error)


class Members:
    """This process as a member of a job, as `trigram.with_members` makes it."""

    job: Job
    """Of the present epoch."""
    rank: int
    """Of this member, at present."""
    ranks: int
    """How many members there are at present."""
    epoch: int
    """How often members have changed."""
    number: int
    """Of this member, which stays while it trains, and nobody gets again."""

    def __init__(self, model: torch.nn.Module, optimizers: Sequence[torch.optim.Optimizer], also: Sequence[Stateful], make_job: MakeJob,
                 connection: Connection, place: str, rules: Rules, plan: Optional[str]) -> None:
        self._model, self._make_job, self._connection, self._rules, self._plan_path = model, make_job, connection, rules, plan
        folder = Folder(place)
        host = own_host(os.environ.get("TRIGRAM_HOST", ""))
        self._name = f"{platform.node()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._checkpoints = Checkpoints(folder)
        self._holdings = Holdings(ScriptState(model, optimizers, also), folder.secret, rules.silence, self._checkpoints.part)
        self._answers = Answers(host, folder.secret, self._answer)
        self._place = Place(folder, self._name, rules, self._checkpoints)
        self._overseer = Overseer(lambda: connection.give_up(self.job))
        self._plan: Plan = plan_of(plan, rules.begin_with, 0)
        self._spacing = Spacing(rules, lambda step: self._plan.border_behind(step))
        self._leaving = self._in_training = False
        self._cuts, self._tries = 0, Tries()
        self._told: Told = {}
        self._last: Optional[int] = None
        self.done = 0
        """Steps that are."""
        signal.signal(signal.SIGTERM, self._asked_to_end)
        self._join()

    def steps(self, count: int) -> Iterator[Step]:
        """Those that are left of so many. One that was cut off comes again; who joins begins where the others are. Each is a context.

            for step in members.steps(1000):
                with step: …
        """
        if not isinstance(self._plan, PlanByClock):
            self._plan = plan_of(self._plan_path, self._rules.begin_with, count)
            self._spacing.look_ahead(self.done)
        self._last = count
        while self.done < count:
            yield Step(self, self.done)

    def end_step(self, error: Optional[BaseException]) -> bool:
        """Whether the loop goes on in spite of the error."""
        try:
            if error is not None:
                return self._go_on_after(error)
            self.done += 1
            if self._spacing.is_border(self.done) or self.done == self._last:
                self._reach_border()
            return True
        except RuntimeError as cut:
            if not self._go_on_after(cut):
                raise
            return True

    @property
    def border(self) -> int:
        """The steps that are done for good: nobody goes back behind them."""
        return 0 if self._holdings.settled is None else self._holdings.settled.steps

    @property
    def apart(self) -> bool:
        """Whether this member trains in a part of the job that is cut off from the others, who go on too."""
        return self._place.is_apart

    def finish(self) -> None:
        """After the last step: weights are final, as Job.finish has it."""
        try:
            self.job.finish()
        except RuntimeError:
            self.job.abandon("the other members have ended")
        self._connection.disconnect()

    def _reach_border(self) -> None:
        seconds, plan = self._spacing.border_begins(self.done), self._plan
        self._keep()
        leaves = self._leaving or plan.leaves(self.done, self.number)
        joins = plan.joins(self.done, self._told["next"]) > 0 if plan.is_by_steps else self.rank == 0 and self._place.meeting.somebody_comes()
        without_us = self.rank == 0 and self._place.folder.is_decided(self._told["epoch"] + 1)
        told = self._vote([float(leaves), float(joins), float(without_us), float(self._place.is_called_home), *seconds])
        self._spacing.border_ends(self.done, [one[4:] for one in told])
        votes = [one[:3] for one in told]
        self._settle()
        if self._rules.checkpoint_every and self.done % self._rules.checkpoint_every == 0 and not self.apart:
            self._write_checkpoint(Moment(self._told["epoch"], self.done))
        if plan.is_lost(self.done, self.number):
            os.kill(os.getpid(), signal.SIGKILL)
        if all(one[3] for one in told):
            self._change(lambda: self.job.finish(), goes_home=True)
        elif self.done == self._last and not any(vote[2] for vote in votes):
            self._place.folder.finish(self.done)
        elif any(one for vote in votes for one in vote):
            self._leaving = leaves
            self._change(lambda: self.job.finish())

    def _keep(self) -> None:
        border = self._holdings.begin()
        self.job.keep_border(border.state)
        border.own = self._holdings.script.keep(border.own)
        self._holdings.keep(Moment(self._told["epoch"], self.done), border)

    def _write_checkpoint(self, moment: Moment) -> None:
        self._checkpoints.write(moment, self.number, self._holdings.at(moment))

    def _vote(self, own: list[float]) -> list[list[float]]:
        """Of all members. Who has it knows that all have come here: nobody goes back behind it."""
        count = len(own)
        said = torch.zeros(self.ranks, count)
        said[self.rank] = torch.tensor(own)
        votes: list[list[float]] = self.job.add_up(said).tolist()
        return votes

    def _settle(self) -> None:
        self._holdings.settle(Moment(self._told["epoch"], self.done))
        self._cuts = 0

    def _go_on_after(self, error: BaseException) -> bool:
        """False for an error of the script's own."""
        of_a_message = isinstance(error, RuntimeError) and self.job.finished
        if not (of_a_message or isinstance(error, Exception) and self.job.is_cut_off):
            return False
        self._cuts += 1
        if self._cuts > SAME_AGAIN:
            return False
        self._change(lambda: self.job.abandon(str(error)))
        return True

    def _change(self, end_job: Callable[[], None], goes_home: bool = False) -> None:
        """This epoch ends, and the next one begins."""
        self._in_training = False
        self._overseer.rest()
        try:
            end_job()
        except RuntimeError:
            self.job.abandon("members change")
        self._connection.disconnect()
        if not (goes_home and self._gone_home()):
            self._meet()

    def _meet(self) -> None:
        """Until an epoch begins."""
        while True:
            told = self._place.meeting.next(self._told["epoch"] + 1, self._own(), self._admits(), self._is_elsewhere)
            if told is None:
                if self._has_finished():
                    return
                if self._holdings.brings:
                    self._go_back_apart()
                elif self._gone_home():
                    return
                continue
            self._told |= {"epoch": told["epoch"]}
            if rank_of(told, self._name) is not None:
                if self._opened(told):
                    return
            elif self._leaving:
                self._leave(told)
            elif not self._goes_on_apart():
                return self._join()

    def _is_elsewhere(self) -> bool:
        """Whether this member is to go on in another folder than where it meets others."""
        if self._holdings.brings:
            return self._place.is_cut_off()
        return self.apart and (self._place.is_called_home or self._place.needs_nobody)

    def _has_finished(self) -> bool:
        """The others have, so that this member is where they are, or is needed no more; False where it can go on elsewhere."""
        if self._place.folder.finished() and self._holdings.settled is not None:
            self.done = self._last or 0
            return True
        if self._place.needs_nobody and not self._holdings.brings:
            needed_no_more()
        return False

    def _goes_on_apart(self) -> bool:
        """After an epoch was decided without this member, with others who were left out of it, unless nothing is held."""
        if self._holdings.brings:
            self._go_back_apart()
        elif self._rules.bears_absence and self._holdings.settled is not None:
            self._told |= {"epoch": self._place.go_apart(self._told["epoch"])}
        else:
            return False
        return True

    def _gone_home(self) -> bool:
        """From a part to the job, with what was trained there, or on in the part where the job does not take it. Whether an epoch has begun."""
        self._place.go_home(self._told["epoch"])
        self._holdings.set_aside()
        told = self._place.meeting.admission(self._asks(), self._place.is_cut_off)
        if told is None:
            self._go_back_apart()
            return False
        self._told = {"epoch": told["epoch"]}
        return self._opened(told)

    def _go_back_apart(self) -> None:
        self._told |= {"epoch": self._place.go_back_apart()}
        self._holdings.take_back()

    def _own(self) -> Told:
        told: Told = {"name": self._name, "number": self.number, "address": list(self._answers.address), "leaving": self._leaving,
                      "moments": self._holdings.told(), "settled": self._holdings.settled}
        if not told["moments"]:  # of an epoch that never began
            self._place.folder.wait_here(told | self._asks())
        return told

    def _asks(self) -> Told:
        """To become a member."""
        own: Told = {"name": self._name, "address": list(self._answers.address), "wish": self._wish()}
        brought = self._holdings.brought()
        return own if brought is None else own | {"number": self.number, "brings": brought}

    def _admits(self) -> Optional[Admits]:
        """After the steps to which all go back, which may be fewer than a member has ordered from its device."""
        return (lambda steps: self._plan.joins(steps, self._told["next"])) if self._plan.is_by_steps else None

    def _join(self) -> None:
        """As a newcomer, whatever it was before."""
        self._holdings.forget()
        self._plan.wait_to_come(self._wish(), self._place.folder.begun_at)
        while True:
            told = self._place.meeting.admission(self._asks())
            if told is None:
                needed_no_more()
            self._told = {"epoch": told["epoch"]}
            if self._opened(told):
                return
            if not self._rules.planned:
                return self._meet()  # as a member of an epoch that never began

    def _wish(self) -> int:
        """The number that this process was started with, by which first members are ordered."""
        return int(os.environ.get("TRIGRAM_MEMBER", NO_WISH))

    def _opened(self, told: Told) -> bool:
        """Whether all members of that epoch were there. Raises ConnectionError where they are, again and again, and cannot connect."""
        rank = rank_of(told, self._name)
        assert rank is not None
        ranks = len(told["members"])
        self.number = told["members"][rank]["number"]
        try:
            handed = self._holdings.take_over(told, rank)
            self._place.meeting.gather(told)
            seconds = self._tries.another(told, self._rules.patience)
            self._connection.connect(self._store(told), rank, ranks, self._answers.address.host, seconds)
            self.job = self._make_job(handed)
            self._tries.succeeded()
        except (RuntimeError, OSError, EOFError) as error:
            self._connection.disconnect()
            self._tries.failed(told["epoch"], error)
            return False
        finally:
            self._place.meeting.forget_signs()
        self.rank, self.ranks, self.epoch, self._told = rank, ranks, told["epoch"], told
        return self._began()

    def _store(self, told: Told) -> EpochStore:
        others = [one for one in told["members"] if one["name"] != self._name]
        return EpochStore(self._place.folder.records(told["epoch"]), lambda: self._place.meeting.why_over(told["epoch"], others))

    def _began(self) -> bool:
        """All members have what they go on from, and a border of their own; where replicas are to be equal, they are."""
        self.done = self._told["begin"][1] if self._told["begin"] else 0
        try:
            self._keep()
            votes = self._vote(self.job.weights_in_short())
        except RuntimeError as error:
            self.job.abandon(str(error))
            self._connection.disconnect()
            return False
        if self.job.replicas_are_equal and any(vote != votes[0] for vote in votes):
            raise RuntimeError(f"members of epoch {self._told['epoch']} begin with other weights than each other")
        self._settle()
        self._place.settle()
        self._spacing.epoch_begins(self.done)
        if self.rank == 0:
            self._place.folder.open(self._told["epoch"])
            self._place.folder.forget_records(self._told["epoch"])
        if self.done == self._last:
            self._place.folder.finish(self.done)
        self._plan.begin(self.number, self._place.folder.begun_at() or time.time())
        self._in_training = True
        self._overseer.oversee(self._place.folder, self._told["epoch"])
        return True

    def _leave(self, told: Told) -> NoReturn:
        """Once those who stay have all that this one has; where nobody stays, those who come later read it."""
        if not told["members"] and not self.apart:
            self._write_checkpoint(Moment(*told["begin"]))
            self._checkpoints.wait()
        deadline = time.monotonic() + FAREWELL
        while told["members"] and not self._place.folder.is_open(told["epoch"]) and time.monotonic() < deadline:
            time.sleep(LOOK)
        print(f"trigram: member {self.number} leaves after {self.done} steps", file=sys.stderr, flush=True)
        sys.exit(0)

    def _asked_to_end(self, *_: Any) -> None:
        """At the next border of steps; at once where this process trains nothing yet."""
        if not self._in_training and not self._told:
            sys.exit(0)
        self._leaving = True

    def _answer(self, word: str, *details: Any) -> Any:
        """To others, on threads of their own."""
        return self._name if word == "name" else self._holdings.part(Moment(*details[0]), details[1])

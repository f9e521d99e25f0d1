"""What a script names, as the rules of a job and the settings of its sessions."""

import os
import pathlib
from collections.abc import Sequence
from typing import Any, Optional

import torch

from .. import library
from ..algorithm import Make, made
from ..job import Job
from ..model import place_of_model
from .borders import Stateful
from .connection import CONNECTIONS
from .course import Members
from .kept import Kept
from .meeting import Rules
from .plan import is_by_steps

PLACE, COUNT = "TRIGRAM_RENDEZVOUS", "TRIGRAM_MEMBERS"


def begin(model: torch.nn.Module, optimizers: Sequence[torch.optim.Optimizer], algorithm: "str | Make", also: Sequence[Stateful],
          rendezvous: Optional[str], rules: dict[str, Any], membership: "str | pathlib.Path | None", learning_rate: Optional[float],
          broadcast_buffers: bool, flags: dict[str, Any]) -> Members:
    """`rules`: those of Rules, but for `begin_with`, which the environment may say."""
    place = rendezvous or os.environ.get(PLACE)
    if not place:
        raise ValueError(f"nobody has said where members meet; set {PLACE}=file:/shared/job, a folder on a disk that all of them see, or give "
                         "rendezvous=")
    trains = place_of_model(model)
    connected = CONNECTIONS[trains.kind]
    if flags.setdefault("backend", f"{connected.backend}:timeout={rules['patience']}s").split(":")[0] != connected.backend:
        raise ValueError(f"backend={flags['backend']} has members that stay, or a model elsewhere; members that come and go, with a model on {trains}, are "
                         f"connected by backend {connected.backend}: leave it out")
    count = counted(rules["begin_with"])
    planned = membership is not None and is_by_steps(str(membership), count)
    rules |= {"begin_with": count, "planned": planned,
              "bears_absence": not planned and connected.bears_absence and bears_absence(algorithm, flags)}
    if membership is not None and not planned:
        rules["border_every"] = rules["border_every"] or 1  # as in the simulator, whose members come and go by the clock after any step

    def make_job(handed: Optional[Kept]) -> Job:
        job = Job(model, optimizers, algorithm, broadcast_buffers, False, learning_rate, None, None, dict(flags), handed,
                  hands_over=True)
        setattr(model, "trigram", job)
        return job
    if membership is not None and rules["checkpoint_every"]:
        raise ValueError("membership= has a job whose members come and go by steps, from the first one on; leave checkpoint_every out")
    settled = checked(Rules(**rules))
    return Members(model, optimizers, also, make_job, connected(settled), place, settled, None if membership is None else str(membership))


def bears_absence(algorithm: "str | Make", flags: dict[str, Any]) -> bool:
    """Of the job. Within a host of a hierarchy all wait for all."""
    if flags.get("hierarchy", "none") != "none":
        return False
    return library.bears_absence(algorithm) if isinstance(algorithm, str) else made(algorithm).bears_absence


def counted(begin_with: Optional[int]) -> int:
    """With how many members a job begins."""
    text = os.environ.get(COUNT, "1") if begin_with is None else str(begin_with)
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"a job cannot begin with '{text}' members; give {COUNT} or begin_with a number from 1 on")
    return int(text)


def checked(rules: Rules) -> Rules:
    for name, least in (("at_least", 1), ("border_every", 0), ("heartbeat", 0.1), ("patience", 0.1)):
        if getattr(rules, name) < least:
            given = {"at_least": "min_members", "patience": "timeout"}.get(name, name)
            raise ValueError(f"{given}={getattr(rules, name)} is too little; give {least} or more")
    if rules.checkpoint_every < 0 or rules.checkpoint_every % max(1, rules.border_every):
        raise ValueError(f"checkpoint_every={rules.checkpoint_every} is no multiple of border_every={rules.border_every}: checkpoints are borders")
    return rules

"""Who the members of an epoch are, and from which border of steps they go on: what anybody concludes from those who came."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional

from .borders import Moment

Told = dict[str, Any]
"""What a member says of itself: its name, address, and, of one of the epoch before, whether it leaves, what moments it holds, each with
digests, and the last of which it knows that all hold it. Of one that has trained apart from the others and comes back: its number, and as `brings`
a moment with digests."""

NEWCOMER = -1
APART = -1
"""The epoch of the moments that such members bring: one that others never had."""


def border_of(came: Mapping[str, Told], bears_absence: bool) -> Optional[Moment]:
    """The newest of which somebody knows that all hold it: what was begun after it is undone. Where steps are done without those who are lost,
    also a newer one that all who came hold. None where nobody holds any."""
    known = {Moment(*told["settled"]) for told in came.values() if told.get("settled")}
    if bears_absence:
        held = [{Moment(*one["moment"]) for one in told["moments"]} for told in came.values() if told.get("moments")]
        known |= set.intersection(*held) if held else set()
    return max(known, default=None)


def source(told: Optional[Told], border: Moment) -> Optional[Told]:
    """Where others fetch what a member holds of that moment, of a checkpoint without an address; None where it is gone."""
    digests = next((one["digests"] for one in (told or {}).get("moments", []) if Moment(*one["moment"]) == border), None)
    return None if told is None or digests is None else {"address": told["address"], "digests": digests}


def those_who_reach_each_other(came: Mapping[str, Told], old: Sequence[Told]) -> dict[str, Told]:
    """Of those who came: whoever misses most of the others is left out until nobody misses anybody, of equals the last in the order of ranks."""
    names = [one["name"] for one in old if one["name"] in came]
    missing = {(one, other) for one in names for other in came[one].get("misses", ()) if other in names}
    while missing:
        worst = max(reversed(names), key=lambda name: len({one for pair in missing if name in pair for one in pair}))
        names.remove(worst)
        missing = {pair for pair in missing if worst not in pair}
    return {name: came[name] for name in names}


def decision(epoch: int, came: Mapping[str, Told], newcomers: Sequence[Told], decided: Callable[[int], Told], bears_absence: bool = False) -> Told:
    """Of those of the epoch before who came, and those who wait. Ranks keep their order, and newcomers come behind them. `bears_absence`: as of the
    Rules."""
    strangers = [one for one in newcomers if "brings" not in one]
    border = border_of(came, bears_absence)
    before = decided(border.epoch) if border else {"members": [], "next": 0}
    old: list[Told] = before["members"]
    sources = [source(came.get(one["name"]), border) if border else None for one in old]
    stay = [rank for rank, one in enumerate(old) if sources[rank] and not came[one["name"]]["leaving"]]
    last = decided(epoch - 1) if epoch > 0 else before
    numbers = range(last["next"], last["next"] + len(strangers))
    joined = [{"name": one["name"], "address": one["address"], "number": number} for one, number in zip(strangers, numbers)]
    told = {"epoch": epoch, "begin": list(border) if border else None, "members": [old[rank] for rank in stay] + joined,
            "were": stay + [NEWCOMER] * len(joined), "sources": sources, "next": numbers.stop,
            "left": [one["number"] for rank, one in enumerate(old) if sources[rank] and rank not in stay],
            "lost": [one["number"] for rank, one in enumerate(old) if not sources[rank]], "joined": [one["number"] for one in joined]}
    return with_those_back(told, [one for one in newcomers if "brings" in one])


def with_those_back(told: Told, back: Sequence[Told]) -> Told:
    """Those who have trained apart are counted behind the old ranks, as if they had been there. Where nobody else holds anything, all begin where the one
    is that has done most steps."""
    back = sorted(back, key=lambda one: -int(one["brings"]["moment"][1]))
    stay = [was for was in told["were"] if was != NEWCOMER]
    places = list(range(len(told["sources"]), len(told["sources"]) + len(back)))
    returned = [{"name": one["name"], "address": one["address"], "number": one["number"]} for one in back]
    begin = told["begin"] or (back[0]["brings"]["moment"] if back else None)
    return told | {"begin": begin, "members": told["members"][:len(stay)] + returned + told["members"][len(stay):],
                   "were": stay + places + told["were"][len(stay):],
                   "sources": told["sources"] + [{"address": one["address"]} | one["brings"] for one in back],
                   "apart": places if told["begin"] else places[1:], "back": [one["number"] for one in back]}


def resumption(epoch: int, checkpoint: Mapping[str, Told], newcomers: Sequence[Told], decided: Callable[[int], Told]) -> Told:
    """Of a job that has lost all its members: newcomers take the places of those who wrote the checkpoint, as far as they go; without one
    they begin anew."""
    told = decision(epoch, checkpoint, newcomers, decided)
    places = min(len(told["sources"]), len(newcomers))
    return told | {"were": [*range(places), *[NEWCOMER] * (len(newcomers) - places)]}


def rank_of(told: Told, name: str) -> Optional[int]:
    """Among the members of an epoch; None of somebody else."""
    return next((rank for rank, one in enumerate(told["members"]) if one["name"] == name), None)

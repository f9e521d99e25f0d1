"""What the folder of a job tells of it: which epochs followed each other, and what schedule of members that was."""

import pathlib

import torch

import trigram
from member import BUCKETS, STEPS
from member_script import data, loss, make
from trigram.members.decision import APART, NEWCOMER
from trigram.members.folder import Folder


def chain(meeting, last):
    """The decisions from which epoch `last` comes, in order: each begins at a border of the one before."""
    folder, links = Folder(str(meeting)), [last]
    while (begin := folder.epoch(links[0])["begin"]) and begin[0] != APART:
        links.insert(0, begin[0])
    return [folder.epoch(one) for one in links]


def borders(links):
    """Of each epoch its number, and with which step it begins and ends."""
    begins = [one["begin"][1] if one["begin"] else 0 for one in links]
    return [(one["epoch"], begin, end) for one, begin, end in zip(links, begins, [*begins[1:], STEPS])]


def was_resumed(link):
    """From a checkpoint, after all had gone."""
    return any(one is not None and one["address"] is None for one in link["sources"])


def schedule(links):
    """As a file of --membership has it, for members that are numbered in the order of their coming. None where an epoch has no step, or somebody has come
    back, which such a file cannot say."""
    if any(link["back"] for link in links) or any(begin == end for _, begin, end in borders(links)):
        return None
    numbers, lines = list(range(len(links[0]["members"]))), []
    coming = len(numbers)
    for link in links[1:]:
        step, were = link["begin"][1], link["were"]
        for rank, number in enumerate(numbers):
            if rank not in were:
                lines.append(f"at {step} {'leave' if link['sources'][rank] else 'lose'} {number}")
        joined = were.count(NEWCOMER)
        if joined:
            lines.append(f"at {step} join {joined}")
        numbers = [numbers[rank] for rank in were if rank != NEWCOMER] + list(range(coming, coming + joined))
        coming += joined
    return "\n".join(lines) + "\n"


def simulated(algorithm, links, folder):
    """The weights of the mean model, as the simulator makes them of the same schedule."""
    path = pathlib.Path(folder) / "members.txt"
    path.write_text(schedule(links))
    run = trigram.simulate(make, loss, data, algorithm=algorithm, ranks=len(links[0]["members"]), steps=STEPS, optimizer="momentum:momentum=0.9", lr=0.1,
                           bucket_size=BUCKETS, progress=False, cluster="two_by_four:nodes=8", **({"membership": path} if len(links) > 1 else {}))
    return [float(one) for part in run.model.parameters() for one in part.detach().reshape(-1)]


def mean(weights):
    """Of members, in the order of their ranks, as the simulator rounds it."""
    return (sum(torch.tensor(one, dtype=torch.float64) for one in weights) / len(weights)).float().tolist()

"""What a member of a disturbed job does."""

import hashlib
import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before anything loads numpy: a fork would lose its threads

import torch  # noqa: E402

import trigram  # noqa: E402
from member_script import BATCH, SAMPLES, data, loss, make  # noqa: E402
from trigram.optim import SGD  # noqa: E402

STEPS = 14
PACE = 0.02
"""Seconds that a step takes at least."""
BUCKETS = "256B"
HEARTBEAT = 1.0


def digest(model):
    whole = hashlib.blake2b(digest_size=8)
    for one in model.parameters():
        whole.update(one.detach().numpy().tobytes())
    return whole.hexdigest()


def part_of(members):
    """The path of its folder in that of the job; of who is not apart, an empty one."""
    place = members._place
    return place.folder.path.relative_to(place.home.path).as_posix().lstrip(".")


def train(algorithm, number, draw, meeting, host, say):
    """Says of each step who took which samples, with the digest of weights with which it began, and the last border that all are known to hold; and of
    the end the weights."""
    os.environ |= {"TRIGRAM_MEMBER": str(number), "TRIGRAM_HOST": host} | ({"GLOO_SOCKET_IFNAME": "eth0"} if host != "127.0.0.1" else {})
    sys.stdout.reconfigure(line_buffering=True)
    model = make()
    optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9)
    members = trigram.with_members(model, [optimizer], algorithm, rendezvous=f"file:{meeting}", begin_with=draw.begin_with, min_members=draw.least,
                                   border_every=draw.border_every, checkpoint_every=draw.checkpoint_every, heartbeat=HEARTBEAT, timeout=60, bucket_size=BUCKETS)
    for step in members.steps(STEPS):
        with step:
            say({"step": step.number, "part": part_of(members), "epoch": members.epoch, "number": members.number, "rank": step.rank, "ranks": step.ranks,
                 "samples": step.share(SAMPLES, BATCH).tolist(), "weights": digest(model), "border": members.border})
            time.sleep(PACE)
            optimizer.zero_grad()
            loss(model, data(step.rank, step.number)).backward()
            optimizer.step()
    told = {"part": part_of(members), "epoch": members.epoch, "number": members.number, "rank": members.rank, "equal": members.job.replicas_are_equal}
    members.finish()
    say({"end": told | {"weights": [float(one) for part in model.parameters() for one in part.detach().reshape(-1)]}})


def load():
    """All that members need, before they are forked."""
    import torch.distributed  # noqa: F401

    import trigram.members.begin
    import trigram.simulation  # noqa: F401
    from trigram import library
    torch.set_num_threads(1)
    library.library()

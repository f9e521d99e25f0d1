"""A member of a job whose model lies on a GPU. It is alone, since NCCL takes one rank of a job on a GPU, so that nobody joins it and nobody is lost;
but its communicator of NCCL is aborted and made anew. one_member.py FOLDER, an empty one; prints which cases held. Ends with 77 and why where
torch or a CUDA device is not there."""

import os
import signal
import subprocess
import sys
import time

import without_cuda

if why := without_cuda.reason():
    print(f"skipped: {why}")
    sys.exit(77)

import torch

import trigram

DEVICE = torch.device("cuda", 0)
STEPS, CUT_OFF, LEAVES = 12, 5, 7
LONGER_THAN_THE_WATCHDOG_LOOKS_AWAY = 0.5  # seconds


def made(dropout):
    """Model and optimizer."""
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(32, 256), torch.nn.Tanh(), torch.nn.Dropout(dropout), torch.nn.Linear(256, 16)).to(DEVICE)
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def take_step(model, optimizer, number):
    x = torch.randn(64, 32, generator=torch.Generator().manual_seed(number)).to(DEVICE)
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()


def plain(dropout):
    model, optimizer = made(dropout)
    for number in range(STEPS):
        take_step(model, optimizer, number)
    return [one.detach() for one in model.parameters()]


def member(folder, dropout, within):
    """The weights of one, who does that in each step, and its last epoch."""
    model, optimizer = made(dropout)
    members = trigram.with_members(model, [optimizer], rendezvous=f"file:{folder}", begin_with=1, border_every=1)
    for step in members.steps(STEPS):
        with step:
            within(members, step.number)
            take_step(model, optimizer, step.number)
    members.finish()
    return [one.detach() for one in model.parameters()], members.epoch


def cut_off_once(members, number):
    if (number, members.epoch) == (CUT_OFF, 0):
        members.job.give_up("this tries it")
        time.sleep(LONGER_THAN_THE_WATCHDOG_LOOKS_AWAY)


def leave_once(members, number):
    if (number, members.epoch) == (LEAVES, 0):
        os.kill(os.getpid(), signal.SIGTERM)


def same(these, those):
    assert all(map(torch.equal, these, those)), [float((a - b).abs().max()) for a, b in zip(these, those)]


def case_what_was_cut_off_is_done_again(folder):
    weights, epoch = member(folder, 0.5, cut_off_once)
    assert epoch == 1, epoch
    same(weights, plain(0.5))


def case_who_comes_later_goes_on(folder):
    """In a process of its own, from the checkpoint that one has left who was asked to."""
    ended = subprocess.run([sys.executable, "-B", __file__, folder, "leaves"], capture_output=True, text=True, timeout=100)
    assert ended.returncode == 0 and f"leaves after {LEAVES + 1} steps" in ended.stderr, ended
    begun = []
    weights, _ = member(folder, 0.0, lambda _, number: begun.append(number))
    assert begun == list(range(LEAVES + 1, STEPS)), begun
    same(weights, plain(0.0))


if __name__ == "__main__":
    place = sys.argv[1]
    if sys.argv[2:] == ["leaves"]:
        member(place, 0.0, leave_once)
    else:
        for name, case in [(key, one) for key, one in globals().items() if key.startswith("case_")]:
            case(os.path.join(place, name))
            print("held", name.removeprefix("case_"), flush=True)

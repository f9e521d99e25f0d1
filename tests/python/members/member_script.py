"""A member of the jobs of these tests: member_script.py ALGORITHM OUT [key=value …], ALGORITHM also one of own_algorithms. Says each step as "step NUMBER" once it is within it, and
leaves in OUT/NUMBER.pt its weights, and of each step that is done who it was of how many, and which samples it took."""

import os
import pathlib
import signal
import sys
import time

import torch

import trigram
from trigram.optim import SGD

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent))

import own_algorithms  # noqa: E402

SAMPLES, BATCH = 96, 24


def make():
    torch.manual_seed(5)
    return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))


def data(rank, step):
    """The same for the simulator, which knows no number of ranks."""
    generator = torch.Generator().manual_seed(1000 * rank + step)
    return torch.randn(4, 6, generator=generator), torch.randint(3, (4,), generator=generator)


def labelled(batch):
    """The same with labels that can be learned."""
    return batch[0], batch[0][:, :3].argmax(1)


def loss(model, batch):
    return torch.nn.functional.cross_entropy(model(batch[0].to(next(model.parameters()).dtype)).float(), batch[1])


def end_at(step, told):
    """What others have begun with this process has ended by then."""
    if step == int(told.get("dies_at", -1)):
        time.sleep(1)
        os.kill(os.getpid(), signal.SIGKILL)
    if step == int(told.get("freezes_at", -1)):
        time.sleep(1)
        os.kill(os.getpid(), signal.SIGSTOP)
    if step == int(told.get("stops_at", -1)):
        print(f"member {told['dies']} stands still", flush=True)
        time.sleep(3600)


def find_no_number(members, step, told):
    """Once: as a script that checks its loss, which came from a device when messages of its step had been given up."""
    if step == int(told.get("gives_up_at", -1)) and members.epoch == 0:
        members.job.give_up("this tries it")
        time.sleep(1)
        raise AssertionError("the loss is no number")


def main(algorithm, out, told):
    torch.set_num_threads(1)
    model = make().to(getattr(torch, told.get("type", "float32")))
    optimizer = (SGD if "type" not in told else torch.optim.SGD)(model.parameters(), lr=0.1, momentum=0.9)
    members = trigram.with_members(model, [optimizer], own_algorithms.ALL.get(algorithm, algorithm), membership=told.get("membership"), bucket_size="128B",
                                   min_members=int(told.get("min_members", 1)), border_every=int(told.get("border_every", 0)), checkpoint_every=int(told.get("checkpoint_every", 0)),
                                   heartbeat=float(told.get("heartbeat", 3)), timeout=float(told.get("timeout", 60)))
    taken = {}
    for step in members.steps(int(told.get("steps", 12))):
        with step:
            print(f"step {step.number} as {step.rank} of {step.ranks}", flush=True)
            if members.number == 1 and step.number == int(told.get("fails_at", -1)):
                raise ZeroDivisionError("of this script")
            if step.number == int(told.get("holds_at", -1)):
                signal.pause()
            if members.number == int(told.get("dies", -1)):
                end_at(step.number, told)
            find_no_number(members, step.number, told)
            time.sleep(float(told.get("step_s", 0)))
            optimizer.zero_grad()
            loss(model, (labelled if "teacher" in told else tuple)(data(step.rank, step.number))).backward()
            optimizer.step()
            taken[step.number] = {"epoch": members.epoch, "rank": step.rank, "ranks": step.ranks, "samples": step.share(SAMPLES, BATCH).tolist(), "border": members.border}
    equal = members.job.replicas_are_equal
    members.finish()
    weights = torch.cat([one.detach().reshape(-1) for one in model.parameters()])
    torch.save({"weights": weights, "taken": taken, "rank": members.rank, "replicas_are_equal": equal}, pathlib.Path(out) / f"{members.number}.pt")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], dict(word.split("=", 1) for word in sys.argv[3:]))

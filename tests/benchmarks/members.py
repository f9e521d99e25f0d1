"""What members that come and go cost: the time of a step beside that of a job whose ranks stay, with as many processes, and how long the others
take to their next step when one is killed, and when one joins. members.py [MEMBERS [PARAMETERS [BORDER_EVERY]]], on a quiet machine. BORDER_EVERY 0, the default, lets members choose."""

import contextlib
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve()
STEPS, WARM = 300, 50
MODEL = """
import os, sys, time, torch
torch.set_num_threads(1)
torch.manual_seed(0)
side = int(float(sys.argv[1]) ** 0.5)
model = torch.nn.Linear(side, side)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6, momentum=0.9)
x = torch.randn(16, side)
def once(model, optimizer):
    time.sleep(0.02)
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
"""
SCRIPT = MODEL + """
import trigram
def told():
    once(model, optimizer)
    print("step", time.time(), flush=True)
if sys.argv[2] == "stay":
    job = trigram.with_trigram(model, [optimizer], "all_reduce", backend="torch:timeout=60s").trigram
    for step in range(int(sys.argv[3])):
        told()
    job.finish()
else:
    members = trigram.with_members(model, [optimizer], "all_reduce", border_every=int(os.environ["BORDER_EVERY"]))
    for step in members.steps(int(sys.argv[3])):
        with step:
            print("of", step.ranks, time.time(), flush=True)
            told()
    members.finish()
"""


def start(kind, rank, members, parameters, folder, steps):
    variables = {"RANK": rank, "WORLD_SIZE": members, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": 29517, "TRIGRAM_MEMBERS": members,
                 "TRIGRAM_MEMBER": rank, "TRIGRAM_RENDEZVOUS": folder}
    said = open(pathlib.Path(folder) / f"{kind}-{rank}", "wb")
    return subprocess.Popen([sys.executable, "-B", "-c", SCRIPT, str(parameters), kind, str(steps)], stdout=said,
                            env=os.environ | {key: str(value) for key, value in variables.items()})


def lines(kind, rank, folder):
    return [line.split() for line in (pathlib.Path(folder) / f"{kind}-{rank}").read_text().splitlines()]


def step_seconds(kind, members, parameters):
    """The median, and the mean, in which borders are; of the first rank."""
    with tempfile.TemporaryDirectory() as folder:
        started = [start(kind, rank, members, parameters, folder, STEPS) for rank in range(members)]
        with ended_at_last(started):
            for one in started:
                one.wait()
        times = [float(words[1]) for words in lines(kind, 0, folder) if words[0] == "step"][WARM:]
        return statistics.median(later - before for before, later in zip(times, times[1:])), (times[-1] - times[0]) / (len(times) - 1)


def wait_for(folder, condition):
    while not condition(lines("change", 0, folder)):
        time.sleep(0.01)


@contextlib.contextmanager
def ended_at_last(started):
    """Whatever happens, none is left behind, which would train on and keep a pipe open that somebody reads."""
    try:
        yield
    finally:
        for one in started:
            one.kill()
            one.wait()


def change_seconds(members, parameters):
    """From a kill to the end of the others' next step, and of a join the longest step of a member."""
    with tempfile.TemporaryDirectory() as folder:
        started = [start("change", rank, members, parameters, folder, 100_000) for rank in range(members)]
        with ended_at_last(started):
            wait_for(folder, lambda said: len(said) > 40)
            started[-1].send_signal(signal.SIGKILL)
            killed = time.time()
            wait_for(folder, lambda said: any(words[:2] == ["of", str(members - 1)] for words in said[:-1]))
            started.append(start("change", members, members, parameters, folder, 100_000))
            wait_for(folder, lambda said: [words[1] for words in said if words[0] == "of"][-3:] == [str(members)] * 3 and
                     any(words[1] == str(members - 1) for words in said))
        said = lines("change", 0, folder)
    first = next(float(said[index + 1][1]) for index, words in enumerate(said) if words[:2] == ["of", str(members - 1)])
    ends = [float(words[1]) for words in said if words[0] == "step" and float(words[1]) > first]
    return first - killed, max(later - before for before, later in zip(ends, ends[1:]))


def told(seconds):
    return "{:.2f} ms (median), {:.2f} ms (mean)".format(*(1e3 * one for one in seconds))


def main():
    members, parameters, border_every = (int(float(word)) for word in (sys.argv[1:] + ["4", "1e5", "0"][len(sys.argv) - 1:]))
    os.environ["BORDER_EVERY"] = str(border_every)
    stay, change = step_seconds("stay", members, parameters), step_seconds("members", members, parameters)
    print(f"{members} members, {parameters} parameters, border_every={border_every}: a step takes {told(stay)}, and {told(change)} where members may change")
    killed, joined = change_seconds(members, parameters)
    print(f"the step after a kill has ended {killed:.2f} s after it; the longest step when one joins takes {joined:.2f} s")


if __name__ == "__main__":
    main()

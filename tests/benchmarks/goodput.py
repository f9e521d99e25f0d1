"""Goodput of a job whose members are lost, leave and join by the clock: what the simulator says beforehand, and what processes then have. First
a short job tells how long a step, a loss and a meeting take here, and then both worlds have one schedule. goodput.py [PROCESSES [SECONDS [STEP_MS]]]:
4, 60 and 40 unless they are given; of a step that many milliseconds are sleep, as of a host whose GPU computes. On a quiet machine; TRIGRAM_PROGRAM is
the built program, and TRIGRAM_SESSION the library."""

import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import typing

PROCESSES, SECONDS, STEP_MS = (int(given) if given else other for given, other in zip((sys.argv[1:] + ["", "", ""])[:3], (4, 60, 40)))
TREE = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = """
import os, sys, time, torch, trigram
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(100, 900), torch.nn.Tanh(), torch.nn.Linear(900, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(8, 100), torch.randint(10, (8,))
said = open(f"{sys.argv[2]}/{os.environ['TRIGRAM_MEMBER']}", "a")
members = trigram.with_members(model, [optimizer], "all_reduce", membership=sys.argv[1])
for step in members.steps(int(sys.argv[3])):
    begun = time.time()
    with step:
        time.sleep(float(sys.argv[4]))
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        told = step.number, members.epoch, begun, time.time()
    if members.done > step.number:
        print(*told, file=said, flush=True)
members.finish()
"""
FIRST = "at 4s lose 1\nat 7s join 1\nat 10s lose 2\nat 13s join 1\n"
FIRST_SECONDS = 16


class Step(typing.NamedTuple):
    """That counts, as the members of its epoch have seen it."""

    number: int
    epoch: int
    begun: float
    ended: float


def schedule(seed: int) -> str:
    """Of losses and joins in turn, with two lost at once in between; one leaves in order."""
    draw = random.Random(seed)
    here, following, second, lines = list(range(PROCESSES)), PROCESSES, 0.0, []
    while (second := second + draw.uniform(2.0, 4.0)) < SECONDS:
        if len(here) < PROCESSES:
            lines.append(f"at {second:.1f}s join {PROCESSES - len(here)}")
            while len(here) < PROCESSES:
                here.append(following)
                following += 1
            continue
        gone = [here.pop(draw.randrange(len(here))) for _ in range(draw.choice((1, 1, 2)))]
        lines.append(f"at {second:.1f}s {draw.choice(('lose', 'lose', 'leave'))} {', '.join(map(str, gone))}")
    return "\n".join(lines) + "\n"


def run(folder: pathlib.Path, plan: str, steps: int) -> list[Step]:
    """On processes, started by `trigram launch`; the steps that count, in their order."""
    folder.mkdir()
    (folder / "train.py").write_text(SCRIPT)
    (folder / "members.txt").write_text(plan)
    (folder / "said").mkdir()
    subprocess.run([sys.executable, "-m", "trigram", "launch", "-n", str(PROCESSES), "--folder", folder / "job", "--membership", folder / "members.txt", "--",
                    sys.executable, folder / "train.py", folder / "members.txt", folder / "said", str(steps), str(STEP_MS / 1000)], check=False,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(TREE / "python")})
    lines = [line.split() for path in (folder / "said").iterdir() for line in path.read_text().splitlines()]
    told = [Step(int(number), int(epoch), float(begun), float(ended)) for number, epoch, begun, ended in lines]
    last = {one.number: max(other.epoch for other in told if other.number == one.number) for one in told}
    all_of = {number: [one for one in told if (one.number, one.epoch) == (number, epoch)] for number, epoch in last.items()}
    return [Step(number, last[number], max(one.begun for one in same), max(one.ended for one in same)) for number, same in sorted(all_of.items())]


def goodput(steps: list[Step]) -> tuple[float, float]:
    """The share of the time in which steps were made that count, and all the time, as `trigram run --membership` has them."""
    useful, before = 0.0, None
    for one in steps:
        useful += one.ended - (before.ended if before and before.epoch == one.epoch else one.begun)
        before = one
    whole = steps[-1].ended - steps[0].begun
    return useful / whole, whole


def breaks(steps: list[Step]) -> list[float]:
    """Of each change of members, the seconds from the last step of an epoch that counts to the first step of the next one."""
    return [after.begun - before.ended for before, after in zip(steps, steps[1:]) if after.epoch != before.epoch]


def predicted(folder: pathlib.Path, plan: str, steps: int, step_s: float, detection_s: float, meeting_s: float) -> tuple[float, float]:
    """By the simulator, on a cluster whose hosts take that long for a step."""
    (folder / "members.txt").write_text(plan)
    (folder / "here.cfg").write_text(f"nodes = {PROCESSES}\ngpus_per_node = 1\nnic = gpu\nnic_bandwidth = 100Gbps\nnic_latency = 1us\ngpu_flops = 100TFLOPS\n"
                                     f"gpu_memory_bandwidth = 1TB/s\nkernel_launch = 1us\nstep_overhead = {step_s * 1e6:.0f}us\n")
    subprocess.run([os.environ["TRIGRAM_PROGRAM"], "run", "--cluster", folder / "here.cfg", "--workload", "quadratic", "--ranks", str(PROCESSES), "--steps", str(steps),
                    "--membership", folder / "members.txt", "--detection", f"{detection_s * 1e3:.0f}ms", "--meeting", f"{meeting_s * 1e3:.0f}ms", "--out", folder / "out"],
                   check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    told = json.loads((folder / "out" / "run.json").read_text())["membership"]
    return told["goodput"], told["epochs"][-1]["end_s"] - told["epochs"][0]["begin_s"]


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        first = run(folder / "first", FIRST, int(FIRST_SECONDS * 1000 / STEP_MS / 1.3))
        step_s = statistics.median(after.ended - before.ended for before, after in zip(first, first[1:]) if after.epoch == before.epoch)
        found = breaks(first)
        meeting_s = statistics.mean(found[1::2])
        # The step that was cut off ran for half of its time on average, and the simulator lets it run to its end.
        detection_s = max(0.0, statistics.mean(found[0::2]) - meeting_s - step_s)
        print(f"a step {step_s * 1e3:.1f} ms; after a loss {', '.join(f'{one:.2f}' for one in found[0::2])} s, a join {', '.join(f'{one:.2f}' for one in found[1::2])} s "
              f"until the next step: meeting {meeting_s:.2f} s, detection {detection_s:.2f} s")
        plan, steps = schedule(1), int(SECONDS / step_s)
        said, said_s = predicted(folder, plan, steps, step_s, detection_s, meeting_s)
        done = run(folder / "real", plan, steps)
        real, real_s = goodput(done)
        print(f"{steps} steps, {len(breaks(done))} changes of members: goodput {said:.3f} was said, {real:.3f} is ({(said / real - 1) * 100:+.1f} %); "
              f"{said_s:.1f} s were said, {real_s:.1f} s are ({(said_s / real_s - 1) * 100:+.1f} %)")


if __name__ == "__main__":
    main()

"""How long four processes take to their next step when one is killed, and what a step takes before: members of Trigram beside torchelastic, which starts
all again from a checkpoint, and torchft, where its package is there, with its defaults and with short heartbeats. The same model, 20 ms of sleep a step,
CPUs and gloo. members_compared.py [PARAMETERS [KILLS [SYSTEMS…]]], with a Python that has PyTorch 2, on a quiet machine."""

import importlib.util
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from members import MODEL

PROCESSES, STEPS_BEFORE, LIMIT_S, PORT = 4, 60, 60, 29541
SAID = MODEL + """
said = open(sys.argv[2] + "/" + os.environ.get("REPLICA", os.environ.get("RANK", "0")), "a")
def told(ranks):
    print(os.getpid(), ranks, time.time(), file=said, flush=True)
"""
TRIGRAM = SAID + """
import trigram
members = trigram.with_members(model, [optimizer], "all_reduce", border_every=1)
for step in members.steps(1_000_000):
    with step:
        once(model, optimizer)
    told(step.ranks)
"""
# A checkpoint each step, as the others lose no more than that. In the agent's own store gloo finds addresses of the attempt before.
ELASTIC = SAID + """
import torch.distributed
attempt, rank, world = (os.environ[name] for name in ("TORCHELASTIC_RESTART_COUNT", "RANK", "WORLD_SIZE"))
agent = torch.distributed.TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), is_master=False)
torch.distributed.init_process_group("gloo", store=torch.distributed.PrefixStore("attempt" + attempt, agent), rank=int(rank), world_size=int(world))
rank, file = torch.distributed.get_rank(), sys.argv[2] + "/checkpoint.pt"
if os.path.exists(file):
    held = torch.load(file)
    model.load_state_dict(held["model"])
    optimizer.load_state_dict(held["optimizer"])
ddp = torch.nn.parallel.DistributedDataParallel(model)
while True:
    once(ddp, optimizer)
    if rank == 0:
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file + ".part")
        os.replace(file + ".part", file)
    told(torch.distributed.get_world_size())
"""
TORCHFT = SAID + """
import datetime, torchft
store = torch.distributed.TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
def load(held):
    model.load_state_dict(held["model"])
    optimizer.load_state_dict(held["optimizer"])
manager = torchft.Manager(pg=torchft.ProcessGroupGloo(timeout=datetime.timedelta(seconds=5)), min_replica_size=2, load_state_dict=load,
                          state_dict=lambda: {"model": model.state_dict(), "optimizer": optimizer.state_dict()}, rank=0, world_size=1,
                          store_addr="localhost", store_port=store.port, replica_id=os.environ["REPLICA"] + "_")
ddp, stepping = torchft.DistributedDataParallel(manager, model), torchft.Optimizer(manager, optimizer)
while True:
    before = manager.current_step()
    once(ddp, stepping)
    if manager.current_step() > before:
        told(manager.num_participants())
"""


class Job:
    """Processes of one system, each of which appends a line a step to a file of its own."""

    def __init__(self, script, parameters, folder, **variables):
        self.words = ["-B", "-c", script, str(parameters), folder]
        self.folder, self.variables, self.started = pathlib.Path(folder), variables, []

    def run(self, words, **variables):
        environment = os.environ | {"OMP_NUM_THREADS": "1"} | {key: str(value) for key, value in (self.variables | variables).items()}
        self.started.append(subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True))

    def start_each(self, **more):
        for rank in range(PROCESSES):
            self.run([sys.executable, *self.words], REPLICA=rank, **{key: value(rank) for key, value in more.items()})

    def steps(self, rank=0):
        """(process, ranks, time) of each that has ended."""
        file = self.folder / str(rank)
        lines = file.read_text().splitlines() if file.is_file() else []
        return [(int(process), int(ranks), float(ended)) for process, ranks, ended in (line.split() for line in lines if line.count(" ") == 2)]

    def wait(self, condition):
        begun = time.time()
        while not condition():
            if time.time() - begun > LIMIT_S:
                raise TimeoutError
            time.sleep(0.01)

    def whole(self):
        return sum(ranks == PROCESSES for _, ranks, _ in self.steps()) > STEPS_BEFORE

    def kill_one(self):
        """Milliseconds of a step before, and seconds until the first process has made a step of what goes on."""
        self.wait(self.whole)
        ends = [ended for _, ranks, ended in self.steps() if ranks == PROCESSES][-STEPS_BEFORE // 2:]
        step = statistics.median(later - before for before, later in zip(ends, ends[1:]))
        victim, first = self.steps(PROCESSES - 1)[-1][0], self.steps()[-1][0]
        killed = time.time()
        os.kill(victim, signal.SIGKILL)

        def after():
            return [ended for process, ranks, ended in self.steps() if ended > killed and (ranks < PROCESSES or process != first)]
        self.wait(after)
        return 1e3 * step, after()[0] - killed

    def end(self):
        for one in self.started:
            one.terminate()  # torchrun ends those that it started, which are in sessions of their own
        for one in self.started:
            try:
                one.wait(15)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait()


def trigram(parameters, folder):
    job = Job(TRIGRAM, parameters, folder, TRIGRAM_MEMBERS=PROCESSES, TRIGRAM_RENDEZVOUS=f"file:{folder}/job")
    job.start_each(TRIGRAM_MEMBER=lambda rank: rank)
    return job


def torchelastic(parameters, folder):
    script = pathlib.Path(folder, "train.py")
    script.write_text(ELASTIC)
    job = Job(ELASTIC, parameters, folder)
    job.run([sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(PROCESSES), "--max-restarts", "3", "--master-port", str(PORT), str(script),
             str(parameters), folder])
    return job


def torchft(heartbeat_ms, parameters, folder):
    job = Job(TORCHFT, parameters, folder, TORCHFT_LIGHTHOUSE=f"http://localhost:{PORT + 1}")
    lighthouse = f"import time, torchft.coordination as c; s = c.LighthouseServer(bind='[::]:{PORT + 1}', min_replicas=2, " \
                 f"heartbeat_timeout_ms={heartbeat_ms}, join_timeout_ms=60000); time.sleep(1e6)"
    job.run([sys.executable, "-c", lighthouse])
    time.sleep(2)
    job.start_each()
    return job


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # whoever was started ends too
    parameters, times, *wanted = (*sys.argv[1:], *["1e5", "3"][len(sys.argv) - 1:])
    parameters, times = float(parameters), int(times)
    systems = {"trigram": trigram, "torchelastic": torchelastic}
    if importlib.util.find_spec("torchft"):
        systems |= {"torchft, its defaults": lambda *words: torchft(5000, *words), "torchft, heartbeats missed after 0.5 s": lambda *words: torchft(500, *words)}
    else:
        print("torchft is not installed, and left out")
    print(f"{PROCESSES} processes, {parameters:g} parameters, {times} kills each, seconds until the next step has ended:")
    for name, start in systems.items():
        kills = []
        for _ in range(times if not wanted or any(word in name for word in wanted) else 0):
            with tempfile.TemporaryDirectory() as folder:
                job = start(parameters, folder)
                try:
                    kills.append(job.kill_one())
                except TimeoutError:
                    kills.append((float("nan"), float("inf")))
                finally:
                    job.end()
        if kills:
            print(f"{name:40} {statistics.median(step for step, _ in kills):6.1f} ms a step; {', '.join(f'{seconds:.2f}' for _, seconds in kills)} s", flush=True)


if __name__ == "__main__":
    main()

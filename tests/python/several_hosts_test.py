"""Two hosts of two ranks each, which torchrun starts: network namespaces with names and /etc/hosts of their own, as Debian has it,
where a host's own name stands for a loopback address. Ends with 77 without torch, or where nobody may make namespaces."""

import importlib.util
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

from torchrun_test import TORCHRUN, Job

TRAINS = """
import sys, torch, trigram
torch.set_num_threads(1)
name, backend = sys.argv[1:]
kept = []
for algorithm, flags in (("all_reduce", {}), ("bytegrad", {}), ("all_reduce", {"hierarchy": "leader"})):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    job = trigram.with_trigram(model, [optimizer], algorithm, backend=backend, **flags).trigram
    for step in range(3):
        optimizer.zero_grad()
        model(torch.randn(5, 6, generator=torch.Generator().manual_seed(10 * step + job.rank))).pow(2).mean().backward()
        optimizer.step()
    job.finish()
    kept.append((list(model.parameters()), list(job.steps()["bytes_between_nodes"])))
torch.save(kept, f"{name}-{job.rank}.pt")
"""
HOSTS = """127.0.0.1 localhost
127.0.1.1 {own}
{address} {other}
"""


class Host:
    """A network namespace, and what stands before a command that runs there."""

    def __init__(self, folder, number):
        self._namespace = f"trigram-{os.getpid()}-{number}"
        subprocess.run(["ip", "netns", "add", self._namespace], check=True, capture_output=True)
        name, other = f"trigram-host{number}", f"trigram-host{1 - number}"
        hosts = folder / name
        hosts.write_text(HOSTS.format(own=name, address=f"10.77.0.{2 - number}", other=other))
        start = f"mount --bind {hosts} /etc/hosts && hostname {name} && exec \"$@\""
        self.prefix = ["ip", "netns", "exec", self._namespace, "unshare", "--mount", "--uts", "sh", "-c", start, "sh"]

    def connect(self, other):
        ip = "link", "add", "veth0", "netns", self._namespace, "type", "veth", "peer", "name", "veth0", "netns", other._namespace
        subprocess.run(["ip", *ip], check=True)
        for number, host in enumerate((self, other)):
            for words in (f"addr add 10.77.0.{1 + number}/24 dev veth0", "link set veth0 up", "link set lo up"):
                subprocess.run(["ip", "-n", host._namespace, *words.split()], check=True)

    def end(self):
        subprocess.run(["ip", "netns", "delete", self._namespace], check=True)


class SeveralHosts(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.hosts = []
        for number in range(2):
            self.hosts.append(Host(self.folder, number))
            self.addCleanup(self.hosts[-1].end)
        self.hosts[0].connect(self.hosts[1])
        (self.folder / "train.py").write_text(TRAINS)

    def job(self, *commands):
        started = Job(self.folder, commands)
        self.addCleanup(started.end)
        return started

    def test_two_hosts_have_the_bits_of_one(self):
        def command(ranks, name, backend, *more):
            return [*TORCHRUN, "--nproc_per_node", ranks, *more, "train.py", name, f"torch:timeout=60s{backend}"]

        across = "--nnodes", "2", "--master_addr", "trigram-host0", "--master_port", "29512", "--node_rank"
        two = self.job(*[(host.prefix + command("2", "two", "", *across, str(number)), {"GLOO_SOCKET_IFNAME": "veth0"})
                         for number, host in enumerate(self.hosts)])
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = str(server.getsockname()[1])
        one = self.job((command("4", "one", ",ranks_per_node=2", "--master_port", port), {}))
        for job, process in ((two, 0), (two, 1), (one, 0)):
            status, said = job.ended(process)
            self.assertEqual(status, 0, said)
        between = 0
        for rank in range(4):
            ours, theirs = (torch.load(self.folder / f"{name}-{rank}.pt") for name in ("two", "one"))
            for (weights, sent), (expected, of_one) in zip(ours, theirs):
                self.assertTrue(all(map(torch.equal, weights, expected)), rank)
                self.assertEqual(sent, of_one)
                between += sum(sent)
        self.assertGreater(between, 0)


def hosts_can_be_made():
    if not all(map(shutil.which, ("ip", "unshare"))):
        return False
    return subprocess.run(["unshare", "--net", "--mount", "--uts", "true"], capture_output=True).returncode == 0 and os.geteuid() == 0


if __name__ == "__main__":
    if importlib.util.find_spec("torch") is None or not hosts_can_be_made():
        sys.exit(77)
    import torch

    unittest.main()

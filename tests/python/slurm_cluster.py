"""Slurm with two nodes on this machine, each in a network, a name and a mount namespace of its own, from packages alone: no munge,
no systemd, no cgroups. It needs root."""

import atexit
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAMS = ["slurmctld", "slurmd", "sbatch", "srun", "scontrol", "sinfo", "squeue", "ip", "nsenter", "unshare"]
PATIENCE = 120  # seconds; it ends the test where a daemon hangs, and is not waited for otherwise
NODES = ["tn1", "tn2"]

CONFIGURATION = """
ClusterName=trigramtest
SlurmctldHost=tnc({controller})
SlurmctldPort={port}
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=0,requeue_delay=1
MpiDefault=none
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdTimeout={node_timeout}
ReturnToService=2
KillWait=2
MinJobAge=600
InactiveLimit=0
OverTimeLimit=0
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName=tn1 NodeAddr={network}.11 CPUs=2 RealMemory=1000 State=UNKNOWN
NodeName=tn2 NodeAddr={network}.12 CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=work Nodes=tn1,tn2 Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE
PartitionName=urgent Nodes=tn1,tn2 MaxTime=INFINITE State=UP PriorityTier=2 PreemptMode=OFF
"""


def missing():
    """Why there can be no cluster here; empty where there can."""
    lacking = [name for name in PROGRAMS if not shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")]
    if lacking:
        return f"{', '.join(lacking)} missing; install the packages of cmake/debian-packages-studies.txt"
    if os.getuid() != 0:
        return "network namespaces take root"
    if subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode != 0:
        return "this machine gives no network namespaces"
    return ""


class Cluster:
    """As a context: starts the daemons, and ends them with all that they started."""

    def __init__(self, node_timeout=15):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trigram-slurm-"))
        self.network, self.bridge = f"10.{200 + os.getpid() % 50}.{os.getpid() // 50 % 250}", f"tb{os.getpid() % 100000}"
        self.daemons, self.holders = {}, {}
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
        (self.folder / "mpi.conf").write_text(f"PMIxCliTmpDirBase={self.folder}/pmix\n")
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(folder=self.folder, controller=f"{self.network}.1", network=self.network,
                                                                     port=20000 + os.getpid() % 20000, node_timeout=node_timeout))
        for name in ["state", "pmix", *(f"spool-{node}" for node in NODES)]:
            (self.folder / name).mkdir()
        hosts = [f"{self.network}.1 tnc", *(f"{self.network}.{11 + i} {node}" for i, node in enumerate(NODES))]
        (self.folder / "hosts").write_text("\n".join(["127.0.0.1 localhost", *hosts, ""]))

    def __enter__(self):
        atexit.register(self.end)  # a test that is interrupted makes no clean-up
        with contextlib.ExitStack() as stack:
            stack.callback(self.end)
            self.command("ip", "link", "add", self.bridge, "type", "bridge")
            self.command("ip", "addr", "add", f"{self.network}.1/24", "dev", self.bridge)
            self.command("ip", "link", "set", self.bridge, "up")
            for i, node in enumerate(NODES):
                self.make_node(node, f"{self.network}.{11 + i}", f"{self.bridge}n{i}")
            self.start_controller()
            for node in NODES:
                self.start_node(node)
            self.wait_for(lambda: self.states() == {node: "idle" for node in NODES}, "nodes are not idle")
            stack.pop_all()
        return self

    def __exit__(self, *_):
        self.end()

    def command(self, *words):
        ended = subprocess.run(words, capture_output=True, text=True, env=self.environment)
        if ended.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {ended.stdout}{ended.stderr}")
        return ended.stdout

    def make_node(self, node, address, wire):
        """A process that holds the node's namespaces, and a wire from its network to the bridge."""
        self.holders[node] = subprocess.Popen(
            ["unshare", "--net", "--uts", "--mount", "--propagation", "private", "--kill-child", "sh", "-c",
             f"hostname {node}; mount --bind {self.folder}/hosts /etc/hosts; mount -t tmpfs none {self.folder}/pmix; ip link set lo up; echo ready; exec sleep infinity"],
            stdout=subprocess.PIPE, text=True, start_new_session=True, env=self.environment)
        assert self.holders[node].stdout.readline() == "ready\n"
        pid = str(self.holders[node].pid)
        self.command("ip", "link", "add", wire, "type", "veth", "peer", "name", "eth0", "netns", pid)
        self.command("ip", "link", "set", wire, "master", self.bridge, "up")
        inside = ["nsenter", "--net", "--target", pid]
        self.command(*inside, "ip", "addr", "add", f"{address}/24", "dev", "eth0")
        self.command(*inside, "ip", "link", "set", "eth0", "up")
        self.command(*inside, "ip", "route", "add", "default", "via", f"{self.network}.1")

    def start_controller(self):
        self.daemons["slurmctld"] = self.start(["unshare", "--uts", "sh", "-c", "hostname tnc; exec slurmctld -D -c"])

    def start_node(self, node):
        self.daemons[node] = self.start(["nsenter", "--net", "--uts", "--mount", "--target", str(self.holders[node].pid),
                                         f"--wd={self.folder}", "slurmd", "-D", "-N", node])

    def start(self, words):
        with open(self.folder / "daemons.txt", "ab") as log:
            return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=self.environment)

    def kill(self, name):
        """Ends a daemon without notice."""
        self.daemons[name].kill()
        self.daemons[name].wait()

    def kill_node(self, node):
        """Its daemon and everything that runs on it, as when its power is cut."""
        network = os.readlink(f"/proc/{self.holders[node].pid}/ns/net")
        for path in pathlib.Path("/proc").glob("[0-9]*/ns/net"):
            with contextlib.suppress(OSError):
                if os.readlink(path) == network:
                    os.kill(int(path.parts[2]), signal.SIGKILL)
        self.daemons.pop(node).wait()
        self.holders.pop(node).wait()

    def kill_process(self, word):
        """Those of the cluster's jobs whose command line has this word."""
        for pid in processes_with(f"SLURM_CONF={self.folder}/slurm.conf"):
            with contextlib.suppress(OSError):
                if word.encode() in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)

    def states(self):
        lines = self.command("sinfo", "--noheader", "--Node", "--format=%N %T").splitlines()
        return dict(line.split() for line in lines)

    def job(self, number):
        """State of a job, as RUNNING, and how often it was put back into the queue."""
        facts = dict(word.split("=", 1) for word in self.command("scontrol", "show", "job", "--oneliner", str(number)).split() if "=" in word)
        return facts["JobState"], int(facts["Restarts"])

    def hasten(self, number):
        """A job that was put back into the queue waits for two minutes there, unless somebody says otherwise."""
        if self.job(number)[0] == "PENDING":
            self.command("scontrol", "update", f"jobid={number}", "starttime=now", "timelimit=60")

    def end_soon(self, number):
        """Leaves a job two minutes or less."""
        minutes = int(re.search(r"RunTime=00:(\d\d):", self.command("scontrol", "show", "job", "--oneliner", str(number)))[1])
        self.command("scontrol", "update", f"jobid={number}", f"timelimit={minutes + 2}")

    def wait_for(self, is_so, complaint, patience=PATIENCE):
        begin = time.monotonic()
        while not self.is_now(is_so):
            if time.monotonic() - begin > patience:
                raise AssertionError(f"{complaint}; daemons say:\n{self.logs()}")
            time.sleep(0.1)

    @staticmethod
    def is_now(is_so):
        try:
            return is_so()
        except RuntimeError:  # the controller does not answer yet
            return False

    def logs(self):
        return "\n".join(f"{path.name}:\n{path.read_text(errors='replace')[-3000:]}" for path in sorted(self.folder.glob("*.log")))

    def end(self):
        atexit.unregister(self.end)
        for process in [*self.daemons.values(), *self.holders.values()]:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for pid in processes_with(f"SLURM_CONF={self.folder}/slurm.conf"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        subprocess.run(["ip", "link", "del", self.bridge], capture_output=True, env=self.environment)
        shutil.rmtree(self.folder, ignore_errors=True)


def processes_with(variable):
    """Those whose environment has it: what daemons of this cluster have started."""
    for folder in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and int(folder.name) != os.getpid() and variable.encode() in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name)


if __name__ == "__main__":  # a cluster to look at, until its standard input ends
    if reason := missing():
        sys.exit(reason)
    with Cluster() as shown:
        print(f"export SLURM_CONF={shown.folder}/slurm.conf", flush=True)
        sys.stdin.read()

"""What is emulated, and what runs there."""

from dataclasses import dataclass

OF_ALL = ("all_reduce", "all_to_all")
# A rank leaves a barrier up to two latencies before another, and who exchanges with a neighbour alone waits for that too:
# where latencies are long, exchange would measure the barrier.
OPERATIONS = (*OF_ALL, "exchange")
ALGORITHMS = ("all_reduce", "bytegrad", "qsgd", "decentralized", "low_precision_decentralized", "local_sgd")
CALIBRATION = ("--min-size", "1KiB", "--max-size", "2MiB", "--factor", "2", "--codecs", "minmax_uint8 qsgd")
TRAINING = ("--workload", "mlp:hidden=512x512", "--global-batch", "64", "--steps", "20", "--bucket-size", "256KiB")
CYCLE = 4  # steps after which local_sgd does the same again


@dataclass(frozen=True)
class Scenario:
    """An emulated cluster with the cases that are measured and predicted on it."""

    name: str
    about: str
    rate: str = "100mbit"
    hosts: int = 4
    slots: int = 1  # ranks a host
    delay: str = "0ms"  # of a message, in the switch
    buffer: str = "0KiB"  # of a socket
    connections: int = 1  # of two ranks
    second: str = "0mbit"  # rate of another way between hosts
    police: str = "0mbit"  # what the switch passes to a host before it drops
    backend: str = "mpi"
    calibration_rounds: int = 3  # one, where messages take so long that the machine hardly counts
    operations: tuple = OPERATIONS
    largest: str = "2MiB"  # buffer of a collective
    hierarchies: tuple = ("none",)

    @property
    def ranks(self):
        return self.hosts * self.slots

    def emulation(self):
        """Flags of emulate."""
        return ["--hosts", self.hosts, "--slots", self.slots, "--rate", self.rate, "--delay", self.delay, "--buffer",
                self.buffer, "--connections", self.connections, "--second", self.second, "--police", self.police]


SCENARIOS = {scenario.name: scenario for scenario in (
    Scenario("100mbit", "4 hosts"),
    Scenario("500mbit", "4 hosts", rate="500mbit", largest="8MiB"),
    Scenario("shared_nic", "4 hosts of 2 ranks, flat and by leaders", slots=2, hierarchies=("none", "leader")),
    Scenario("delayed", "10 ms each way", delay="10ms", operations=OF_ALL),
    Scenario("window", "10 ms, socket buffers of 64 KiB", delay="10ms", buffer="64KiB", operations=OF_ALL, largest="1MiB",
             calibration_rounds=1),
    Scenario("connections", "the same, 4 connections a pair", delay="10ms", buffer="64KiB", connections=4,
             operations=OF_ALL, largest="1MiB", calibration_rounds=1),
    Scenario("two_paths", "100 and 25 Mbit/s, 4 hosts, net plugin", second="25mbit", backend="net"),
    Scenario("policed", "4 hosts of 500 Mbit/s, policed to 100", rate="500mbit", police="100mbit"),
)}


@dataclass(frozen=True)
class Case:
    """One measurement: a collective at one size, or a training iteration (size 0)."""

    kind: str  # "bench" or "iteration"
    name: str
    hierarchy: str
    size: int

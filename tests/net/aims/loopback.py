"""What loopback gives without shaping: rates and processor time beside NCCL's socket design at its best numbers of threads and sockets,
the way of eight bytes beside a bare socket's, and the memory of a communicator."""

import json
import os
import statistics
import subprocess

# Threads and sockets of a thread. None is the caller's thread alone.
NUMBERS = ((0, 1), (1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (2, 4), (4, 1), (4, 2))
DESIGNS = {"ours": "ours", "ours, 1 mover": "ours", **{f"nccl:{threads}x{sockets}": f"nccl:{threads}x{sockets}" for threads, sockets in NUMBERS}, "nccl:0x1:hurried": "nccl:0x1:hurried", "bagua:2": "bagua:2"}


def itself(nccl):
    """NCCL's own sockets, where there is a plugin of them, at the same numbers."""
    return {f"NCCL itself, {threads}x{sockets}": f"{nccl}:12" for threads, sockets in NUMBERS} if nccl else {}


def numbers_of(name):
    """What NCCL, or our plugin, reads of such a name."""
    if name == "ours, 1 mover":
        return {"TRIGRAM_NET_THREADS": "1"}
    if not name.startswith("NCCL itself, "):
        return {}
    threads, sockets = name.removeprefix("NCCL itself, ").split("x")
    return {"NCCL_SOCKET_NTHREADS": threads, "NCCL_NSOCKS_PERTHREAD": sockets, "NCCL_SOCKET_IFNAME": "lo"}


def bench(build, plugin, *more, environment=None):
    what = str(build / "net/libnccl-net-trigram.so") if plugin == "ours" else plugin
    said = subprocess.run([str(build / "tests/net/net_bench"), "--plugin", what, *more], capture_output=True, text=True, check=True, timeout=600,
                          env={**os.environ, "TRIGRAM_NET_INTERFACES": "lo", **(environment or {})})
    return json.loads(said.stdout)


def rates(build, nccl, repeats, seconds):
    """By design, turn by turn: Mbit/s, and cores of the busier end for each 10 Gbit/s."""
    designs = {**DESIGNS, **itself(nccl)}
    runs = {name: [] for name in designs}
    for _ in range(repeats):
        for name, all_of in runs.items():
            all_of.append(bench(build, designs[name], "--warm-up", "0.5", "--seconds", str(seconds), environment=numbers_of(name)))
    return {name: {"runs_mbps": [one["mbps"] for one in all_of],
                   "mbps": statistics.median(one["mbps"] for one in all_of),
                   "cores_per_10_gbps": statistics.median(1.25 * max(one["sender_core_s_per_GB"], one["receiver_core_s_per_GB"])
                                                          for one in all_of)}
            for name, all_of in runs.items()}


def latencies(build, nccl, repeats):
    """Microseconds of eight bytes one way, turn by turn; `bare_each_way` is a socket for each direction, as NCCL has communicators; what is
    hurried has the plugin's control of congestion, where the system's may be slower within a host."""
    designs = {name: name for name in ("ours", "bare", "bare_each_way", "bare_each_way:hurried", "nccl:0x1")} | dict(list(itself(nccl).items())[:1])
    runs = {name: [] for name in designs}
    for _ in range(repeats):
        for name, all_of in runs.items():
            all_of.append(bench(build, designs[name], "--round-trips", "20000", environment=numbers_of(name))["half_round_trip_us"])
    return {name: statistics.median(all_of) for name, all_of in runs.items()}


def memory(build):
    """KiB of a communicator, after messages have gone over it."""
    return bench(build, "ours", "--communicators", "32")["kib_a_communicator"]

"""Several unequal paths between two network namespaces, and what designs reach over them: a pair of interfaces a path, rates by the
kernel's token bucket, delays and losses by delayed_link. In percent of what the paths give one by one, each to one socket that has it
alone."""

import json
import os
import statistics
import subprocess
import sys
import threading
import time

# By what net_bench calls them; connections are spread evenly over so many paths.
DESIGNS = {"ours": lambda paths: "ours", "Bagua-Net": lambda paths: f"bagua:{paths}", "NCCL's sockets": lambda paths: f"nccl:{paths}x2",
           "one socket": lambda paths: "one_socket"}
MTU = 1500
# Mbit/s of the paths, one way; 1:1, 1:3 and 1:10 of two, and the same with one more like the fastest.
RATES = {"1:1": [100, 100], "1:3": [50, 150], "1:10": [20, 200], "1:1:1": [70, 70, 70], "1:3:3": [30, 90, 90],
         "1:10:10": [10, 100, 100]}


def run(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"measure: {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


class Paths:
    """Two namespaces, `self.one` and `self.other`, with a path for each rate."""

    def __init__(self, build, rates, delay_ms=0, losses=None):
        self.build, self.rates, self.delay, self.losses = build, rates, delay_ms, losses or [0] * len(rates)
        self.one, self.other, self.middle = (f"trigram-net-{os.getpid()}-{part}" for part in ("a", "b", "m"))
        self.links = []

    def __enter__(self):
        for name in (self.one, self.other, self.middle):
            run("ip", "netns", "add", name)
        for name in (self.one, self.other):
            run("ip", "-n", name, "link", "set", "lo", "up")
            run("ip", "netns", "exec", name, "sysctl", "-qw", "net.ipv4.tcp_no_metrics_save=1", "net.ipv4.conf.all.rp_filter=0",
                "net.ipv4.tcp_wmem=4096 16384 16777216", "net.ipv4.tcp_rmem=4096 131072 16777216")
        for index in range(len(self.rates)):
            self.add(index)
        return self

    def __exit__(self, *_):
        for link in self.links:
            link.kill()
            link.wait()
        for name in (self.one, self.other, self.middle):
            subprocess.run(["ip", "netns", "del", name], check=False)

    def add(self, index):
        direct = self.delay == 0 and self.losses[index] == 0
        ends = ((self.one, 1), (self.other, 2))
        if direct:
            run("ip", "link", "add", f"eth{index}", "netns", self.one, "type", "veth", "peer", "name", f"eth{index}", "netns", self.other)
        for name, host in ends:
            port = f"p{index}{host}"
            if not direct:
                run("ip", "link", "add", f"eth{index}", "netns", name, "type", "veth", "peer", "name", port, "netns", self.middle)
                run("ip", "-n", self.middle, "link", "set", port, "mtu", str(MTU), "up")
            # Frames of one packet: what is lost is a packet.
            run("ip", "-n", name, "link", "set", f"eth{index}", "mtu", str(MTU), "gso_max_segs", "1", "up")
            run("ip", "-n", name, "address", "add", f"10.88.{index}.{host}/24", "dev", f"eth{index}")
            self.limit(name, index, self.rates[index])
        if not direct:
            link = subprocess.Popen(["ip", "netns", "exec", self.middle, str(self.build / "tests/net/delayed_link"), f"p{index}1", f"p{index}2",
                                     str(self.delay), str(self.losses[index]), str(index + 1)], stdout=subprocess.PIPE, text=True)
            link.stdout.readline()
            self.links.append(link)

    def limit(self, name, index, rate, verb="add"):
        """A bucket of a millisecond, and a queue of 30 ms and of what is under way in a round trip."""
        burst = max(2 * MTU + 200, rate * 125)
        limit = int(rate * 125 * (30 + 2 * self.delay)) + burst
        run("ip", "netns", "exec", name, "tc", "qdisc", verb, "dev", f"eth{index}", "root", "tbf", "rate", f"{rate}mbit",
            "burst", str(burst), "limit", str(limit))

    def bench(self, design, seconds, interfaces="eth", warm_up=1.5, size=1 << 18):
        what = DESIGNS[design](len(self.rates))
        plugin = str(self.build / "net/libnccl-net-trigram.so") if what == "ours" else what
        said = run(str(self.build / "tests/net/net_bench"), "--plugin", plugin, "--from", self.one, "--to", self.other, "--bytes", str(size),
                   "--seconds", str(seconds), "--warm-up", str(warm_up), timeout=120,
                   env={**os.environ, "TRIGRAM_NET_INTERFACES": interfaces})
        return json.loads(said)


def alone(build, rate, delay, loss, arguments, known):
    """What one socket gets of a path, Mbit/s: a median too."""
    if (rate, delay, loss) not in known:
        with Paths(build, [rate], delay, [loss]) as paths:
            known[rate, delay, loss] = statistics.median(paths.bench("one socket", arguments.seconds)["mbps"] for _ in range(arguments.repeats))
    return known[rate, delay, loss]


def steady(build, arguments, known, name, rates, delay, losses=None):
    gives = [alone(build, rate, delay, loss, arguments, known) for rate, loss in zip(rates, losses or [0] * len(rates))]
    runs = {design: [] for design in DESIGNS}
    with Paths(build, rates, delay, losses) as paths:
        for _ in range(arguments.repeats):
            for design, all_of in runs.items():
                all_of.append(paths.bench(design, arguments.seconds)["mbps"])
    return {"case": name, "delay_ms": delay, "rates": rates, "alone_mbps": gives, "runs": runs,
            "mbps": {design: statistics.median(all_of) for design, all_of in runs.items()}}


def slowing(build, arguments, known, rates, delay):
    """The second path falls to a tenth in the middle: what is reached from a second later on, for two seconds."""
    slowed = [rates[0], rates[1] // 10]
    gives = [alone(build, rate, delay, 0, arguments, known) for rate in slowed]
    row = {"case": f"{rates[1]} slows to {slowed[1]}", "delay_ms": delay, "rates": rates, "alone_mbps": gives, "mbps": {}, "runs": {}}
    for design in DESIGNS:
        runs = [slowing_run(build, rates, slowed, delay, design) for _ in range(arguments.repeats)]
        row["mbps"][design] = statistics.median(statistics.mean(tenths[10:30]) for tenths in runs)
        row["runs"][design] = runs
    return row


def slowing_run(build, rates, slowed, delay, design):
    """Mbit/s in each tenth of a second from the change on."""
    with Paths(build, rates, delay) as paths:
        changed = []

        def change():
            for name in (paths.one, paths.other):
                paths.limit(name, 1, slowed[1], "change")
            changed.append(time.monotonic())

        timer = threading.Timer(4, change)
        timer.start()
        said = paths.bench(design, 9, warm_up=0, size=1 << 17)
        timer.join()
        return said["tenths_mbps"][int(10 * (changed[0] - said["begun"])):]


def cases(build, arguments, known):
    for name, rates in RATES.items():
        for delay in (0, 5, 50):
            yield f"{name} {delay} ms", lambda n=name, r=rates, d=delay: steady(build, arguments, known, n, r, d)
    yield "loss", lambda: steady(build, arguments, known, "1:1, 1 % lost on one", [100, 100], 5, [0, 1])
    yield "slowing", lambda: slowing(build, arguments, known, [50, 150], 0)
    yield "slowing 5 ms", lambda: slowing(build, arguments, known, [50, 150], 5)

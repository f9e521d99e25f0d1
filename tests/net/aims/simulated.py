"""What the simulator says of the same paths, by either way of spreading messages."""

import re
import subprocess

# Bytes that make latency and the first window invisible.
LARGE = "1GiB"


def predicted(program, alone_mbps, striping):
    """Mbit/s that a stream gets of paths that give so much one by one."""
    wires = " ".join(f"{rate * 1e-3:.6f}Gbps" for rate in alone_mbps)
    said = subprocess.run([program, "bench", "--op", "exchange", "--min-size", LARGE, "--max-size", LARGE, "--cluster",
                           f"two_by_four:gpus_per_node=1,nics={wires},nic_striping={striping}"], capture_output=True, text=True, check=True)
    return 8e3 * float(re.search(r"^1073741824 +\d+ +float +\S+ +(\S+)", said.stdout, re.MULTILINE)[1])


def compare(program, row):
    """Adds both predictions, with how far off they are of what was measured."""
    for striping, design in (("queue", "ours"), ("equal", "Bagua-Net")):
        rate = predicted(program, row["alone_mbps"], striping)
        row.setdefault("predicted_mbps", {})[striping] = rate
        row.setdefault("off_percent", {})[striping] = 100 * (rate / row["mbps"][design] - 1)

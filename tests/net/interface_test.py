"""An interface goes down and comes back while messages go over two: the plugin loses that path alone, dials it again, and messages never
end. Needs root, for network namespaces; what happened is read from the plugin's own metrics. usage: interface_test.py BUILD"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent / "aims"))
from paths import Paths, run  # noqa: E402

CANNOT_RUN = 77


def counted(folder, name, path):
    """What the sender has counted on that interface."""
    pattern = re.compile(rf'^trigram_net_{name}_total{{path="{path} [^"]*"}} (\d+)$', re.MULTILINE)
    found = [pattern.search(file.read_text()) for file in Path(folder).glob("*.prom")]
    return max((int(one[1]) for one in found if one), default=0)


def until(holds, what, bench):
    """Waits for something that comes by itself."""
    deadline = time.monotonic() + 60
    while not holds():
        assert bench.poll() is None, f"the messages ended before {what}"
        assert time.monotonic() < deadline, f"not within a minute: {what}"
        time.sleep(0.1)


def main():
    build = Path(sys.argv[1]).resolve()
    if os.geteuid() != 0 or subprocess.run(["unshare", "--net", "true"], check=False).returncode != 0:
        print("network namespaces need root")
        return CANNOT_RUN
    with Paths(build, [200, 200]) as paths, tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TRIGRAM_NET_INTERFACES": "eth", "TRIGRAM_NET_METRICS": f"{folder}/%p.prom"}
        bench = subprocess.Popen([str(build / "tests/net/net_bench"), "--plugin", str(build / "net/libnccl-net-trigram.so"), "--from", paths.one,
                                  "--to", paths.other, "--seconds", "300"], env=environment, stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            until(lambda: counted(folder, "sent_bytes", "eth1") > 0, "eth1 carries messages", bench)
            run("ip", "-n", paths.one, "link", "set", "eth1", "down")
            until(lambda: counted(folder, "lost_connections", "eth1") > 0, "eth1 is lost", bench)
            before = counted(folder, "sent_bytes", "eth0")
            until(lambda: counted(folder, "sent_bytes", "eth0") > before, "eth0 goes on", bench)
            run("ip", "-n", paths.one, "link", "set", "eth1", "up")
            until(lambda: counted(folder, "opened_connections", "eth1") > 1, "eth1 comes back", bench)
            after = counted(folder, "sent_bytes", "eth1")
            until(lambda: counted(folder, "sent_bytes", "eth1") > after, "eth1 carries again", bench)
            assert counted(folder, "lost_connections", "eth0") == 0, "eth0 was lost too"
        finally:
            os.killpg(bench.pid, 9)
            bench.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())

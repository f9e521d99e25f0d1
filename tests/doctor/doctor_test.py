"""The page that `trigram doctor` prints: what works is tried, what does not says why, and nothing of it is a secret."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["TRIGRAM_PROGRAM"]
TITLES = ["trigram", "machine", "limits", "software", "network", "GPUs", "backends", "net plugin"]


def page(**variables):
    """Its lines by title, after it has ended well."""
    said = subprocess.run([PROGRAM, "doctor"], capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL, check=False,
                          env={**os.environ, **variables})
    assert said.returncode == 0, said.stderr
    parts, title = {}, ""
    for line in said.stdout.splitlines():
        if not line.startswith("  "):
            title = line
        parts.setdefault(title, []).append(line.strip())
    return {title: lines[1:] for title, lines in parts.items()}


class Doctor(unittest.TestCase):
    def one(self, lines, begins):
        found = [line for line in lines if line.startswith(begins)]
        self.assertEqual(len(found), 1, f"{begins!r} in {lines}")
        return found[0]

    def test_a_page(self):
        found = page(NCCL_SOCKET_IFNAME="lo", TRIGRAM_SECRET="a secret of this test's job")
        self.assertEqual(list(found), TITLES)
        self.assertNotIn("could not be examined", str(found))
        self.assertNotIn("secret", str(found))
        said = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
        self.one(found["trigram"], f"version {said}, revision ")
        self.assertIn("NCCL_SOCKET_IFNAME=lo", found["network"])
        interfaces = {line.split(":")[0] for line in found["network"] if ", MTU " in line}
        self.assertEqual(interfaces, set(os.listdir("/sys/class/net")))
        cores = len(os.sched_getaffinity(0))
        self.assertTrue(any(f", {cores} of {os.cpu_count()} processors" in line for line in found["machine"]))
        registered = subprocess.run([PROGRAM, "list", "backends"], capture_output=True, text=True, check=True).stdout
        for name in re.findall(r"^  (\w+) ", registered, re.MULTILINE):
            if name in ("sim", "net"):
                self.assertRegex(self.one(found["backends"], f"{name}: "), r": works: 64 KiB all-reduced by two ranks in [\d.e+]+ us")
        self.one(found["backends"], "torch: not here: ")
        self.one(found["net plugin"], "uses lo (address 1")
        self.one(found["net plugin"], "path ")
        self.assertNotRegex(str(found), r"127\.0\.0\.1")

    def test_what_does_not_work_says_why(self):
        found = page(TRIGRAM_NET_INTERFACES="none_such")
        self.assertRegex(self.one(found["backends"], "net: "), "does not work: .*refuses to work here: .*none_such")
        self.assertTrue(any("none_such" in line for line in found["net plugin"]))
        self.assertIn("TRIGRAM_NET_INTERFACES=none_such", found["network"])

    def test_gpus_are_those_of_nvidia_smi(self):
        with tempfile.TemporaryDirectory() as folder:
            smi = pathlib.Path(folder) / "nvidia-smi"
            smi.write_text("#!/bin/sh\necho 'NVIDIA H200, 580.65.06, 143771 MiB, Default, 9.0'\n")
            smi.chmod(0o755)
            path = f"{folder}:{os.environ['PATH']}"
            self.one(page(PATH=path)["GPUs"], "0: NVIDIA H200, 580.65.06")
            smi.write_text("#!/bin/sh\necho 'the driver is not loaded' >&2\nexit 9\n")
            self.one(page(PATH=path)["GPUs"], "none: nvidia-smi says: the driver is not loaded")


if __name__ == "__main__":
    unittest.main()

"""`trigram launch`: what it starts, again too, and how it ends. Ends with 77 without torch."""

import importlib.util
import os
import pathlib
import re
import signal
import subprocess
import sys
import unittest

if importlib.util.find_spec("torch") is None:
    sys.exit(77)
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from case import Case, processes_of  # noqa: E402
from members_case import PATIENCE, SCRIPT  # noqa: E402

# In the place of ssh: it runs the words behind the host here.
SSH = '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nshift\nexec sh -c "$*"\n'


class Launch(Case):
    def command(self, *words, script=("step",)):
        return [sys.executable, "-B", "-m", "trigram", "launch", "--folder", str(self.folder / "job"), *words, "--", *script]

    def run_whole(self, *words, **more):
        return subprocess.run(self.command(*words, **more), capture_output=True, text=True, timeout=PATIENCE)

    def script(self, steps=12):
        return [sys.executable, "-B", str(SCRIPT), "all_reduce", str(self.folder), f"steps={steps}"]

    def begun(self, *words, steps, variables=()):
        """A launcher whose first member is within its first step."""
        process = subprocess.Popen(self.command(*words, script=self.script(steps)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   env={**os.environ, **dict(variables)})
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        self.wait_for(process, "step 0 ")
        return process

    def wait_for(self, process, text):
        said = []
        for line in process.stdout:
            said.append(line)
            if text in line:
                return
        self.fail("".join(said))

    def test_what_it_would_start(self):
        lines = self.run_whole("-n", "3", "--dry-run", script=["python", "train.py"]).stdout.splitlines()
        self.assertEqual(len(lines), 3)
        self.assertRegex(lines[2], r"TRIGRAM_RENDEZVOUS=file:\S+/job/meeting TRIGRAM_MEMBERS=3 TRIGRAM_MEMBER=2 python train.py$")
        self.assertFalse((self.folder / "job").exists())

    def test_a_job_of_slurm_is_one_script(self):
        said = self.run_whole("-n", "4", "--slurm", "--slurm-options=--partition=short", "--dry-run", script=["python", "train.py"]).stdout
        self.assertIn("#SBATCH --ntasks=4 --no-kill", said)
        self.assertIn("--partition=short", said)
        self.assertEqual(subprocess.run(["bash", "-n"], input=said, text=True).returncode, 0)

    def test_nothing_to_start_is_refused(self):
        ended = self.run_whole("-n", "2", script=())
        self.assertEqual((ended.returncode, ended.stdout), (2, ""))
        self.assertIn("give a command behind --", ended.stderr)

    def test_an_error_of_the_script_ends_it(self):
        ended = self.run_whole("-n", "1", script=["sh", "-c", "exit 7"])
        self.assertEqual(ended.returncode, 7, ended.stderr)
        self.assertEqual(ended.stderr.count("is started again"), 2)

    def test_a_member_that_dies_comes_back(self):
        process = self.begun("-n", "3", steps=4000)
        victim = next(number for number, line in processes_of(SCRIPT).items() if str(self.folder).encode() in line and b"launch" not in line)
        os.kill(victim, signal.SIGKILL)
        self.wait_for(process, "of 2")
        self.wait_for(process, "as 2 of 3")
        process.send_signal(signal.SIGTERM)
        rest = process.stdout.read()
        self.assertEqual(process.wait(PATIENCE), 128 + signal.SIGTERM, rest)
        self.assertEqual(len(re.findall(r"member \d+ leaves after", rest)), 3, rest)
        self.assertEqual(len(list((self.folder / "job" / "logs").glob("member-*.log"))), 3)
        self.assert_gone(self.folder)

    def test_hosts_have_launchers_of_their_own(self):
        (self.folder / "bin").mkdir()
        ssh = self.folder / "bin" / "ssh"
        ssh.write_text(SSH)
        ssh.chmod(0o755)
        (self.folder / "hosts").write_text("127.0.0.1\nlocalhost  # the same machine\n")
        process = self.begun("-n", "1", "--hosts", str(self.folder / "hosts"), steps=6,
                             variables={"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"})
        said = process.stdout.read()
        self.assertEqual(process.wait(PATIENCE), 0, said)
        self.assertIn("of 2", said)


if __name__ == "__main__":
    unittest.main()

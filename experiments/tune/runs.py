"""Runs of the program, a folder each below trials/, named after all that decides the run: what is finished is read, and not
made again."""

import ctypes
import errno
import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import time

import new_file
from unusable import Unusable, in_quotes

REFUSED = 2


class Refused(Exception):
    """The program does not take these flags; its message."""


class Failed(Exception):
    """A run that began and did not end well."""


def end_with_parent(number):
    """Asks Linux for this signal when the process that started this one ends (PR_SET_PDEATHSIG)."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, number)


class Run:
    """One configuration: `settings` are flags, as a file has them."""

    def __init__(self, folder, settings, launcher, build, alone=True):
        for key, value in settings.items():
            if "\n" in value or "#" in value:
                raise Unusable(f"--{key} {value!r} cannot stand in a file of flags, in which # begins a comment; write it without")
        self.settings = settings
        self.text = "".join(f"{key} = {value}\n" for key, value in sorted(settings.items()))
        whole = json.dumps([self.text, launcher, build], sort_keys=True)
        self.folder = folder / "trials" / hashlib.sha256(whole.encode()).hexdigest()[:16]
        self.alone = alone  # whether nobody else makes runs in this folder
        self.making = None  # where it is made, until it takes its place
        self.json = None
        self.refusal = None

    def read(self):
        """Whether it is finished: made, or refused."""
        try:
            made = json.loads((self.folder / "run.json").read_text("utf-8"))
            self.json = None if "stopped" in made else made
        except (OSError, ValueError):
            self.json = None
        try:
            self.refusal = (self.folder / "refused.txt").read_text("utf-8")
        except (OSError, ValueError):
            self.refusal = None
        return self.json is not None or self.refusal is not None

    def write_flags(self):
        self.making = self.folder if self.alone else self.folder.with_name(f".making-{self.folder.name}-{os.uname().nodename}-{os.getpid()}")
        shutil.rmtree(self.making, ignore_errors=True)
        try:
            self.making.mkdir(parents=True)
        except OSError as error:
            raise Unusable(f"cannot make '{self.making}': {error.strerror}") from error
        new_file.write(self.making / "flags.cfg", lambda file: file.write(self.text.encode()))

    def take_place(self):
        """In one step; where somebody else has made the run meanwhile, this one goes."""
        while not self.alone:
            try:
                self.making.rename(self.folder)
                break
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise Unusable(f"cannot make '{self.folder}': {error.strerror}") from error
            if self.read():
                break
            shutil.rmtree(self.folder, ignore_errors=True)
        self.give_up()

    def give_up(self):
        if self.making not in (None, self.folder):
            shutil.rmtree(self.making, ignore_errors=True)
        self.making = None

    def remove(self):
        """With the folder of all runs, where this is the only one."""
        shutil.rmtree(self.folder, ignore_errors=True)
        try:
            self.folder.parent.rmdir()
        except OSError:
            pass


class Pool:
    """Makes runs, `jobs` at a time."""

    def __init__(self, plan, folder):
        self.program, self.folder, self.build = plan["program"], folder, plan["build"]
        self.launcher, self.together = plan["launcher"], plan["together"]
        try:
            self.before = shlex.split(self.launcher)
        except ValueError as error:
            raise Unusable(f"--launcher {in_quotes(self.launcher)} is no command: {str(error).lower()}") from error
        if self.before and not shutil.which(self.before[0]):
            raise Unusable(f"--launcher {in_quotes(self.launcher)}: {in_quotes(self.before[0])} is no program that can be started")
        self.jobs = plan["jobs"] or (os.cpu_count() if plan["simulated"] else 1)

    def run(self, settings):
        return Run(self.folder, settings, self.launcher, self.build, not self.together)

    def make(self, wanted):
        """Makes what is not finished of these runs. Raises Failed for the first that began and failed."""
        waiting = list({run.folder: run for run in wanted if not run.read()}.values())
        running = {}
        try:
            while waiting or running:
                while waiting and len(running) < self.jobs:
                    run = waiting.pop(0)
                    running[self.start(run)] = run
                time.sleep(0.005)
                for process in [one for one in running if one.poll() is not None]:
                    judge(running.pop(process), process.returncode)
        finally:
            for process in running:
                if process.poll() is None:  # of one that has ended there is nobody to kill
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            for run in running.values():
                run.give_up()
        for run in wanted:
            run.read()

    def start(self, run):
        run.write_flags()
        words = [*self.before, self.program, "run", "--config", str(run.making / "flags.cfg"), "--out", str(run.making)]
        with open(run.making / "log.txt", "wb") as log:
            try:
                return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                                        preexec_fn=lambda: end_with_parent(signal.SIGKILL))
            except (OSError, ValueError) as error:
                raise Unusable(f"cannot start {words[0]!r}: {getattr(error, 'strerror', None) or error}") from error


def judge(run, code):
    if code == REFUSED:
        message = message_of(run.making)
        new_file.write(run.making / "refused.txt", lambda file: file.write(message.encode()))
    run.take_place()
    if run.read():
        return
    if code == 0:
        raise Failed(f"a run ended well and left no run.json that can be read ({run.folder}/)")
    how = f"was ended by signal {-code}" if code < 0 else "failed"
    raise Failed(f"a run {how}: {message_of(run.folder)} ({run.folder}/log.txt; its flags are beside it)")


def message_of(folder):
    log = (folder / "log.txt").read_text("utf-8", errors="replace")
    lines = [line for line in log.splitlines() if line.startswith("trigram: ")] or log.splitlines() or ["it left no message"]
    return lines[0].removeprefix("trigram: ")

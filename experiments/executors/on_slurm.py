"""--executor slurm: one job, which makes the whole study on the nodes that it gets, and comes back until it is whole."""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys

from study_cells import EXECUTOR_IS_GONE, Failed, Refused

# Seconds before its time ends in which a job is told.
NOTICE = 60

HERE = pathlib.Path(__file__).resolve().parent


def make(plan, program):
    """Submits the job, or prints it; the exit code. Raises Refused."""
    text = script_of(plan, program)
    if plan["dry_run"]:
        print(text, end="")
        return 0
    if not shutil.which("sbatch"):
        raise Refused("sbatch is missing, which submits jobs to Slurm; install slurm-client, or go to a node of the cluster. --dry-run "
                      "prints the job")
    path = write(program.out / "slurm" / "job.sh", text)
    (program.out / "runs").mkdir(exist_ok=True)  # by which the folder is seen to be a study's
    ended = subprocess.run(["sbatch", "--parsable", str(path)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    number = ended.stdout.strip().partition(";")[0]
    if not number:
        raise Failed(f"sbatch did not take {path}")
    print(f"job {number} makes the study; its messages: {path.parent}/job-{number}.txt; what is there by now: {collecting(plan, program)}")
    return ended.returncode


def script_of(plan, program):
    variables = {"program": os.path.abspath(plan["program"]), "python": sys.executable, "study": program.study, "out": os.path.abspath(plan["out"]),
                 "executor_is_gone": EXECUTOR_IS_GONE}
    lines = ["#!/bin/bash", f"# The study {name_of(plan)} as one job of Slurm.", *directives(plan)]
    lines += [f"{name}={shlex.quote(str(value))}" for name, value in variables.items()]
    lines.append(f"words=({' '.join(map(shlex.quote, [*plan['words'], '--task-seconds=' + format(plan['task_seconds'], 'g')]))})")
    return "\n".join(lines) + "\n\n" + (HERE / "slurm_job.sh").read_text("utf-8")


def directives(plan):
    """Ours, unless the same flag was given; what was given comes last, as it was written."""
    out = os.path.abspath(plan["out"])
    ours = {"--job-name": f"trigram-{name_of(plan)}", "--output": f"{out}/slurm/job-%j.txt", "--open-mode": "append", "--requeue": "",
            "--no-kill": "", "--signal": f"B:USR1@{NOTICE}"}
    given = {word.partition("=")[0] for word in plan["slurm"]}
    words = [flag + (f"={value}" if value else "") for flag, value in ours.items() if flag not in given]
    return [f"#SBATCH {shlex.quote(word)}" for word in [*words, *plan["slurm"]]]


def name_of(plan):
    return pathlib.Path(plan["study"]).stem


def collecting(plan, program):
    return shlex.join([*program.begin, *plan["words"], "--collect"])


def write(path, text):
    """By rename, so that nobody submits half of it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f".part-{os.getpid()}")
        new.write_text(text, "utf-8")
        new.replace(path)
    except OSError as error:
        raise Refused(f"cannot write '{path}': {error.strerror}") from error
    return path

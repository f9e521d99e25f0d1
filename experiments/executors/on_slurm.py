"""--executor slurm: one job, which makes a whole study or fit on the nodes that it gets, and comes back until it is whole."""

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
    if plan["subcommand"] == "study":
        (program.out / "runs").mkdir(exist_ok=True)  # by which the folder is seen to be a study's
    ended = subprocess.run(["sbatch", "--parsable", str(path)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    number = ended.stdout.strip().partition(";")[0]
    if not number:
        raise Failed(f"sbatch did not take {path}")
    print(f"job {number} makes the {noun_of(plan)}; its messages: {path.parent}/job-{number}.txt; what is there by now: {shlex.join(program.end())}")
    return ended.returncode


def script_of(plan, program):
    out = os.path.abspath(plan["folder"])
    variables = {"program": os.path.abspath(plan["program"]), "python": sys.executable, "out": out, "executor_is_gone": EXECUTOR_IS_GONE}
    subject = [program.study] if plan["subcommand"] == "study" else []
    words = [plan["subcommand"], *subject, *plan["words"], f"--{plan['folder_flag']}={out}", f"--task-seconds={plan['task_seconds']:g}"]
    lines = ["#!/bin/bash", f"# The {noun_of(plan)} {plan['title']} as one job of Slurm.", *directives(plan)]
    lines += [f"{name}={shlex.quote(str(value))}" for name, value in variables.items()]
    lines.append(f"words=({shlex.join(words)})")
    return "\n".join(lines) + "\n\n" + (HERE / "slurm_job.sh").read_text("utf-8")


def directives(plan):
    """Ours, unless the same flag was given; what was given comes last, as it was written."""
    out = os.path.abspath(plan["folder"])
    ours = {"--job-name": f"trigram-{plan['title']}", "--output": f"{out}/slurm/job-%j.txt", "--open-mode": "append", "--requeue": "",
            "--no-kill": "", "--signal": f"B:USR1@{NOTICE}"}
    given = {word.partition("=")[0] for word in plan["slurm"]}
    words = [flag + (f"={value}" if value else "") for flag, value in ours.items() if flag not in given]
    return [f"#SBATCH {shlex.quote(word)}" for word in [*words, *plan["slurm"]]]


def noun_of(plan):
    return "study" if plan["subcommand"] == "study" else "fit"


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

"""The command line of `trigram launch`."""

import os
import pathlib
import subprocess
import sys
from collections.abc import Sequence
from typing import NoReturn

from .here import Started, Watched
from .job_of_members import HOST, JobOfMembers, as_line, job_of, parser, python_path

USAGE = 2


def launch(words: Sequence[str]) -> NoReturn:
    told = parser().parse_args(words)
    try:
        job = job_of(told)
        if told.slurm:
            sys.exit(by_slurm(job, told.slurm_options, told.dry_run))
        started = on_hosts(job, hosts_of(told.hosts)) if told.hosts else here(job)
    except (ValueError, OSError) as error:
        print(f"trigram: launch: {error}", file=sys.stderr)
        sys.exit(USAGE)
    if told.dry_run:
        print("\n".join(line for line, _ in started))
        sys.exit(0)
    job.logs.mkdir(parents=True, exist_ok=True)
    sys.exit(Watched([one for _, one in started], job.grace).run())


Starts = list[tuple[str, Started]]
"""Each with its line for a shell."""


def here(job: JobOfMembers) -> Starts:
    numbers = range(job.first, job.first + job.here)
    return [(as_line(job.command, **job.environment(number)),
             Started(str(number), job.command, job.environment(number), job.logs / f"member-{number}.log", job.max_restarts)) for number in numbers]


def hosts_of(path: pathlib.Path) -> list[str]:
    hosts = [line.split("#")[0].strip() for line in path.read_text("utf-8").splitlines()]
    return [host for host in hosts if host]


def on_hosts(job: JobOfMembers, hosts: Sequence[str]) -> Starts:
    """A launcher on each, whose members' logs lie with the others."""
    whole = job._replace(members=job.here * len(hosts))
    starts: Starts = []
    for index, host in enumerate(hosts):
        remote = as_line(["env", f"PYTHONPATH={python_path()}", f"{HOST}={host}", *whole.words(index * job.here, job.here)])
        words = ["ssh", "-tt", "-oBatchMode=yes", host, f"cd {as_line([os.getcwd()])} && {remote}"]
        starts.append((as_line(words), Started(host, words, {}, job.logs / f"host-{host}.log", 0)))
    return starts


def by_slurm(job: JobOfMembers, options: str, dry_run: bool) -> int:
    """Hands one job to Slurm, in which the death of a task ends no other."""
    script = slurm_script(job, options)
    if dry_run:
        print(script, end="")
        return 0
    job.logs.mkdir(parents=True, exist_ok=True)
    return subprocess.run(["sbatch"], input=script, text=True).returncode


def slurm_script(job: JobOfMembers, options: str) -> str:
    member = as_line(job.words("$SLURM_PROCID", 1)).replace("'$SLURM_PROCID'", '"$SLURM_PROCID"')
    return "\n".join(["#!/bin/bash", f"#SBATCH --ntasks={job.here} --no-kill --output={job.logs / 'slurm.log'} {options}".rstrip(),
                      f"#SBATCH --signal=B:TERM@{job.grace:g}",
                      f"export PYTHONPATH={as_line([python_path()])}",
                      f"srun --no-kill --wait=0 --kill-on-bad-exit=0 bash -c {as_line([f'{HOST}=$(hostname) exec {member}'])} &",
                      "trap 'kill -TERM %1' TERM  # Slurm's warning, which srun passes on to members", "wait; wait %1", ""])

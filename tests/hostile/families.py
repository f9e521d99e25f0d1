"""Every kind of attack, by name: the inputs with their share, and what is counted by itself."""

import data_files
import flags
import jobs
import judge
import kills
import platforms
import results
import schedules
import scratch as listings
import settings_files
import start
import surroundings

# Share of a hundred inputs.
INPUTS = {
    "flags": (57, flags.attempt),
    "clusters": (6, settings_files.cluster),
    "flag_files": (5, settings_files.flags),
    "studies": (6, settings_files.study),
    "data": (10, data_files.attempt),
    "platforms": (10, platforms.attempt),
    "surroundings": (4, surroundings.attempt),
    "results": (2, results.attempt),
}


def input_trial(make):
    def trial(random, index, catalogue, scratch, patience):
        scratch.empty()
        attempt = make(random, index, catalogue, scratch)
        before = scratch.listing()
        output = attempt.output or None
        ending = start.run([catalogue.program, *attempt.words], scratch, patience, attempt.environment, output)
        touched = listings.touched(before, scratch.listing(), attempt.allowed)
        said = judge.last_line(ending.complained)
        return f"{attempt.command('trigram')}\n  {said}", judge.faults_of(attempt, ending, touched, scratch.place), ending
    return trial


TRIALS = {name: input_trial(make) for name, (_, make) in INPUTS.items()}
TRIALS.update(schedules=schedules.trial, kills=kills.trial, jobs=jobs.trial)  # each gives (the command, faults, an Ending or None)


def plan(inputs, schedule_count, kill_count, job_count):
    """(family, index) of everything to do, each family spread over the whole."""
    counts = {name: -(-inputs * share // 100) for name, (share, _) in INPUTS.items()}
    counts.update(schedules=schedule_count, kills=kill_count, jobs=job_count)
    items = [((i + 0.5) / count, name, i) for name, count in counts.items() for i in range(count)]
    return [(name, index) for _, name, index in sorted(items)]

"""A search from its plan to its files: goes on where one was stopped, and refuses to mix two."""

import csv
import io
import json
import sys

import new_file
import tables
import verdict
from measure import measure_of
from runs import Pool
from search import Search, show
from together import SearchTogether
from unusable import Unusable

# What another search in the same folder would have otherwise; more trials, or other runs at a time, go on.
SAME = ["for", "settings", "choices", "batch", "launcher", "together", "build"]


def search_and_judge(plan, folder):
    """Returns the summary."""
    require_same_search(plan, folder)
    measure = measure_of(plan["for"])
    pool = Pool(plan, folder)
    search = SearchTogether(plan, pool, measure, folder) if plan["together"] else Search(plan, pool, measure)
    for trials in search.tried():
        show(trials, plan, measure.words(search.best().run.json))
        if len(trials) == 1:
            write(folder / "tune.json", json.dumps({"plan": plan}, indent=2) + "\n")
        write(folder / "trials.csv", trials_csv(trials, plan, measure))
    if sys.stderr.isatty():
        print(file=sys.stderr)
    judged = verdict.judge(search, pool)
    write(folder / "best.cfg", best_cfg(plan, search.best(), measure))
    write(folder / "tune.json", json.dumps({"plan": plan, "trials": trial_facts(search.trials, measure), "verdict": judged}, indent=2) + "\n")
    text = verdict.summary(plan, search, judged, folder)
    write(folder / "summary.txt", text)
    return text


def require_same_search(plan, folder):
    path = folder / "tune.json"
    if not path.exists():
        return
    before = tables.json_of(path)
    before = before.get("plan") if isinstance(before, dict) else None
    if not isinstance(before, dict):
        raise Unusable(f"'{path}' is of no search; give another --out")
    for name in SAME:
        if before.get(name) != plan[name]:
            raise Unusable(f"'{folder}' holds a search with {difference(name, before.get(name), plan[name])}; "
                           "give another --out, or what it was")


def difference(name, before, now):
    if name == "settings" and isinstance(before, dict):
        flag = next(flag for flag in sorted({*before, *now}) if before.get(flag) != now.get(flag))
        return f"{shown(flag, before.get(flag))}, not with {shown(flag, now.get(flag))}"
    if name == "choices":
        return "another space"
    if name == "build":
        return "another build of the program"
    return f"{shown(name, before)}, not with {shown(name, now)}"


def shown(flag, value):
    if isinstance(value, dict):
        value = value.get("measure") if value.get("goal") is None else f"{value.get('measure')}={value['goal']:g}"
    text = str(value)
    return f"no --{flag}" if value in (None, "") else f"--{flag} {text if text.isprintable() else repr(text)}"


def trials_csv(trials, plan, measure):
    keys = list(dict.fromkeys(choice["key"] for choice in plan["choices"]))
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["trial", "value", *keys, "folder", "refused"])
    for fact in trial_facts(trials, measure):
        value = "" if fact["value"] is None else repr(fact["value"])
        table.writerow([fact["trial"], value, *(fact["chosen"].get(key, "") for key in keys), fact["folder"], fact["refused"] or ""])
    return text.getvalue()


def trial_facts(trials, measure):
    return [{"trial": trial.number, "chosen": trial.chosen, "folder": f"trials/{trial.run.folder.name}",
             "value": measure.value(trial.run.json) if trial.run.json else None, "refused": trial.run.refusal} for trial in trials]


def best_cfg(plan, best, measure):
    """For run --config: all flags of the run that was best, those that were chosen last."""
    given = {key: value for key, value in plan["settings"].items() if key not in best.chosen}
    lines = [f"# Found by trigram tune: {measure.name} {measure.words(best.run.json)}, the best of {plan['trials']} trials.\n"]
    lines += [f"{key} = {value}\n" for key, value in sorted(given.items())]
    lines += ["# Chosen by the search.\n"] * bool(best.chosen)
    lines += [f"{key} = {value}\n" for key, value in best.chosen.items()]
    return "".join(lines)


def write(path, text):
    new_file.write(path, lambda file: file.write(text.encode()))

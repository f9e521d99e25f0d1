"""What a page says of a run, a study or a search: its title, its figures, its tables, and the command that makes it again."""

import csv
import re
import shlex

import tables
from unusable import Unusable

MOST_ROWS = 1000
DIGITS = 4
MOST_WHOLE = 1e15  # beyond, not every whole number is one
OF_A_CALL = {"out", "progress", "plot", "resume"}  # of how a run was started, not of what it computes


def of(folder):
    """The facts of that folder, by what it holds. Raises Unusable for files that are not as the program writes them."""
    name, facts = next(((name, facts) for name, facts in (("study.json", of_study), ("tune.json", of_search)) if (folder / name).exists()),
                       ("run.json", of_run))
    try:
        return facts(folder, tables.json_of(folder / name))
    except (AttributeError, KeyError, TypeError) as error:
        raise Unusable(f"'{folder / name}' is not as trigram writes it ({type(error).__name__}: {error})") from error


def words(flags):
    """Flags as words of a command line; those that are empty are left out."""
    return " ".join(f"--{key} {shlex.quote(str(value))}" for key, value in flags.items() if key not in OF_A_CALL and str(value) != "")


def shown(value):
    """A number in as many digits as the program prints; whole numbers and everything else as they are."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < MOST_WHOLE else f"{value:.{DIGITS}g}"
    return value


def shown_text(text):
    """The same of a cell of a table, where it is written as a number with a point or an exponent."""
    if not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?", text) or text.lstrip("-").isdigit():
        return text
    return shown(float(text))


def pairs(title, values, note=""):
    """A table of two columns: the names and values of an object that are neither empty nor objects themselves."""
    rows = [(key, shown(value)) for key, value in values.items() if not isinstance(value, (dict, list)) and value not in (None, "")]
    return {"title": title, "note": note, "columns": [], "rows": rows}


def csv_table(title, path):
    def parse(file):
        rows = csv.reader(file)
        return next(rows, []), list(rows)
    columns, rows = tables.read(path, parse)
    note = f"The first {MOST_ROWS} of {len(rows)} rows." if len(rows) > MOST_ROWS else ""
    return {"title": title, "note": note, "columns": columns, "rows": [list(map(shown_text, row)) for row in rows[:MOST_ROWS]]}


def text_of(path):
    return tables.read(path, lambda file: file.read()) if path.exists() else ""


def page(title, kind, command, **more):
    return {"title": title, "kind": kind, "command": command, "headline": [], "text": "", "warnings": [], "tables": [], "build": {}} | more


def of_run(folder, run):
    configuration, summary = run["configuration"], run["summary"]
    flags = configuration["flags"]
    headline = [(name, shown(summary[key])) for name, key in (
        ("seconds an iteration, mean", "iteration_s"), ("samples a second", "samples_per_s"), ("loss", "loss"), ("accuracy", "accuracy"),
        ("bytes per step and rank", "bytes_per_step_mean")) if summary.get(key) is not None]
    scored = [pairs("Summary", summary), pairs("Where rank 0's time goes, seconds a step", summary["breakdown"])]
    evaluations = folder / "evals.csv"
    scored += [csv_table("Evaluations", evaluations)] if evaluations.exists() else []
    return page(f"{run['workload']['description']}, {configuration['algorithm']} on {configuration['ranks']} ranks", "run",
                f"trigram run {words(flags)}", headline=headline, warnings=run.get("backend", {}).get("warnings", []),
                tables=[*scored, pairs("Error bar", run.get("error_bar") or {}), pairs("Flags", flags), pairs("Cluster", configuration.get("cluster", {})),
                        pairs("Files that were read, and digests of them", run.get("inputs", {}))],
                build=run.get("build", {}))


def of_study(folder, study):
    listed = ", ".join(row["name"] for row in study["rows"])
    swept = {axis["key"]: " ".join(map(str, axis["values"])) for axis in study["axes"]}
    return page(study["title"], "study", f"trigram study {shlex.quote(study['name'])}", text=text_of(folder / "table.txt"),
                tables=[pairs("Rows and what is swept", {"rows": listed} | swept), pairs("Flags of all runs", study.get("run", {})),
                        pairs("Calibrated values", study["calibration"]["values"], study["calibration"].get("source", "")),
                        csv_table("Runs", folder / "runs.csv")],
                build=study.get("build", {}))


def of_search(folder, search):
    plan = search["plan"]
    goal = plan["for"]
    aim = goal["measure"] + (f"={goal['goal']}" if goal.get("goal") is not None else "")
    trials = folder / "trials.csv"
    return page(f"Search for {aim}", "search", f"trigram tune --for {aim} {words(plan.get('settings', {}))}", text=text_of(folder / "summary.txt"),
                tables=[pairs("Flags that the search began at", plan.get("settings", {})),
                        *([csv_table("Trials", trials)] if trials.exists() else [])],
                build=plan.get("build", {}))


def of_advice(advice):
    """What `trigram advise` says."""
    risks = [(one["name"], one["risks"], one["script"]) for one in advice["methods"] if one["name"] in advice["fastest"]]
    return page("Which method would make these steps shorter", "prediction", f"trigram advise {advice['command']}", text=advice["text"],
                tables=[{"title": "What the fastest risk for learning, and their line in a script", "note": "",
                         "columns": ["method", "risks", "script"], "rows": risks},
                        {"title": "Left out", "note": "", "columns": [], "rows": [(one["name"], one["why"]) for one in advice["left_out"]]}])

"""What the page lets people explore: learning curves, a grid of times over what was swept, and a step's timeline, each as an object that
page.js draws. Which of them a folder has is decided by what it holds."""

import checked
import curve_data
import grid_data
import learning_plot
import timeline_data

TIMES = ("summary.iteration_s", "summary.iteration_median_s")


def of_run(folder):
    run = checked.run(folder / "run.json")
    found = [curve_data.of_run(run)]
    if (folder / "trace.json").exists():
        found.append(timeline_data.of(folder))
    return [one for one in found if one]


def of_study(folder):
    study = checked.study(folder / "study.json")
    runs = [run for run in checked.runs(folder, study) if not run["variant"]]
    learning_plot.add_worst_ranks(folder, runs)
    grid = grid_data.of(study, runs) if study.get("map") or study["measure"].get("value") in TIMES else None
    return [one for one in (grid, *curve_data.of_study(study, runs)) if one]


def of(folder):
    """Objects with `kind` (curves, grid or timeline), `title` and what is drawn, numbers in the units of their names."""
    if (folder / "study.json").exists():
        return of_study(folder)
    return of_run(folder) if (folder / "run.json").exists() else []

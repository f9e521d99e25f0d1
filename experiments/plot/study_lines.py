"""The lines and panels of a study's pictures: which runs belong to which, by the study's own order."""


def line_of(study, run, name):
    """`name` of a run ("row" or "series") with the swept keys that make lines of their own, as tables have it."""
    return ", ".join([run[name]] + [f"{key}={run[key]}" for key in study.get("line_keys", [])])


def lines_of(study, runs, name):
    """The lines in the order of the study, without repeats."""
    return list(dict.fromkeys(line_of(study, run, name) for run in runs))


def panels_of_rows(study):
    """The panels that rows name, in the study's order; [""] where none does."""
    return list(dict.fromkeys(row["panel"] for row in study["rows"] if row.get("panel"))) or [""]


def in_panel(study, runs, panel):
    """The runs of rows of this panel, and of rows that are in every one."""
    rows = {row["name"] for row in study["rows"] if row.get("panel", "") in ("", panel)}
    return [run for run in runs if run["row"] in rows]

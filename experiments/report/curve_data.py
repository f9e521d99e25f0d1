"""Learning curves as numbers: medians and ranges over seeds of each line, against steps, time, bytes and expenses."""

import against
import learning_plot
import style
from study_lines import lines_of, spread_note

FEWEST = 2  # evaluations that make a line


def rounded(value):
    """Six digits, which is more than a screen shows."""
    return float(f"{value:.6g}")


def line(label, curves, keys, scales, colour):
    """One line: what it is drawn against by scale, and of each score the median and the range over its runs."""
    scores = {}
    for key in keys:
        points = learning_plot.band(curves, key, scales)
        scores[key] = {"x": {scale[0]: [rounded(point[scale[0]]) for point in points] for scale in scales},
                       **{end: [rounded(point[end]) for point in points] for end in ("middle", "low", "high")}}
    return {"label": label, "colour": colour, "runs": len(curves), "scores": scores}


def figure(title, curves, lines, goal, note):
    """None where no line has enough points. `curves` are those of each line's seeds."""
    keys = learning_plot.keys_of(curves)
    points = [point for some in curves.values() for curve in some for point in curve]
    if not keys or all(len(curve) < FEWEST for some in curves.values() for curve in some):
        return None
    scales, colours = against.scales(points, {}), style.colours_of(lines)
    return {"kind": "curves", "title": title, "goal": goal, "note": note,
            "scales": [{"key": key, "label": label} for key, _, label in scales],
            "scores": [{"key": key, "label": learning_plot.LABELS[key]} for key in keys],
            "lines": [line(label, curves[label], keys, scales, colours[label]) for label in lines if label in curves]}


def of_run(run):
    if not run["curve"]:
        return None
    label = run["configuration"]["flags"]["algorithm"]
    return figure("Learning curves", {label: [run["curve"]]}, [label], None, "")


def of_study(study, runs):
    """One for each value of the first swept key and each panel of rows, as the pictures are."""
    found = []
    for value, panel, said in learning_plot.pictures(study):
        some = learning_plot.runs_of_picture(study, runs, value, panel)
        curves = learning_plot.curves_by_line(study, some)
        found.append(figure(", ".join(["Learning curves", *said]), curves, lines_of(study, some, "row"), study.get("goal", {}).get("loss"),
                            spread_note([len(one) for one in curves.values()], "bands")))
    return found

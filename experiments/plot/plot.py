"""Draws the result files of a run or of a study, as PNG and SVG, into the folder that holds them."""

import pathlib
import sys

NO_MATPLOTLIB = 3


def main(words):
    if len(words) != 1:
        print("usage: plot.py FOLDER", file=sys.stderr)
        return 2
    try:
        import matplotlib
    except ImportError:
        print("plot.py: matplotlib is missing; install python3-matplotlib", file=sys.stderr)
        return NO_MATPLOTLIB
    matplotlib.use("Agg")
    import run_plots
    import study_plots

    folder = pathlib.Path(words[0])
    draw = study_plots.draw if (folder / "study.json").exists() else run_plots.draw
    for path in draw(folder):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

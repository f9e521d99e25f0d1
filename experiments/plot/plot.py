"""Draws the result files of a run, of a study or of a search into the folder that holds them, or into another; those of several runs
beside each other, where no folder is named into the first one's. Prints the pictures' paths and ends with 0, or one message and ends
with another code. It is started by trigram, as python3 -I."""

import argparse
import json
import os
import pathlib
import sys

FAILED = 1
UNUSABLE = 2
MODULE_MISSING = 3

# Pictures depend on results alone: the modules and the matplotlibrc that count are those beside this file.
HERE = os.path.dirname(os.path.abspath(__file__))


def draw(folder, *others):
    import matplotlib
    matplotlib.use("Agg")
    import compared_plots
    import run_plots
    import study_plots
    import tune_plots
    if others:
        return compared_plots.draw([folder, *others])
    plots = next((plots for name, plots in (("study.json", study_plots), ("tune.json", tune_plots)) if (folder / name).exists()), run_plots)
    return plots.draw(folder)


def parsed(words):
    parser = argparse.ArgumentParser(prog="plot.py", allow_abbrev=False)
    parser.add_argument("--formats", default="png,svg", help="of each picture: png, svg and pdf, apart by commas")
    parser.add_argument("--columns", type=int, help="of a two-column paper, that a picture is as wide as: 1 or 2")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the pictures; that of the results, or of the first, where none is given")
    parser.add_argument("--curves", type=json.loads, default={}, help="how learning curves are drawn, as study.json has it")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    return parser.parse_args(words)


def main(words):
    arguments = parsed(words)
    folders = [folder.absolute() for folder in arguments.folders]
    out = arguments.out and arguments.out.absolute()
    sys.path.insert(0, HERE)
    os.chdir(HERE)
    os.environ.pop("MPLBACKEND", None)
    import new_file
    import script_end
    import unusable
    try:
        import style
        import against
        import checked
        style.set_paper(arguments.formats.split(","), arguments.columns, out)
        checked.view(arguments.curves, "--curves")
        against.given = arguments.curves
        with new_file.all_or_none():
            paths = draw(*folders)
        for path in paths:
            print(os.path.join(arguments.out or arguments.folders[0], path.name))
    except unusable.Unusable as error:
        print(error)
        return UNUSABLE
    except ImportError as error:
        print(error)
        return MODULE_MISSING
    except Exception as error:
        print(script_end.words_of(error))
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Writes report.html of a run, a study or a search into the folder that holds it: one page that needs no other file. Its standard
input is a JSON with the folder. It is started by trigram, as python3 -I; ends with the program's exit codes, and with 3 where
jinja2, matplotlib or plotly is missing."""

import base64
import json
import os
import pathlib
import sys

FAILED = 1
UNUSABLE = 2
MISSING = 3

SCRIPTS = ["controls", "chart", "curves", "grid", "timeline", "page"]
HERE = pathlib.Path(__file__).resolve().parent


def drawn(folder):
    """Its pictures, drawn anew, each with its file as an address that is the picture itself."""
    import plot
    pictures = [path for path in plot.draw(folder) if path.suffix == ".svg"]
    return [(path.stem.replace("_", " "), base64.b64encode(path.read_bytes()).decode()) for path in pictures]


def page_of(folder):
    import explored
    import facts
    import jinja2
    import plotly_source
    templates = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True,
                                   undefined=jinja2.StrictUndefined)
    pictures = drawn(folder)  # looks at every value first
    figures = explored.of(folder)
    return templates.get_template("page.html").render(
        page=facts.of(folder), pictures=pictures, figures=figures, style=(HERE / "page.css").read_text(),
        packed_plotly=plotly_source.packed() if figures else "",
        scripts=[(HERE / f"{name}.js").read_text() for name in SCRIPTS])


def write(folder):
    import new_file
    page = page_of(folder).encode()
    new_file.write(folder / "report.html", lambda file: file.write(page))


def main():
    given = json.load(sys.stdin)["folder"]
    folder = pathlib.Path(given).absolute()
    plots = HERE.parent / "plot"
    sys.path[:0] = [str(HERE), str(plots)]
    os.chdir(plots)  # for its matplotlibrc
    os.environ.pop("MPLBACKEND", None)
    import unusable
    try:
        write(folder)
    except unusable.Unusable as error:
        print(f"trigram: cannot report on '{given}': {error}", file=sys.stderr)
        return UNUSABLE
    except ImportError as error:
        print(f"trigram: {error}", file=sys.stderr)
        return MISSING
    print(os.path.join(given, "report.html"))
    return 0


if __name__ == "__main__":
    sys.exit(main())

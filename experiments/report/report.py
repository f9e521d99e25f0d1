"""Writes one page that needs no other file: of a run, a study or a search, into the folder that holds it, or of an advice. Its standard
input is a JSON with the page's path and, of an advice, what it says. It is started by trigram, as python3 -I; ends with the program's exit codes, and with 3 where
jinja2, matplotlib or plotly is missing."""

import json
import os
import pathlib
import sys
import urllib.parse

FAILED = 1
UNUSABLE = 2
MISSING = 3

SCRIPTS = ["controls", "chart", "curves", "grid", "timeline", "advice", "page"]
HERE = pathlib.Path(__file__).resolve().parent


def drawn(folder):
    """Its pictures, drawn anew, each with its file as an address that is the picture itself."""
    import plot
    pictures = [path for path in plot.draw(folder) if path.suffix == ".svg"]
    return [(path.stem.replace("_", " "), address(path.read_text())) for path in pictures]


def address(picture):
    """Of an SVG, a quarter shorter than by base64: letters that an address or an attribute may not have are escaped."""
    return "data:image/svg+xml," + urllib.parse.quote(picture, safe=" !$&'()*+,-./:;=?@[]^_`{|}~")


def rendered(page, pictures, figures):
    import jinja2
    import plotly_source
    templates = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True,
                                   undefined=jinja2.StrictUndefined)
    return templates.get_template("page.html").render(
        page=page, pictures=pictures, figures=figures, style=(HERE / "page.css").read_text(),
        packed_plotly=plotly_source.packed() if figures else "",
        scripts=[(HERE / f"{name}.js").read_text() for name in SCRIPTS])


def page_of(folder):
    import explored
    import facts
    pictures = drawn(folder)  # looks at every value first
    return rendered(facts.of(folder), pictures, explored.of(folder))


def page_of_advice(advice):
    import facts
    figure = {"kind": "advice", "title": "A step with each method", "note": "", "today": advice["today"], "methods": advice["methods"]}
    return rendered(facts.of_advice(advice), [], [figure])


def write(path, page):
    import new_file
    new_file.write(path, lambda file: file.write(page.encode()))


def main():
    given = json.load(sys.stdin)
    path = pathlib.Path(given["page"]).absolute()
    plots = HERE.parent / "plot"
    sys.path[:0] = [str(HERE), str(plots)]
    os.chdir(plots)  # for its matplotlibrc
    os.environ.pop("MPLBACKEND", None)
    import unusable
    try:
        write(path, page_of_advice(given["advice"]) if "advice" in given else page_of(path.parent))
    except unusable.Unusable as error:
        print(f"trigram: cannot report on '{pathlib.Path(given['page']).parent}': {error}", file=sys.stderr)
        return UNUSABLE
    except ImportError as error:
        print(f"trigram: {error}", file=sys.stderr)
        return MISSING
    print(given["page"])
    return 0


if __name__ == "__main__":
    sys.exit(main())

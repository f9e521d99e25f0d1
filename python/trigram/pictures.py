"""Pictures of result files, drawn as `trigram plot` does."""

import base64
import html
import pathlib
import subprocess
import sys
from collections.abc import Iterator, Sequence

from . import program
from .extras import how_to_install


class Pictures(Sequence[pathlib.Path]):
    """PNG files that were drawn, each with an SVG file beside it. A notebook shows them."""

    def __init__(self, paths: Sequence[pathlib.Path]) -> None:
        self.paths = list(paths)

    def __len__(self) -> int:
        return len(self.paths)

    def __iter__(self) -> Iterator[pathlib.Path]:
        return iter(self.paths)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self.paths[index]

    def named(self, name: str) -> "Pictures":
        """Those whose file begins with `name`. Raises ValueError where none was drawn."""
        found = [path for path in self.paths if path.stem.startswith(name)]
        if not found:
            drawn = ", ".join(path.stem for path in self.paths) or "nothing"
            raise ValueError(f"there is nothing to draw for '{name}'; drawn were: {drawn}")
        return Pictures(found)

    def __repr__(self) -> str:
        return "\n".join(map(str, self.paths))

    def _repr_html_(self) -> str:
        return "".join(f'<img alt="{html.escape(path.stem)}" style="max-width: 100%" '
                       f'src="data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}">'
                       for path in self.paths)


def draw(*folders: pathlib.Path) -> Pictures:
    """Draws what a folder holds, or several runs beside each other, into the first folder, with the matplotlib of this Python.
    Raises ImportError where a module that draws is missing, ValueError for files that cannot be drawn."""
    script = program.shipped("plot/plot.py")
    ended = subprocess.run([sys.executable, "-B", str(script), *(str(folder.resolve()) for folder in folders)], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
    text = ended.stdout.strip()
    if ended.returncode == 0:
        return Pictures([path for path in map(pathlib.Path, text.splitlines()) if path.suffix == ".png"])
    raise error_of(ended.returncode, text or ended.stderr.strip())


def error_of(code: int, text: str) -> Exception:
    """By the exit codes of plot.py."""
    if code == 3:
        return ImportError(f"pictures need what is missing here ({text}); {how_to_install('matplotlib', 'fastjsonschema')}")
    if code == 2:
        return ValueError(text)
    return RuntimeError(f"plotting failed: {text}")

"""Tables of result files, as pandas has them and as people read them."""

import html
import json
import pathlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .extras import how_to_install

if TYPE_CHECKING:
    import pandas


def frame_of(rows: object) -> "pandas.DataFrame":
    return pandas_module().DataFrame(rows)


def read_csv(path: pathlib.Path) -> "pandas.DataFrame":
    """With numbers to the last bit. Raises ValueError, naming the file, where it is not there or no table."""
    pandas = pandas_module()
    try:
        return pandas.read_csv(path, float_precision="round_trip")
    except (OSError, ValueError) as error:  # what pandas raises for a table is a ValueError
        raise ValueError(f"cannot read '{path}': {error}") from error


def read_json(path: pathlib.Path) -> dict[str, Any]:
    """Raises ValueError, naming the file, where it is not there or no JSON object."""
    try:
        facts = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"cannot read '{path}': {error}") from error
    if not isinstance(facts, dict):
        raise ValueError(f"cannot read '{path}': it holds no JSON object")
    return facts


def pandas_module() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(f"pandas is missing ({error}); {how_to_install('pandas')}") from error
    return pandas


def html_table(rows: Iterable[Iterable[object]], caption: str = "") -> str:
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{html.escape(caption)}</caption>{body}</table>"


def short(value: object) -> str:
    """A number with the four digits that people read."""
    if isinstance(value, bool) or value is None:
        return "none" if value is None else str(value)
    return f"{value:.4g}" if isinstance(value, (int, float)) else str(value)

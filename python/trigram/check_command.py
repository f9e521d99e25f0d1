"""`trigram check FILE.py:CLASS`, where FILE.py is a file of Python: an algorithm that no program knows."""

import importlib.util
import pathlib
import sys
from collections.abc import Sequence
from typing import Any, NoReturn


def is_meant(words: Sequence[str]) -> bool:
    """By the words of a command line."""
    return len(words) == 2 and words[0] == "check" and ".py:" in words[1]


def named(place: str) -> Any:
    """The class of a file, as mine.py:LocalSgd. Raises ValueError where there is none."""
    path, _, name = place.rpartition(":")
    if not pathlib.Path(path).is_file():
        raise ValueError(f"there is no file {path}; give FILE.py:CLASS, as mine.py:LocalSgd")
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(pathlib.Path(path).parent))
    spec.loader.exec_module(module)
    if not hasattr(module, name):
        raise ValueError(f"{path} has no {name}; give FILE.py:CLASS, as mine.py:LocalSgd")
    return getattr(module, name)


def check(place: str) -> NoReturn:
    from .training import check
    try:
        came = check(named(place))
    except (ValueError, RuntimeError) as error:
        sys.exit(f"trigram: {error}")
    print(came)
    sys.exit(0 if came.holds else 1)

"""What the program wrote, as objects."""

import html
import io
import json
import pathlib
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Optional, Union

from . import pictures, tables
from .bounds import what_bounds

if TYPE_CHECKING:
    import pandas


class Scratch:
    """A temporary folder, which goes with the last object that refers to this one."""

    def __init__(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trigram-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


class Run:
    """One training: the files of `trigram run`. Tables are read when they are first asked for.

    `facts` is run.json: `configuration`, `workload`, `backend`, `summary`, `curve`. Raises ValueError for a folder
    without one."""

    def __init__(self, folder: "str | pathlib.Path", scratch: Optional[Scratch] = None) -> None:
        self.folder = pathlib.Path(folder)
        self.facts = tables.read_json(self.folder / "run.json")
        for key, inside in (("summary", "iteration_s"), ("configuration", "flags"), ("workload", "description")):
            if not isinstance(self.facts.get(key), dict) or inside not in self.facts[key]:
                raise ValueError(f"'{self.folder / 'run.json'}' is no record of a run: it has no {key}.{inside}")
        self._scratch = scratch

    @property
    def summary(self) -> dict[str, Any]:
        """What the run came to: seconds an iteration (`iteration_s`, the mean of rank 0), `samples_per_s`, bytes a step
        and rank, the last `loss` and `accuracy` (None where the workload has none), seconds of the clock
        (`clock_s`; `simulated_s` too where that is a simulation's) and of this machine (`wall_s`)."""
        return dict(self.facts["summary"])

    @property
    def flags(self) -> dict[str, str]:
        """The flags of `trigram run` with their values, defaults included."""
        return dict(self.facts["configuration"]["flags"])

    @cached_property
    def steps(self) -> "pandas.DataFrame":
        """steps.csv, a row a step: seconds (`time_s`, `compute_s`, `wire_s`, …), bytes, the loss of the batch, and what
        the algorithm recorded."""
        return tables.read_csv(self.folder / "steps.csv")

    @cached_property
    def evals(self) -> "pandas.DataFrame":
        """evals.csv, a row an evaluation: loss and accuracy of the mean model and of the worst rank, by step and time
        in seconds."""
        return tables.read_csv(self.folder / "evals.csv")

    @cached_property
    def trace(self) -> "pandas.DataFrame":
        """trace.json, a row for each thing that a lane of a rank did: begin and length in seconds, bytes. Raises
        ValueError where the run was made without trace=True."""
        events = tables.read_json(self.folder / "trace.json")["traceEvents"]
        return tables.frame_of([{"rank": event["pid"], "lane": event["tid"], "name": event["name"],
                                 "activity": event["cat"], "begin_s": event["ts"] / 1e6, "seconds": event["dur"] / 1e6,
                                 "bytes": event["args"]["bytes"]} for event in events if event["ph"] == "X"])

    def plot(self, *others: "Run") -> pictures.Pictures:
        """Draws all pictures into the folder, as `trigram plot`: learning curves, where time goes, steps; with other runs,
        as of a real job and of its simulation, all beside each other."""
        return pictures.draw(self.folder, *(other.folder for other in others))

    def plot_curves(self) -> pictures.Pictures:
        """Loss and accuracy against time and against bytes."""
        return self.plot().named("curves")

    def plot_breakdown(self) -> pictures.Pictures:
        """Where rank 0's time goes."""
        return self.plot().named("breakdown")

    def plot_steps(self) -> pictures.Pictures:
        """The loss of each step, and what the algorithm recorded."""
        return self.plot().named("steps")

    @cached_property
    def bound(self) -> str:
        """What bounds a step, in one sentence: compute or communication, and there the network or the codec."""
        return what_bounds(self.folder / "steps.csv")

    def _title(self) -> str:
        return f"{self.facts['workload']['description']}, {self.flags.get('algorithm')}"

    def _lines(self) -> list[tuple[str, str]]:
        keys = {"iteration_s": "iteration (s)", "samples_per_s": "samples/s", "bytes_per_step_mean": "bytes per step and rank",
                "bytes_per_step_between_nodes": "bytes between nodes",
                "loss": "loss", "accuracy": "accuracy", "clock_s": "took (s)"}
        shown = [(name, tables.short(self.summary.get(key))) for key, name in keys.items()]
        if bound := self.bound:
            shown.insert(0, ("bound", bound))
        if "stopped" in self.facts:
            shown.insert(0, ("stopped early", str(self.facts["stopped"])))
        return [*shown, ("ranks", str(self.facts["configuration"].get("ranks"))), ("files", f"{self.folder}/")]

    def __repr__(self) -> str:
        return "\n  ".join([self._title(), *(f"{name:22} {value}" for name, value in self._lines())])

    def _repr_html_(self) -> str:
        return tables.html_table(self._lines(), self._title())


class Study(Mapping[str, Run]):
    """Many runs: the files of `trigram study`. A mapping from a run's folder, as "runs/full-1a2b", to the Run.

    It may be unfinished: then it holds the runs that are there. Raises ValueError for a folder of no study."""

    def __init__(self, folder: "str | pathlib.Path") -> None:
        self.folder = pathlib.Path(folder)
        self.finished = (self.folder / "study.json").is_file()
        if not self.finished and not (self.folder / "runs").is_dir():
            raise ValueError(f"'{self.folder}' holds no study: neither study.json nor runs/")
        self._runs: dict[str, Run] = {}

    @cached_property
    def facts(self) -> dict[str, Any]:
        """study.json: rows, what is swept, published points, calibration. Raises ValueError for an unfinished study."""
        return tables.read_json(self.folder / "study.json")

    @cached_property
    def runs(self) -> "pandas.DataFrame":
        """A row a run: its folder, its row of the study, what was swept, and `measure`. Of an unfinished study the
        folders of runs that are there, with their summaries."""
        if self.finished:
            return tables.read_csv(self.folder / "runs.csv")
        return tables.frame_of([{"folder": name} | run.summary for name, run in self.items()])

    @property
    def table(self) -> str:
        """The table that the program printed, with measures, errors and warnings."""
        if not self.finished:
            return f"unfinished study with {len(self)} runs in {self.folder}/; the same command continues"
        return (self.folder / "table.txt").read_text("utf-8").rstrip()

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(f"runs/{path.parent.name}" for path in self.folder.glob("runs/*/run.json")))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __getitem__(self, folder: str) -> Run:
        if folder not in self._runs:
            if folder not in list(iter(self)):
                raise KeyError(folder)
            self._runs[folder] = Run(self.folder / folder)
        return self._runs[folder]

    def plot(self) -> pictures.Pictures:
        """Draws all pictures into the folder, as `trigram plot`."""
        return pictures.draw(self.folder)

    def plot_sweep(self) -> pictures.Pictures:
        """The measure against what is swept, beside published points."""
        return self.plot().named(self.facts["name"])

    def plot_curves(self) -> pictures.Pictures:
        """Loss and accuracy against time and bytes, a picture for each value of what is swept."""
        return self.plot().named("curves")

    def plot_breakdown(self) -> pictures.Pictures:
        """Where time goes, a bar a row."""
        return self.plot().named("breakdown")

    def __repr__(self) -> str:
        return self.table

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.table)}</pre>"


class Bench:
    """Times of a collective: `text` is what the program printed, `rows` a DataFrame of the same table, a row a size, in
    nccl-tests' columns: microseconds, GB/s, and the closed form where there is one."""

    def __init__(self, text: str, csv: str) -> None:
        self.text = text
        self._csv = csv

    @cached_property
    def rows(self) -> "pandas.DataFrame":
        return tables.pandas_module().read_csv(io.StringIO(self._csv), na_values="-")

    def __repr__(self) -> str:
        return self.text.rstrip()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


class Imported:
    """What was read from files of other tools: `text` is what the program printed, with what it could not know; `profile`, `cluster` and
    `measurements` are the files that it wrote, None where there is none."""

    def __init__(self, text: str, folder: pathlib.Path) -> None:
        self.text = text
        self._wrote = set(json.loads((folder / "import.json").read_text("utf-8"))["wrote"])
        self._folder = folder.resolve()
        self.profile = self._file("profile.csv")
        self.cluster = self._file("cluster.cfg")
        self.measurements = self._file("measurements.csv")

    def _file(self, name: str) -> Optional[pathlib.Path]:
        return self._folder / name if name in self._wrote else None

    def __repr__(self) -> str:
        return self.text.rstrip()


class Calibration:
    """A measured cluster: `text` is what the program printed, with fits and residuals; `path` the cluster file, to be
    given as `cluster` to `run`, `bench` and in studies."""

    def __init__(self, text: str, path: pathlib.Path, scratch: Optional[Scratch] = None) -> None:
        self.text = text
        self.path = path.resolve()
        self._scratch = scratch

    def __repr__(self) -> str:
        return self.text.rstrip()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


@dataclass(frozen=True)
class Product:
    """An algorithm, a codec, a cluster, …: what one writes as "name:key=value,key=value"."""

    name: str
    summary: str
    paper: str = ""
    parameters: list[dict[str, str]] = field(default_factory=list)
    """Each with `key`, `default`, `type` and `description`."""
    trigram: str = ""
    """Of an algorithm: its three relaxations as a symbol."""
    relaxation: str = ""
    """Of an algorithm: the same in words."""
    stands_for: str = ""
    """Of a name for another product with parameters: that one, as "NAME:key=value"."""
    when: str = ""
    """Where it is of use."""
    when_not: str = ""
    """Where it is not."""
    options: dict[str, str] = field(default_factory=dict)
    """Of an algorithm: each option of a run with the reason why it is refused, empty where it is not."""


class Products(Mapping[str, Product]):
    """The products of a kind by name; `rows` is a DataFrame of them."""

    def __init__(self, kind: str, entries: list[dict[str, Any]]) -> None:
        self.kind = kind
        self._products = {entry["name"]: Product(**entry) for entry in entries}

    @cached_property
    def rows(self) -> "pandas.DataFrame":
        return tables.frame_of([{"name": one.name, "summary": one.summary, "paper": one.paper,
                                 "parameters": ",".join(f"{p['key']}={p['default']}" for p in one.parameters)}
                                for one in self.values()])

    def __iter__(self) -> Iterator[str]:
        return iter(self._products)

    def __len__(self) -> int:
        return len(self._products)

    def __getitem__(self, name: str) -> Product:
        return self._products[name]

    def __repr__(self) -> str:
        width = max((len(name) for name in self), default=0)
        return "\n".join([self.kind, *(f"  {one.trigram}{one.name:{width}}  {one.summary}" for one in self.values())])

    def _repr_html_(self) -> str:
        return tables.html_table(((one.trigram, one.name, one.summary) for one in self.values()), self.kind)


def load(folder: "str | pathlib.Path") -> Union[Run, Study]:
    """What a folder of results holds, finished or not. Raises ValueError where it is neither of a run nor of a study."""
    path = pathlib.Path(folder)
    if (path / "run.json").is_file():
        return Run(path)
    if (path / "study.json").is_file() or (path / "runs").is_dir():
        return Study(path)
    raise ValueError(f"'{path}' holds neither run.json nor study.json; give the folder of a run or of a study")

"""The compiled part of tcplab. Use `tcplab`, which gives these a convenient form."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

StrPath = str | PathLike[str]

__version__: str

class TcplabError(Exception):
    """Something that tcplab cannot do, with the command line's message: cause and remedy."""

class ScenarioError(TcplabError):
    """A scenario that cannot run.

    Attributes:
        line: where its first mistake is, from 1.
        remedy: what to do about it; none where there is no advice.
        others: the other mistakes of the file, as (line, message).
    """

    line: int
    remedy: str | None
    others: list[tuple[int, str]]

class Table:
    """A table in memory, in Arrow's layout. Exports itself by the PyCapsule interface, zero copy."""

    @property
    def num_rows(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    def columns(self) -> list[tuple[str, str, str, str]]:
        """Of each column: name, Arrow type, unit (may be empty), meaning."""
    @property
    def metadata(self) -> dict[str, str]: ...
    def rows(self, first: int, count: int) -> list[list[Any]]:
        """These rows, as Python's values; times are whole nanoseconds."""
    @staticmethod
    def of_ipc(file: bytes) -> Table:
        """The table of `ipc`."""
    def ipc(self) -> bytes:
        """It as Arrow's IPC file."""
    def write(self, path: StrPath) -> None:
        """Writes it to a file whose name ends in .csv, .jsonl, .parquet or .arrow; Ctrl-C ends it,
        and removes the file."""
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Scenario:
    """A scenario that was read and checked."""

    @staticmethod
    def load(given: str) -> Scenario:
        """By the name of a built-in experiment, or a file."""
    @staticmethod
    def parse(text: str, name: str, directory: StrPath | None = None) -> Scenario:
        """From the text of a file; files that it names lie in `directory`."""
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def reference(self) -> str | None: ...
    @property
    def source(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def trials(self) -> int: ...
    @property
    def directory(self) -> Path | None: ...
    def cases(self) -> list[tuple[str, dict[str, str], str]]:
        """Of each case: name, levels of the factors, hash."""
    def worlds(self, kernel: str = "newest") -> list[tuple[str, str]]:
        """Name of each case, and where it runs if nothing else is asked for than a kernel for
        `linux`: `sim` or `kernel`."""

def scenarios() -> list[tuple[str, str]]:
    """Name and title of each built-in experiment."""

def compose(json: str) -> str:
    """The text of a scenario file with these sections, given as JSON."""

def decompose(toml: str) -> str:
    """The sections of a scenario file as JSON."""

class Trace:
    """Captures, analysed."""

    @property
    def files(self) -> list[Path]: ...
    @property
    def packets(self) -> int: ...
    @property
    def started_unix_ns(self) -> int | None: ...
    @property
    def notes(self) -> list[str]: ...
    def ensure_unchanged(self) -> None:
        """Raises a `TcplabError` if a capture is not what the first pass has read."""
    @staticmethod
    def tables() -> list[tuple[str, str]]:
        """Name and meaning of each table."""
    def table(self, name: str) -> Table:
        """A pass over the captures that fills this table."""
    def connection(self, number: int) -> str:
        """The connection with this number, from 0, as `tcplab trace --json` gives it (JSON)."""
    def ladder(self, number: int, most: int = 60) -> str:
        """The first packets of a connection as a ladder, SVG."""
    def time_sequence(self, number: int, forward: bool | None = None) -> str:
        """A time-sequence graph, SVG; the direction with more data where none is named."""

def trace(
    files: list[StrPath],
    filter: str | None = None,
    tables: list[str] = ...,
    checksums: bool = False,
) -> Trace:
    """Reads captures as one; the GIL is released, and Ctrl-C ends it. The pass fills the table of
    connections and these `tables`; each other one takes a pass of its own when it is asked for.
    Packets with a wrong checksum are left out with `checksums`, and of recordings whose path
    damaged packets."""

def may_be_capture(file: StrPath) -> bool:
    """Whether a file is a capture by its content, or cannot be read, so that it may be one."""

def check_filter(filter: str) -> None:
    """Raises an error if this is no filter of packets."""

def trace_part(
    files: list[StrPath],
    filter: str | None,
    shard: tuple[int, int] | None,
    tables: list[str],
) -> tuple[dict[str, Table], list[str]]:
    """Tables of one pass, and what is to be known about the captures. A shard, its number from 0 and
    how many there are, has the connections whose hash falls to it: the same in any capture and on
    any machine."""

class Trial:
    """A trial in virtual time, with its packets. Its recording is removed with it."""

    @property
    def case(self) -> str: ...
    @property
    def number(self) -> int: ...
    @property
    def seed(self) -> int: ...
    def metrics(self) -> list[tuple[str, str, float]]:
        """Name, unit and value of each."""
    def json(self) -> str:
        """All that was found, as `run.json` has a trial."""
    @property
    def directory(self) -> Path: ...
    def table(self, name: str) -> Table:
        """One of `path`, `samples`, and of each end, such as `client/segments`."""
    def trace(self, end: str) -> Trace: ...

def simulate(
    scenario: Scenario,
    case: str | None = None,
    number: int = 1,
    seed: int | None = None,
    kernel: str = "newest",
    program: StrPath | None = None,
) -> Trial:
    """Runs a trial of a case in virtual time, in this process; the GIL is released."""

Event = dict[str, Any]
"""`kind`, and what belongs to it: `trial` (index, total, case, number), `failed` (reason, again),
`flawed` (flaws, again), `calibrating`, `warming-up` and `analysing` (step, total), `reporting`."""

def kernels(scenario: Scenario, cases: list[str], kernel: str) -> tuple[str, dict[str, str]]:
    """Of these cases in virtual time, or of all if there are no names: what stands for `linux`
    (`model`, or a kernel's name), and the hash of each kernel's image by the stack that it is; that
    for `linux` is `newest`."""

def run(
    scenario: Scenario,
    *,
    world: str = "auto",
    kernel: str = "newest",
    jobs: int | None = None,
    trials: int | None = None,
    seed: int | None = None,
    quick: bool = False,
    cases: list[str] = ...,
    runs: StrPath = "runs",
    report: bool = True,
    program: StrPath | None = None,
    on_event: Callable[[Event], None] | None = None,
) -> Path:
    """Runs an experiment, as `tcplab run`; returns its directory."""

def run_part(
    scenario: Scenario,
    case: str,
    first: int,
    last: int,
    *,
    seed: int | None = None,
    world: str = "sim",
    kernel: str = "newest",
    program: StrPath | None = None,
    tables: list[str],
) -> dict[str, Table]:
    """Trials `first` to `last` of one case, exactly as in the whole run, and their rows of these
    tables. The columns of factors are those of the whole scenario; there is a column for each metric
    that one of these trials has."""

class Run:
    """A finished run, read from its directory."""

    @staticmethod
    def open(directory: StrPath) -> Run: ...
    @property
    def directory(self) -> Path: ...
    @staticmethod
    def tables() -> list[tuple[str, str]]: ...
    def table(self, name: str) -> Table: ...
    def json(self) -> str:
        """`run.json`."""
    def trial_directory(self, case: str, number: int) -> Path: ...
    def compare(
        self, by: str | None = None, levels: tuple[str, str] | None = None
    ) -> tuple[str, list[str]]:
        """The comparison of two levels of a factor, or the one that the scenario asks for, as JSON;
        and the verdict of each of its rows in the command's words."""
    def summary(self, verbose: bool = False) -> str: ...
    def write_report(self) -> Path: ...

def recording_table(directory: StrPath, name: str) -> Table:
    """A table of a trial's directory; see `Trial.table`."""

def path_svg(
    given: str, set: list[str] = ..., seconds: float | None = None, seed: int = 1
) -> tuple[str, str]:
    """A path by its name or file, with keys (`KEY=VALUE`) set otherwise; only of these where `given`
    is empty. A sentence for each direction, and its picture (SVG)."""

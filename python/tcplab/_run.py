"""Runs: all trials of an experiment, and what they came to."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from tcplab import _core, _html
from tcplab._commands import find_command
from tcplab._comparison import Comparison
from tcplab._progress import RunProgress
from tcplab._records import Records
from tcplab._scenario import Scenario, as_scenario, inner
from tcplab._settings import several, whole
from tcplab._table import Table
from tcplab._trace import Trace, trace

if TYPE_CHECKING:
    from typing_extensions import Self

    from tcplab._dataset import Dataset


class Run:
    """A finished run, read from its directory.

    `run` returns one, `Run.open` reads one that is there.
    """

    def __init__(self, inside: _core.Run) -> None:
        self._inner = inside

    @classmethod
    def open(cls, directory: str | os.PathLike[str]) -> Self:
        """Reads a run.

        Args:
            directory: The run's directory, such as `runs/interruption/20261122T…`.

        Raises:
            TcplabError: It is not a finished run of this version.
        """
        return cls(_core.Run.open(os.fspath(directory)))

    @property
    def directory(self) -> Path:
        """The run's directory, absolute."""
        return Path(self._inner.directory)

    @functools.cached_property
    def json(self) -> dict[str, Any]:
        """`run.json`: everything that was found."""
        document: dict[str, Any] = json.loads(self._inner.json())
        return document

    @property
    def name(self) -> str:
        """The scenario's name."""
        return str(self.json["name"])

    @property
    def title(self) -> str:
        """What the experiment tests."""
        return str(self.json["title"])

    @property
    def cases(self) -> list[str]:
        """The names of the cases."""
        return [str(case["name"]) for case in self.json["cases"]]

    @property
    def factors(self) -> dict[str, list[str]]:
        """The levels of each factor of the matrix, as the scenario has them."""
        found: dict[str, dict[str, None]] = {}
        for case in self.json["cases"]:
            for factor, level in case["levels"]:
                found.setdefault(factor, {})[level] = None
        return {factor: list(levels) for factor, levels in found.items()}

    @property
    def tables(self) -> dict[str, str]:
        """The tables that `table` has: their meanings by their names."""
        return dict(_core.Run.tables())

    def table(self, name: str) -> Table:
        """A table of the run.

        Args:
            name: Its name; `tables` lists them. docs/run-tables.md explains their columns.

        Raises:
            TcplabError: There is no such table.
        """
        return Table(self._inner.table(name), name)

    @property
    def trials(self) -> Table:
        """A row for each trial: case, factors with their types, a column for each metric.

        Of one that failed, `outcome` is `failed`, and no metric has a value.
        """
        return self.table("trials")

    @property
    def metrics(self) -> Table:
        """A row for each metric of each trial: case, trial, metric, unit, value, and factors."""
        return self.table("metrics")

    @property
    def episodes(self) -> Table:
        """A row for each recovery episode."""
        return self.table("episodes")

    @property
    def findings(self) -> Records:
        """What the rules found in the captures: case, trial, rule, statement, remedy, frames."""
        rows = (
            {"case": case["name"], "trial": each["number"], **finding}
            for case in self.json["cases"]
            for each in case["trials"]
            for finding in each["findings"]
        )
        return Records(rows, "findings")

    @property
    def failures(self) -> Records:
        """The trials that failed on every attempt, and so do not count: case, trial, reason."""
        names = ("reason", "attempts", "seed", "directory")
        rows = (
            {"case": case["name"], "trial": each["number"], **{name: each[name] for name in names}}
            for case in self.json["cases"]
            for each in case.get("failures", ())
        )
        return Records(rows, "failures")

    @property
    def claims(self) -> Records:
        """The scenario's claims: each with `outcome`, `passed`, `failed` or `not judged`."""
        rows = ({**claim, "outcome": claim_outcome(claim)} for claim in self.json["claims"])
        return Records(rows, "claims")

    @property
    def summaries(self) -> Records:
        """Of each case and metric: mean, median, their intervals of 95 %, standard deviation."""
        rows = (
            {"case": case["name"], **summary}
            for case in self.json["cases"]
            for summary in case["summaries"]
        )
        return Records(rows, "summaries")

    def samples(self, case: str | None = None, trial: int = 1) -> Table:
        """The TCP state of both ends over time: a row for each sample, `cwnd_segments` and more.

        Args:
            case: The case's name; needed only if there are several.
            trial: The trial's number, from 1.

        Raises:
            TcplabError: There is no such case or trial.
        """
        return self._recorded(case, trial, "samples")

    def packets(self, case: str | None = None, trial: int = 1, end: str = "client") -> Table:
        """The packets with data, SYN or FIN as an end saw them, each with what it is.

        Acknowledgements and resets are in the table `events` (`tcplab export`).

        Args:
            case: The case's name; needed only if there are several.
            trial: The trial's number, from 1.
            end: `"client"` or `"server"`.

        Raises:
            TcplabError: There is no such case, trial or end, or its packets were not kept.
        """
        return self._recorded(case, trial, f"{end}/segments")

    def path_log(self, case: str | None = None, trial: int = 1) -> Table:
        """What the path did to each packet of a trial: fate, cause, and times.

        Args:
            case: The case's name; needed only if there are several.
            trial: The trial's number, from 1.

        Raises:
            TcplabError: There is no such case or trial, or its packets were not kept.
        """
        return self._recorded(case, trial, "path")

    def trace(self, case: str | None = None, trial: int = 1, end: str = "client") -> Trace:
        """The capture of an end in a trial, analysed.

        Args:
            case: The case's name; needed only if there are several.
            trial: The trial's number, from 1.
            end: `"client"` or `"server"`.

        Raises:
            TcplabError: There is no such case, trial or end, or its packets were not kept.
        """
        if end not in ("client", "server"):
            raise _core.TcplabError(f"no end `{end}`: use client or server")
        place = self.trial_directory(case, trial)
        captures = sorted(place.glob(f"{end}.pcap*"))
        if not captures:
            raise _core.TcplabError(f"{place} has no capture of the end {end!r}")
        return trace(captures[0])

    def trial_directory(self, case: str | None = None, trial: int = 1) -> Path:
        """Where the captures and logs of a trial are.

        Raises:
            TcplabError: There is no such case or trial.
        """
        trial = whole("trial", trial, most=2**32 - 1)
        return Path(self._inner.trial_directory(self._case(case), trial))

    def compare(self, by: str | None = None, levels: tuple[str, str] | None = None) -> Comparison:
        """Compares two levels of a factor, trial by trial with the same seed.

        Args:
            by: The factor: a key of the matrix; default: the only one, or that of the scenario's
                only `[[compare]]`.
            levels: Two of its levels, the baseline first; needed only if it has more.

        Raises:
            TcplabError: There is no such factor, or it has not two levels.
        """
        factors = list(self.factors)
        if by is None and len(factors) == 1:
            by = factors[0]
        document, verdicts = self._inner.compare(by, levels)
        return Comparison(json.loads(document), verdicts)

    def report(self) -> Path:
        """Writes the report anew.

        Returns:
            The page's path.
        """
        return Path(self._inner.write_report())

    def summary(self, *, verbose: bool = False) -> str:
        """What `tcplab run` prints at its end.

        Args:
            verbose: All metrics, not only the key metrics.
        """
        return self._inner.summary(verbose)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).open, (self.directory,)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        count, failed = sum(len(case["trials"]) for case in self.json["cases"]), len(self.failures)
        counts = f"{_html.counted(len(self.cases), 'case')}, "
        counts += f"{_html.counted(count + failed, 'trial')}"
        counts += f", {failed:,} failed" if failed else ""
        what = f"{_html.visible(self.title)}; {counts}"
        return f"<Run of {self.name!r}: {what}, in {self.directory}>"

    def _repr_html_(self) -> str:
        claims = [[claim["claim"], claim["outcome"], claim["found"]] for claim in self.claims]
        page = self.directory / "report.html"
        return _html.block(
            _html.heading(self.title, f"{self.name}, world {self.json['world']}"),
            _medians(self.json["cases"]),
            _failed(self.failures),
            _html.table(["claim", "outcome", "found"], claims) if claims else "",
            f"<p>{_html.text(page)}</p>" if page.exists() else "",
            _html.folded("all that the command prints", _html.preformatted(self.summary())),
        )

    def _recorded(self, case: str | None, trial: int, name: str) -> Table:
        place = os.fspath(self.trial_directory(case, trial))
        return Table(_core.recording_table(place, name), name)

    def _case(self, case: str | None) -> str:
        if case is not None:
            return case
        cases = self.cases
        if len(cases) != 1:
            raise _core.TcplabError(f"name one of the cases: {', '.join(cases[:20])}")
        return cases[0]


@overload
def run(
    scenario: Scenario | str | os.PathLike[str],
    *,
    world: str = "auto",
    kernel: str = "newest",
    jobs: int | None = None,
    trials: int | None = None,
    seed: int | None = None,
    quick: bool = False,
    cases: Iterable[str] = (),
    directory: str | os.PathLike[str] = "runs",
    progress: bool = True,
    report: bool = True,
    on: None = None,
) -> Run: ...


@overload
def run(
    scenario: Scenario | str | os.PathLike[str],
    *,
    world: str = "auto",
    kernel: str = "newest",
    trials: int | None = None,
    seed: int | None = None,
    directory: str | os.PathLike[str] = "runs",
    progress: bool = True,
    on: object,
) -> Dataset: ...


def run(
    scenario: Scenario | str | os.PathLike[str],
    *,
    world: str = "auto",
    kernel: str = "newest",
    jobs: int | None = None,
    trials: int | None = None,
    seed: int | None = None,
    quick: bool = False,
    cases: Iterable[str] = (),
    directory: str | os.PathLike[str] = "runs",
    progress: bool = True,
    report: bool = True,
    on: object = None,
) -> Run | Dataset:
    """Runs an experiment, as `tcplab run`.

    Trials run in blocks; a block runs each case once, in random order from the seed. Ctrl-C ends
    the run; `tcplab run --resume` continues it. Trials that fail on every attempt do not count:
    `failures` of the run has them, and the others are there.

    >>> import tcplab, tempfile
    >>> scenario = tcplab.Scenario.from_dict({
    ...     "title": "Uploads over a lossy path",
    ...     "path": {"rate": "20 Mbit/s", "delay": "20 ms"},
    ...     "client": {"stack": "model:linux-6.18"},
    ...     "server": {"stack": "model:linux-6.18"},
    ...     "workload": {"upload": "200 kB"},
    ...     "matrix": {"path.loss": ["0 %", "2 %"]},
    ... }, name="lossy")
    >>> with tempfile.TemporaryDirectory() as place:
    ...     run = tcplab.run(scenario, world="sim", trials=3, directory=place, report=False)
    ...     len(run.trials)
    6

    Args:
        scenario: The scenario, or its name or file.
        world: `"auto"` (the kernel for stacks `linux`, virtual time for models), `"kernel"`, or
            `"sim"` (virtual time for all: no privileges, the same bytes for the same seed).
        kernel: What the stack `linux` is in virtual time: the `"newest"` kernel that was built, or
            the model where none was; another by its name in `tcplab kernel list`, or `"model"`.
            A name or `"model"` asks for virtual time where an end has the stack `linux`.
        jobs: How many trials run at once in virtual time; default: one per processor.
        trials: The number of trials of each case; default: as the file has it.
        seed: The seed; default: as the file has it.
        quick: One trial of each case; in virtual time as many as decide.
        cases: Run only these cases; default: all.
        directory: Where runs are stored, in directories of their own.
        progress: Show progress on a terminal or in a notebook.
        report: Write the report's page.
        on: Where trials run instead of this process: a Dask `Client`, a Ray address, or an
            executor of `concurrent.futures`, as in `tcplab.sweep`. The rows go to Parquet files
            below `directory`; packets are not kept, and the same call continues what was stopped.

    Returns:
        The run; with `on` the data set of the rows.

    Raises:
        ScenarioError: The scenario has a mistake.
        TcplabError: The run cannot start or go on, or a number is out of range.
        KeyboardInterrupt: Ctrl-C.
    """
    given = as_scenario(scenario)
    jobs = None if jobs is None else whole("jobs", jobs, least=1)
    trials = None if trials is None else whole("trials", trials, 1, 2**32 - 1)
    seed = None if seed is None else whole("seed", seed)
    chosen = several("cases", cases)
    if on is not None:
        refused = {"jobs": jobs, "quick": quick, "cases": chosen, "report": not report}
        for name, value in refused.items():
            if value:
                raise ValueError(f"{name} has no meaning with `on`; leave it out")
        return _spread_out(given, directory, on, trials, seed, world, kernel, progress)
    shown = RunProgress(show=progress)
    try:
        place = _core.run(
            inner(given),
            world=world,
            kernel=kernel,
            jobs=jobs,
            trials=trials,
            seed=seed,
            quick=quick,
            cases=chosen,
            runs=os.fspath(directory),
            report=report,
            program=find_command(),
            on_event=shown if progress else None,
        )
    finally:
        shown.finish()
    return Run.open(place)


def _spread_out(
    scenario: Scenario,
    directory: str | os.PathLike[str],
    on: object,
    trials: int | None,
    seed: int | None,
    world: str,
    kernel: str,
    progress: bool,
) -> Dataset:
    """Runs a scenario elsewhere. Its place follows from what is asked for, so that it resumes."""
    from tcplab._sweep import own_place, sweep

    place = own_place(os.fspath(directory), scenario, seed, world, kernel)
    return sweep(
        scenario,
        place,
        on=on,
        trials=trials,
        seed=seed,
        world=world,
        kernel=kernel,
        progress=progress,
    )


def claim_outcome(claim: dict[str, Any]) -> str:
    """Whether a claim passed: `passed`, `failed`, or `not judged`, as it needs more trials."""
    if not claim["is_judged"]:
        return f"not judged: needs {claim['needs']:,} trials of each case"
    return "passed" if claim["held"] else "failed"


_KEY_METRICS = ("transfer_time", "goodput", "lost", "retransmissions", "timeouts", "mean_rtt")


def _medians(cases: list[dict[str, Any]]) -> str:
    """The key metrics of the first cases: medians."""
    units: dict[str, str] = {}
    rows = []
    for case in cases[:20]:
        values = {summary["name"]: summary for summary in case["summaries"]}
        for name in _KEY_METRICS:
            if name in values:
                units.setdefault(name, values[name]["unit"])
        rows.append((case, values))
    shown = [name for name in _KEY_METRICS if name in units]
    cells = [
        [case["name"], _counted_trials(case)]
        + [values[name]["median"] if name in values else None for name in shown]
        for case, values in rows
    ]
    more = f"<p>… {len(cases) - 20:,} more cases: .trials</p>" if len(cases) > 20 else ""
    heads = ["case", "trials", *(name.replace("_", " ") for name in shown)]
    return _html.table(heads, cells, units=["", "", *(units[name] for name in shown)]) + more


def _counted_trials(case: dict[str, Any]) -> int | str:
    """How many trials count, and of how many if some failed, as the command's table has it."""
    counted, failed = len(case["trials"]), len(case.get("failures", ()))
    return f"{counted:,} of {counted + failed:,}" if failed else counted


def _failed(failures: Records) -> str:
    """The first trials that failed, and why."""
    if not failures:
        return ""
    rows = [[it["case"], it["trial"], it["reason"]] for it in failures[:20]]
    left = len(failures) - len(rows)
    more = f"<p>… {left:,} more failed trials: .failures</p>" if left else ""
    return _html.table(["case", "failed trial", "reason"], rows) + more

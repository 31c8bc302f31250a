"""Single trials in virtual time, in this process."""

from __future__ import annotations

import functools
import json
import os
from typing import Any

from tcplab import _core, _html
from tcplab._commands import find_command
from tcplab._records import Records
from tcplab._scenario import Scenario, as_scenario, inner
from tcplab._settings import whole
from tcplab._table import Table
from tcplab._trace import Trace, findings_list


class Trial:
    """A trial in virtual time, with its packets.

    Its recording lies in a temporary directory, which is removed with the last reference to it.
    """

    def __init__(self, inside: _core.Trial) -> None:
        self._inner = inside

    @property
    def case(self) -> str:
        """The case's name."""
        return self._inner.case

    @property
    def number(self) -> int:
        """The trial's number in its case, from 1."""
        return self._inner.number

    @property
    def seed(self) -> int:
        """The seed that its random numbers come from."""
        return self._inner.seed

    @property
    def directory(self) -> str:
        """Where its captures and logs are, as long as this object lives."""
        return os.fspath(self._inner.directory)

    @property
    def metrics(self) -> dict[str, float]:
        """What it came to: values by the metrics' names, in the units that `units` has."""
        return {name: value for name, _, value in self._inner.metrics()}

    @property
    def units(self) -> dict[str, str]:
        """The units of the metrics, by their names; empty for a number without unit."""
        return {name: unit for name, unit, _ in self._inner.metrics()}

    @functools.cached_property
    def json(self) -> dict[str, Any]:
        """All that was found, as `run.json` has a trial."""
        document: dict[str, Any] = json.loads(self._inner.json())
        return document

    @property
    def findings(self) -> Records:
        """What the rules found: rule, statement, remedy and frames of each finding."""
        return Records(self.json.get("findings", ()), "findings")

    @property
    def episodes(self) -> Records:
        """The recovery episodes."""
        return Records(self.json.get("episodes", ()), "recovery episodes")

    @property
    def samples(self) -> Table:
        """The TCP state of both ends over time, a row for each sample: `cwnd_segments` and more."""
        return self.table("samples")

    @property
    def path_log(self) -> Table:
        """What the path did to each packet: fate, cause, and times."""
        return self.table("path")

    def packets(self, end: str = "client") -> Table:
        """The packets with data, SYN or FIN as an end saw them, each with what it is.

        Args:
            end: `"client"` or `"server"`.

        Raises:
            TcplabError: There is no such end.
        """
        return self.table(f"{end}/segments")

    def table(self, name: str) -> Table:
        """A table of the recording.

        Args:
            name: `samples`, `path`, or a table of an end's capture, such as `client/stalls`.

        Raises:
            TcplabError: There is no such table.
        """
        return Table(self._inner.table(name), name)

    def trace(self, end: str = "client") -> Trace:
        """The capture of an end, analysed.

        Args:
            end: `"client"` or `"server"`.

        Raises:
            TcplabError: There is no such end.
        """
        return Trace(self._inner.trace(end), owner=self._inner)

    def __repr__(self) -> str:
        title = f"<Trial {self.number} of {self.case!r}, seed {self.seed}>"
        units = self.units
        lines = [
            f"  {name} {_html.plain(value)} {units[name]}".rstrip()
            for name, value in list(self.metrics.items())[:6]
        ]
        return "\n".join([title, *lines])

    def _repr_html_(self) -> str:
        units = self.units
        rows = [[name, value, units[name]] for name, value in self.metrics.items()]
        columns = ["metric", "value", "unit"]
        return _html.block(
            _html.heading(self.case, f"trial {self.number}, seed {self.seed}"),
            _html.table(columns, rows[:12]),
            _html.folded("all metrics", _html.table(columns, rows)) if len(rows) > 12 else "",
            findings_list(self.findings),
        )


def simulate(
    scenario: Scenario | str | os.PathLike[str],
    case: str | None = None,
    seed: int | None = None,
    number: int = 1,
    kernel: str = "newest",
) -> Trial:
    """Runs a trial of a case in virtual time, in this process.

    The same seed gives the same packets on every machine. Other Python threads run meanwhile, and
    Ctrl-C ends it at once.

    >>> import tcplab
    >>> trial = tcplab.simulate(tcplab.Scenario.from_dict({
    ...     "title": "An upload",
    ...     "path": {"rate": "20 Mbit/s", "delay": "20 ms"},
    ...     "client": {"stack": "model:linux-6.18"},
    ...     "server": {"stack": "model:linux-6.18"},
    ...     "workload": {"upload": "1 MB"},
    ... }))
    >>> round(trial.metrics["transfer_time"], 3), trial.units["transfer_time"]
    (0.555, 's')
    >>> max(trial.samples.column("cwnd_segments")) > 10
    True

    Args:
        scenario: The scenario, or its name or file.
        case: The case's name; needed only if there are several.
        seed: The scenario's seed; default: as the file has it.
        number: The trial's number in its case, from 1; each has a seed of its own.
        kernel: What the stack `linux` is, as in `run`: the `"newest"` kernel that was built, or the
            model where none was; another by its name, or `"model"`.

    Returns:
        The trial.

    Raises:
        TcplabError: There is no such case, a number is out of range, or it cannot run in virtual
            time.
    """
    number = whole("number", number, most=2**32 - 1)
    seed = None if seed is None else whole("seed", seed)
    given = inner(as_scenario(scenario))
    program = find_command()
    return Trial(_core.simulate(given, case, number, seed, kernel=kernel, program=program))

"""Captures, explained."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from tcplab import _core, _html
from tcplab._commands import run_command
from tcplab._settings import paths, several, whole
from tcplab._svg import Svg
from tcplab._table import Table

_LEGEND = {
    "light-dark(#0072b2,#5cb8ee)": "data",
    "light-dark(#b35000,#ff8a3d)": "retransmission",
    "light-dark(#b0005f,#ff6fae)": "timeout",
    "light-dark(#007655,#3fcf9f)": "ACK",
    "light-dark(#8a4fa6,#cfa2e0)": "SACK",
    "light-dark(#856300,#d9b13b)": "edge of the advertised window",
}
"""The colours of the time-sequence graph."""

_SMALL = 100_000
"""Up to so many packets a capture shows every finding of its connections."""

_LARGE = {"segments", "events", "series", "notable"}
"""Tables that grow with the packets: they are not kept longer than somebody uses them."""


class Trace:
    """Captures, analysed: connections, packets with their causes, findings.

    Each table takes a pass over the captures when it is first asked for. A capture that has
    changed since the first pass is refused then.

    >>> import tcplab
    >>> trial = tcplab.simulate(tcplab.Scenario.from_dict({
    ...     "title": "An upload over a lossy path",
    ...     "path": {"rate": "10 Mbit/s", "delay": "10 ms", "loss": 0.02},
    ...     "client": {"stack": "model:linux-6.18"},
    ...     "server": {"stack": "model:linux-6.18"},
    ...     "workload": {"upload": "200 kB"},
    ... }))
    >>> trace = trial.trace("client")
    >>> len(trace.connections)
    1
    >>> {"new"} <= set(trace.segments.column("kind"))
    True
    """

    def __init__(
        self, inner: _core.Trace, options: Iterable[str] = (), owner: object = None
    ) -> None:
        self._inner = inner
        self._options = list(options)  # of `tcplab trace`, for the same packets
        self._owner = owner  # of the captures, which are removed with it
        self._kept: dict[str, Table] = {}
        self._large: WeakValueDictionary[str, Table] = WeakValueDictionary()

    @property
    def files(self) -> list[str]:
        """The captures, as absolute paths."""
        return [os.fspath(file) for file in self._inner.files]

    @property
    def packets(self) -> int:
        """How many packets there are."""
        return self._inner.packets

    @property
    def started(self) -> datetime | None:
        """When the first packet was captured, UTC, to the microsecond; none without packets."""
        ns = self._inner.started_unix_ns
        if ns is None:
            return None
        return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=ns // 1000)

    @property
    def notes(self) -> list[str]:
        """What is to be known about the captures, such as packets that were cut off."""
        return self._inner.notes

    @property
    def tables(self) -> dict[str, str]:
        """The tables that `table` has: their meanings by their names."""
        return dict(_core.Trace.tables())

    def table(self, name: str) -> Table:
        """A table.

        Args:
            name: Its name; `tables` lists them. docs/tables.md explains their columns.

        Raises:
            TcplabError: There is no such table, or a capture has changed or can no longer be read.
        """
        found = self._kept.get(name, self._large.get(name))
        if found is None:
            found = Table(self._inner.table(name), name)
            if name in _LARGE:
                self._large[name] = found
            else:
                self._kept[name] = found
        return found

    @property
    def connections(self) -> Table:
        """A row for each connection; columns of a direction begin with forward_ or reverse_."""
        return self.table("connections")

    @property
    def segments(self) -> Table:
        """A row for each packet with data, SYN or FIN: what it is, with evidence."""
        return self.table("segments")

    @property
    def events(self) -> Table:
        """A row for each packet that tells the sender something: ACKs, SACK, windows, resets."""
        return self.table("events")

    @property
    def findings(self) -> Table:
        """A row for each finding: statement, remedy, what it cost, the frames that prove it.

        Single recovery episodes are in `episodes`; `connection(number)["findings"]` has all.
        """
        return self.table("findings")

    @property
    def stalls(self) -> Table:
        """A row for each stall: a time without progress although there was data to send."""
        return self.table("stalls")

    @property
    def limits(self) -> Table:
        """A row for each time with the same limit of the rate."""
        return self.table("limits")

    @property
    def episodes(self) -> Table:
        """A row for each recovery episode."""
        return self.table("episodes")

    def connection(self, number: int = 0) -> dict[str, Any]:
        """A connection with all that was found about it.

        Args:
            number: Its number, from 0, in the order of first packets.

        Returns:
            What `tcplab trace --json` has of it.

        Raises:
            TcplabError: There is no such connection.
        """
        found: dict[str, Any] = json.loads(self._inner.connection(whole("number", number)))
        return found

    def ladder(self, number: int = 0, most: int = 60) -> Svg:
        """The first packets of a connection as a ladder diagram.

        Args:
            number: The connection, from 0.
            most: How many packets at most.

        Raises:
            TcplabError: There is no such connection.
        """
        picture = self._inner.ladder(whole("number", number), whole("most", most))
        return Svg(picture, f"ladder of connection {number}")

    def time_sequence(self, number: int = 0, direction: str | None = None) -> Svg:
        """A connection's sequence numbers over time.

        Args:
            number: The connection, from 0.
            direction: `"forward"` (data of the client) or `"reverse"`; default: the one with more
                data.

        Raises:
            TcplabError: There is no such connection.
            ValueError: There is no such direction.
        """
        picture = self._inner.time_sequence(whole("number", number), is_forward(direction))
        return Svg(picture, f"time-sequence graph of connection {number}", _LEGEND)

    def save_page(self, path: str | os.PathLike[str]) -> Path:
        """Writes a page with all connections and graphs to zoom into, in one file.

        Args:
            path: The file; by convention its name ends in .html.

        Returns:
            The file's path.

        Raises:
            TcplabError: The file cannot be written, or the command is not installed.
        """
        self._command(f"--html={os.fspath(path)}")
        return Path(path)

    def summary(self) -> str:
        """What `tcplab trace` prints.

        Raises:
            TcplabError: The command is not installed.
        """
        return self._command()

    def _command(self, *options: str) -> str:
        """Runs `tcplab trace` on the same captures."""
        self._inner.ensure_unchanged()
        return run_command(["trace", *options, *self._options, "--", *self.files])

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        names = _html.visible(", ".join(Path(file).name for file in self.files[:3]))
        more = f" and {len(self.files) - 3} more" if len(self.files) > 3 else ""
        return f"<Trace of {names}{more}: {_html.counted(self.packets, 'packet')}>"

    def _repr_html_(self) -> str:
        names = ", ".join(Path(file).name for file in self.files[:3])
        started = self.started
        when = f", from {started:%Y-%m-%d %H:%M:%S} UTC" if started else ""
        return _html.block(
            _html.heading(names, f"{_html.counted(self.packets, 'packet')}{when}"),
            *(f"<p>{_html.text(note)}</p>" for note in self.notes),
            _connections(self.connections),
            findings_list(self._most_costly()),
        )

    def _most_costly(self) -> list[dict[str, Any]]:
        """The findings, the most costly first; of small captures those of single episodes, too."""
        if self.packets > _SMALL or len(self.connections) > 5:
            found = self.findings.to_dicts()
        else:
            found = [
                {"connection": number, **finding}
                for number in range(len(self.connections))
                for finding in self.connection(number)["findings"]
            ]
        return sorted(found, key=lambda finding: -int(finding["cost_ns"]))


def trace(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    filter: str | None = None,
    tables: Iterable[str] = (),
    *,
    checksums: bool = False,
) -> Trace:
    """Reads captures as one, and explains them.

    Other Python threads run meanwhile, and Ctrl-C ends it at once.

    Args:
        files: A capture, or several of the same time: pcap, pcapng, snoop, Network Monitor or
            ERF, also compressed; or a directory with captures. Standard input and pipes can be
            read only once, so they are refused.
        filter: Analyse only matching packets, such as `"host 192.0.2.7 and not port 22"`; as
            `tcplab trace --filter`.
        tables: Tables that this pass fills as well, such as `["segments", "events"]`, so that they
            take no pass of their own. They stay in memory as long as the trace.
        checksums: Leave out packets with a wrong checksum, which their receiver dropped; of a
            recording whose path damaged packets they always are. As `tcplab trace --checksums`.

    Returns:
        The captures, analysed.

    Raises:
        TcplabError: A file cannot be read or is no capture, or the filter is wrong.
        TypeError: `tables` is one text, not a list, or `files` are no paths.
    """
    names: list[str | os.PathLike[str]] = [*paths(files)]
    options = [] if filter is None else [f"--filter={filter}"]
    if checksums:
        options.append("--checksums")
    return Trace(_core.trace(names, filter, several("tables", tables), checksums), options)


def is_forward(direction: str | None) -> bool | None:
    """Whether a direction is the one from client to server; none where none is named.

    Raises:
        ValueError: There is no such direction.
    """
    if direction is None:
        return None
    if direction not in ("forward", "reverse"):
        raise ValueError(f"direction is 'forward' or 'reverse', not {direction!r}")
    return direction == "forward"


_COLOURS = {"good": ' class="good"', "harm": ' class="harm"', "failure": ' class="harm"'}
"""Of findings by their severity: notes, doubts and what is not known have none."""


def findings_list(findings: Iterable[dict[str, Any]]) -> str:
    """Findings as HTML: statement, what to do, frames."""
    items = []
    for finding in findings:
        frames = finding.get("frames") or []
        shown = ", ".join(map(str, frames[:6])) + (" …" if len(frames) > 6 else "")
        remedy = finding.get("remedy")
        colour = _COLOURS.get(str(finding.get("severity")), "")
        pieces = [f"<b{colour}>{_html.text(finding['rule'])}</b> "]
        if "connection" in finding:
            pieces.append(f"connection {finding['connection']}: ")
        pieces.append(_html.text(finding["statement"]))
        if remedy:
            pieces.append(f" <i>{_html.text(remedy)}</i>")
        if shown:
            pieces.append(f' <span class="quiet">frames {shown}</span>')
        items.append(f"<li>{''.join(pieces)}</li>")
    if not items:
        return "<p>No findings.</p>"
    more = f"<p>… {len(items) - 12} more findings: .findings</p>" if len(items) > 12 else ""
    return f"<ul>{''.join(items[:12])}</ul>{more}"


_SHOWN = {
    "connection": "#",
    "client_address": "client",
    "client_port": "port",
    "server_address": "server",
    "server_port": "port",
    "close": "close",
    "forward_unique_bytes": "sent",
    "reverse_unique_bytes": "received",
    "forward_retransmissions": "retransmissions",
    "reverse_retransmissions": "of the server",
}


def _connections(table: Table) -> str:
    names = table.column_names
    shown = {name: title for name, title in _SHOWN.items() if name in names}
    units = {column.name: column.unit for column in table.columns}
    rows = [[row[names.index(name)] for name in shown] for row in table.rows(10)]
    more = f"<p>… {len(table) - 10:,} more connections: .connections</p>" if len(table) > 10 else ""
    text = [[_html.of_column(*cell) for cell in zip(shown, row, strict=True)] for row in rows]
    return _html.table(list(shown.values()), text, units=[units[name] for name in shown]) + more

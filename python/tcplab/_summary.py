"""What an archive of captures holds: sums of each capture, and all of them together.

A worker sums up what it has just analysed, so that a summary over very many captures reads a few
kilobytes of each, one after the other, and needs no package.
"""

from __future__ import annotations

import heapq
import json
import math
import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from html import escape
from typing import Any

from tcplab._core import TcplabError
from tcplab._dataset import done_tasks, task_key
from tcplab._html import visible
from tcplab._meter import counted, size_of
from tcplab._place import Place, open_place

__all__ = ["Summary", "summary", "sums_of"]

SUMS = "_sums"
SUMMED = ("connections", "findings", "stalls")
"""The tables that sums are made of, whether or not an archive keeps them."""
WORST = 100
NOTED = 100
"""So many captures with notes are named."""
MOST_PEERS = 10_000
"""Peers of a capture that are counted by themselves; the rest is counted as `other`."""
BINS_PER_DECADE = 200
"""A class spans 1.2 %, so that its middle is within 0.6 % of each value in it."""
CHUNK = 2000
SEVERITIES = ("good", "note", "harm", "failure", "doubt")
"""From the mildest to the worst, as findings are ordered: a rule's sum shows its worst."""

Record = dict[str, Any]

_ENDS = ("client_address", "client_port", "server_address", "server_port")
_BOTH = (
    "retransmittable_segments",
    "unique_bytes",
    "retransmissions",
    "rtt_median_ns",
    "capture_point",
)
_CONNECTION = (
    "connection",
    *_ENDS,
    "first_ns",
    "last_ns",
    "handshake_rtt_ns",
    *(f"{way}_{name}" for name in _BOTH for way in ("forward", "reverse")),
)


def rows_of(table: Any, names: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """These columns of a table, row by row; none for a column that it does not have."""
    there = table.column_names
    places = [there.index(name) if name in there else None for name in names]
    for first in range(0, table.num_rows, CHUNK):
        for row in table.rows(first, CHUNK):
            yield tuple(None if at is None else row[at] for at in places)


def sums_of(tables: Mapping[str, Any]) -> Record:
    """The sums of one capture, as JSON has them.

    Args:
        tables: Those of `SUMMED`, as far as they are there.

    Returns:
        Connections, findings, loss, RTT and stalls: in all, by peer (the server's address) and by
        hour (UTC); the hundred connections that their findings delay most; and the zero of all
        times, none if it is not known.
    """
    connections = tables.get("connections")
    metadata = connections.metadata if connections is not None else {}
    zero = int(metadata.get("tcplab.zero_unix_ns") or metadata.get("zero_unix_ns") or 0)
    packets = int(metadata.get("tcplab.packets") or metadata.get("packets") or 0)
    costs, reasons, findings = _findings(tables.get("findings"))
    stalls, stalled = _stalls(tables.get("stalls"))
    total = _empty()
    peers: dict[str, Record] = {}
    hours: dict[str, Record] = {}
    worst: list[tuple[int, int, Record]] = []
    for row in rows_of(connections, _CONNECTION) if connections is not None else ():
        number, client, client_port, server, server_port, first, last = row[:7]
        delay = min(costs.get(number, 0), max(0, last - first))
        one = _one(row, delay, stalled.get(number, 0))
        if server not in peers and len(peers) >= MOST_PEERS:
            server = "other"
        hour = datetime.fromtimestamp((zero + first) / 1e9, timezone.utc).strftime("%Y-%m-%dT%H")
        for sums in (total, peers.setdefault(server, _empty()), hours.setdefault(hour, _empty())):
            _add(sums, one)
        if delay > 0:
            ends = {"client": f"{client}:{client_port}", "server": f"{server}:{server_port}"}
            shown = {"connection": number, "delay_ns": delay, **ends, **reasons[number]}
            entry = (delay, -number, shown)
            (heapq.heappush if len(worst) < WORST else heapq.heappushpop)(worst, entry)
    worst.sort(reverse=True, key=lambda entry: entry[:2])
    return {
        "packets": packets,
        "zero_unix_ns": zero or None,
        "total": total,
        "findings": findings,
        "stalls": stalls,
        "peers": peers,
        "hours": hours,
        "worst": [shown for _, _, shown in worst],
    }


def _findings(table: Any) -> tuple[dict[int, int], dict[int, Record], Record]:
    """Delay and worst finding by connection, and the sums of each rule."""
    costs: dict[int, int] = {}
    reasons: dict[int, Record] = {}
    worst: dict[int, int] = {}
    rules: Record = {}
    seen: set[tuple[int, str]] = set()
    names = ("connection", "rule", "severity", "cost_ns", "statement")
    for number, rule, severity, cost, statement in rows_of(table, names) if table else ():
        sums = rules.setdefault(rule, {"severity": severity, "connections": 0, "delay_ns": 0})
        sums["severity"] = max(sums["severity"], severity, key=SEVERITIES.index)
        sums["connections"] += (number, rule) not in seen
        seen.add((number, rule))
        sums["delay_ns"] += cost or 0
        costs[number] = costs.get(number, 0) + (cost or 0)
        if number not in worst or (cost or 0) > worst[number]:
            worst[number] = cost or 0
            reasons[number] = {"rule": rule, "statement": statement}
    return costs, reasons, rules


def _stalls(table: Any) -> tuple[Record, dict[int, int]]:
    """Number and time of stalls by cause, and the time by connection."""
    causes: Record = {}
    stalled: dict[int, int] = {}
    for number, cause, duration in (
        rows_of(table, ("connection", "cause", "duration_ns")) if table else ()
    ):
        sums = causes.setdefault(cause, {"stalls": 0, "stalled_ns": 0})
        sums["stalls"] += 1
        sums["stalled_ns"] += duration or 0
        stalled[number] = stalled.get(number, 0) + (duration or 0)
    return causes, stalled


def _empty() -> Record:
    keys = ("connections", "segments", "retransmissions", "bytes", "delay_ns", "stalled_ns")
    return {**dict.fromkeys(keys, 0), "rtt": {}, "rtt_min_ns": None, "rtt_max_ns": None}


def _one(row: tuple[Any, ...], delay: int, stalled: int) -> Record:
    """A connection as sums."""
    both = dict(zip(_CONNECTION[7:], row[7:], strict=True))
    rtt = _round_trip(both)

    def sum_of(name: str) -> int:
        return (both[f"forward_{name}"] or 0) + (both[f"reverse_{name}"] or 0)

    return {
        "connections": 1,
        "segments": sum_of("retransmittable_segments"),
        "retransmissions": sum_of("retransmissions"),
        "bytes": sum_of("unique_bytes"),
        "delay_ns": delay,
        "stalled_ns": stalled,
        "rtt": {_bin(rtt): 1} if rtt else {},
        "rtt_min_ns": rtt,
        "rtt_max_ns": rtt,
    }


def _round_trip(connection: Mapping[str, Any]) -> int | None:
    """A connection's RTT over the whole path, in nanoseconds; none if the capture has none.

    The answers to data took the whole path where they were captured beside its sender; elsewhere
    they took a part of it, and the handshake's RTT has the whole.
    """

    def median(way: str) -> int | None:
        is_away = connection[f"{way}_capture_point"] in ("middle", "receiver")
        return None if is_away else connection[f"{way}_rtt_median_ns"]

    forward, reverse = (connection[f"{way}_unique_bytes"] or 0 for way in ("forward", "reverse"))
    busier, other = ("forward", "reverse") if forward >= reverse else ("reverse", "forward")
    return median(busier) or connection["handshake_rtt_ns"] or median(other)


def _bin(value: float) -> str:
    """The class of a value on a logarithmic scale. Text, as JSON's keys are."""
    return str(math.floor(math.log10(value) * BINS_PER_DECADE))


_EXTREMES: Mapping[str, Callable[[list[int]], int]] = {"rtt_min_ns": min, "rtt_max_ns": max}
"""What is kept of two values that are not added."""


def _add(sums: Record, more: Record) -> None:
    """Adds numbers, and dictionaries by their keys.

    Of two severities the worse one stays, of extremes the more extreme one.
    """
    for key, value in more.items():
        if key in _EXTREMES:
            known = [it for it in (sums.get(key), value) if it is not None]
            sums[key] = _EXTREMES[key](known) if known else None
        elif isinstance(value, dict):
            _add(sums.setdefault(key, {}), value)
        elif isinstance(value, str):
            sums[key] = max(sums.get(key, value), value, key=SEVERITIES.index)
        else:
            sums[key] = sums.get(key, 0) + value


def quantile(classes: Mapping[str, int], share: float) -> float | None:
    """A quantile of classes of `_bin`, as the middle of its class: within 0.6 % of the value."""
    total = sum(classes.values())
    if not total:
        return None
    rest, number = share * total, 0
    for number, count in sorted((int(key), count) for key, count in classes.items()):
        rest -= count
        if rest <= 0:
            return _middle(number)
    return _middle(number)


def _middle(number: int) -> float:
    """The geometric middle of a class."""
    return float(10.0 ** ((number + 0.5) / BINS_PER_DECADE))


@dataclass
class Summary:
    """An archive in numbers. Its text is what `tcplab archive` prints.

    Attributes:
        place: Where the archive lies.
        captures: How many captures were read.
        packets: Their packets.
        noted: How many have notes, such as that they are damaged or cut off.
        notes: Of the first of them: `url` and `notes`.
        capture_bytes: Their size as files, in bytes.
        total: Connections, segments with data, SYN or FIN, retransmissions, unique bytes, delay
            and stalls.
        findings: By rule: connections, and the delay that they explain, in nanoseconds.
        stalls: By cause: number, and time in nanoseconds.
        peers: `total` by the server's address.
        hours: `total` by hour, UTC.
        worst: The hundred connections with the greatest delay, each with the command that opens
            it.
    """

    place: str
    captures: int = 0
    packets: int = 0
    capture_bytes: int = 0
    noted: int = 0
    notes: list[Record] = field(default_factory=list)
    total: Record = field(default_factory=_empty)
    findings: Record = field(default_factory=dict)
    stalls: Record = field(default_factory=dict)
    peers: Record = field(default_factory=dict)
    hours: Record = field(default_factory=dict)
    worst: list[Record] = field(default_factory=list)

    def to_dict(self) -> Record:
        """All of it as plain data, RTTs as quantiles, which are within 0.6 %."""
        parts = {key: value for key, value in vars(self).items() if key != "place"}
        parts["total"] = _shown(self.total)
        parts["peers"] = {name: _shown(sums) for name, sums in _by_delay(self.peers)}
        parts["hours"] = {name: _shown(sums) for name, sums in sorted(self.hours.items())}
        return {"schema": "tcplab.archive", "version": 1, **parts}

    def __str__(self) -> str:
        return "\n".join(_text(self))

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def summary(place: str | os.PathLike[str]) -> Summary:
    """Sums up an archive: findings, loss, RTT and stalls, by peer and hour, and the worst hundred.

    Args:
        place: Where `tcplab.archive` wrote.

    Raises:
        TcplabError: There is no archive.
    """
    where = open_place(place)
    found = Summary(where.name)
    worst: list[tuple[int, str, int, Record]] = []
    for sums in _stored(where):
        found.captures += sums["index"] == 0
        found.capture_bytes += sums["capture_bytes"] if sums["index"] == 0 else 0
        found.packets += sums["packets"] if sums["index"] == 0 else 0
        if sums["index"] == 0 and sums["notes"]:
            found.noted += 1
            if len(found.notes) < NOTED:
                found.notes.append({"url": sums["url"], "notes": sums["notes"]})
        for name in ("total", "findings", "stalls", "peers", "hours"):
            _add(getattr(found, name), sums[name])
        for one in sums["worst"]:
            command = _command(sums, one["connection"])
            name = f"{sums['url']} {sums['index']}"
            entry = (
                one["delay_ns"],
                name,
                one["connection"],
                {**one, "url": sums["url"], "command": command},
            )
            (heapq.heappush if len(worst) < WORST else heapq.heappushpop)(worst, entry)
    if not found.captures:
        raise TcplabError(
            f"{where.name} has no finished capture\n  try: tcplab archive CAPTURES -o {where.name}"
        )
    worst.sort(key=lambda entry: (-entry[0], entry[1], entry[2]))
    found.worst = [one for _, _, _, one in worst]
    return found


def _stored(place: Place) -> Iterator[Record]:
    """The sums of the captures whose rows count."""
    done = {f"{SUMS}/{task_key(task)}.json" for task in done_tasks(place)}
    names = (name for name, _ in place.files(SUMS) if name in done)
    yield from map(json.loads, place.read_all(names))


def _command(sums: Record, connection: int) -> str:
    """What opens a connection in depth. Its number is that among those that its task kept."""
    url, chosen = sums["url"], sums["filter"]
    if sums["count"] > 1:
        part = f"part {sums['index'] + 1}/{sums['count']}"
        chosen = f"({chosen}) and {part}" if chosen else part
    filtered = f" --filter {shlex.quote(chosen)}" if chosen else ""
    file = shlex.quote(url if "://" not in url else url.rsplit("/", 1)[-1])
    return f"tcplab trace {file} -c {connection}{filtered}"


def _shown(sums: Record) -> Record:
    """Sums with the quantities that people ask for."""
    rest = {key: value for key, value in sums.items() if key != "rtt"}
    for name, below in (("p5", 0.05), ("median", 0.5), ("p95", 0.95)):
        value = quantile(sums["rtt"], below)
        # The middle of a class may be outside of all values.
        if value is not None:
            value = min(max(value, sums["rtt_min_ns"]), sums["rtt_max_ns"])
        rest[f"rtt_{name}_ns"] = None if value is None else round(value)
    segments = sums["segments"]
    share = sums["retransmissions"] / segments if segments else None
    rest["retransmitted_percent"] = None if share is None else round(100 * share, 4)
    return rest


def _by_delay(groups: Mapping[str, Record]) -> list[tuple[str, Record]]:
    def order(item: tuple[str, Record]) -> tuple[int, int, str]:
        name, sums = item
        return -sums["delay_ns"], -sums["connections"], name

    return sorted(groups.items(), key=order)


def _text(found: Summary) -> Iterator[str]:
    total = _shown(found.total)
    yield (
        f"{counted(found.captures, 'capture')}, {size_of(found.capture_bytes)}, "
        f"{counted(found.packets, 'packet')}, {counted(total['connections'], 'connection')}, "
        f"{size_of(total['bytes'])} of data"
    )
    if found.notes:
        # What is about all of a capture, such as that it is cut off, before what is about a packet.
        notes = [(note, it["url"]) for it in found.notes for note in it["notes"]]
        note, url = min(notes, key=lambda it: it[0].startswith("frame "))
        have = "has" if found.noted == 1 else "have"
        yield (
            f"! {counted(found.noted, 'capture')} {have} notes, such as {visible(url)}: "
            f"{visible(note)}"
        )
    lost = _percent(total["retransmitted_percent"])
    yield (
        f"RTT p5 {_time(total['rtt_p5_ns'])}, median {_time(total['rtt_median_ns'])}, "
        f"p95 {_time(total['rtt_p95_ns'])}; "
        f"retransmitted {lost}; "
        f"stalled {_time(total['stalled_ns'])}"
    )
    rules = sorted(found.findings.items(), key=lambda it: (-it[1]["delay_ns"], it[0]))
    yield from _table(
        ["finding", "connections", "delay"],
        [[name, f"{it['connections']:,}", _time(it["delay_ns"])] for name, it in rules],
    )
    causes = sorted(found.stalls.items(), key=lambda it: (-it[1]["stalled_ns"], it[0]))
    yield from _table(
        ["stall", "number", "time"],
        [[name, f"{it['stalls']:,}", _time(it["stalled_ns"])] for name, it in causes],
    )
    for title, groups in (
        ("peer", _by_delay(found.peers)[:20]),
        ("hour (UTC)", sorted(found.hours.items())[-48:]),
    ):
        yield from _table(
            [title, "connections", "data", "RTT median", "retransmitted", "delay", "stalled"],
            [_group(name, _shown(sums)) for name, sums in groups],
        )
    if found.worst:
        yield ""
        count = len(found.worst)
        named = f"{count} connections" if count > 1 else "connection"
        yield f"the {named} with the greatest delay"
    for one in found.worst:
        yield f"{_time(one['delay_ns']):>8}  {one['rule']}: {visible(one['statement'])}"
        yield f"          {visible(one['command'])}"
        if "://" in one["url"]:
            yield f"          (a copy of {visible(one['url'])})"


def _group(name: str, sums: Record) -> list[str]:
    return [
        name,
        f"{sums['connections']:,}",
        size_of(sums["bytes"]),
        _time(sums["rtt_median_ns"]),
        _percent(sums["retransmitted_percent"]),
        _time(sums["delay_ns"]),
        _time(sums["stalled_ns"]),
    ]


def _table(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    """A table below an empty line; nothing without rows."""
    if not rows:
        return
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    yield ""
    for row in (head, *rows):
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield "  ".join(cells).rstrip()


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.3g} %"


def _time(nanoseconds: float | None) -> str:
    if nanoseconds is None:
        return "–"
    for unit, size in (("h", 3600e9), ("min", 60e9), ("s", 1e9), ("ms", 1e6)):
        if nanoseconds >= size * (2 if unit in ("h", "min") else 1):
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds / 1e3:.3g} µs" if nanoseconds else "0 s"

"""Figures for papers: matplotlib axes with the report's colours and units at the axes.

Each function draws on `ax`, or makes a figure, and returns the axes. A figure is saved as usual:
`ax.figure.savefig("figure.pdf")`, also `.pgf` and `.svg`. This needs matplotlib:
`pip install 'tcplab[plot]'`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import cycle
from typing import TYPE_CHECKING, Any

from tcplab import _core
from tcplab._extras import require
from tcplab._groups import Group, groups, level_column, level_numbers, level_unit
from tcplab._run import Run
from tcplab._table import Table
from tcplab._trace import Trace, is_forward
from tcplab._trial import Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {
    "data": "#0072b2",
    "retransmission": "#b35000",
    "timeout": "#b0005f",
    "acks": "#007655",
    "sack": "#8a4fa6",
    "edge": "#856300",
    "lost": "#1b1f24",
    "ink": "#30363d",
    "muted": "#5f6872",
    "grid": "#e4e7ea",
}
"""The report's colours: the hues of Okabe and Ito, dark enough for text."""

_LINES = ("data", "retransmission", "acks", "timeout", "edge", "sack", "ink")
_DASHES: tuple[Any, ...] = ("-", (0, (6, 3)), (0, (2, 2)), (0, (9, 3, 2, 3)))
_MANY = 20_000
"""From so many packets on a figure holds them as an image, which keeps a PDF small."""


def time_sequence(
    source: Trace | Trial,
    connection: int = 0,
    direction: str | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draws a connection's sequence numbers over time.

    New data, retransmissions and timeouts are strokes from the first byte to the last;
    acknowledgements and the right edge of the advertised window are steps. Where that edge is far
    ahead of the data, it is cut off.

    Args:
        source: A trace, or a trial, of which the capture of its client.
        connection: The connection, from 0.
        direction: `"forward"` (data of the client) or `"reverse"`; default: the one with more
            data.
        ax: Where to draw; default: a new figure.

    Returns:
        The axes: seconds, and bytes in MB.

    Raises:
        TcplabError: There is no such connection, or it has no data.
    """
    trace = _trace_of(source)
    way = _direction(trace, connection, direction)
    axes = _axes(ax)
    segments = _rows(trace.segments, connection, way)
    if not segments:
        raise _core.TcplabError(f"connection {connection} has no data in direction {way}")
    strokes: dict[str, list[list[tuple[float, float]]]] = {}
    for row in segments:
        at = row["at_ns"] / 1e9
        stroke = [(at, row["start"] / 1e6), (at, row["end"] / 1e6)]
        strokes.setdefault(_kind(row), []).append(stroke)
    lines = require("matplotlib.collections", "tcplab.plot").LineCollection
    for name, label in _KINDS.items():
        if name in strokes:
            axes.add_collection(
                lines(
                    strokes[name],
                    colors=COLOURS[name],
                    linewidths=1.4 if name == "data" else 3.0,
                    capstyle="projecting",  # so that short strokes are dots
                    label=label,
                    rasterized=len(segments) >= _MANY,
                    zorder=2 if name == "data" else 3,
                )
            )
    events = _rows(trace.events, connection, way)
    _acknowledgements(axes, events, few=len(segments) < _MANY)
    edge = _window_edge(axes, events, few=len(segments) < _MANY)
    axes.autoscale_view()
    # The data keep four fifths of the height.
    top = max(row["end"] for row in segments) / 1e6
    axes.set_ylim(0, 1.05 * max(top, min(edge, 1.25 * top)))
    return _finish(axes, "time (s)", "sequence number (MB)", legend=True)


def window(
    source: Trial | Run | Table,
    case: str | None = None,
    trial: int = 1,
    end: str | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draws congestion window, slow start threshold and data in flight over time.

    Args:
        source: A trial, a run, or a table of samples.
        case: Of a run, the case's name; needed only if there are several.
        trial: Of a run, the trial's number.
        end: `"client"` or `"server"`; default: the one that sent more.
        ax: Where to draw; default: a new figure.

    Returns:
        The axes: seconds, and segments.
    """
    rows = _samples(source, case, trial, end)
    axes = _axes(ax)
    times = [row["at_ns"] / 1e9 for row in rows]

    def line(values: Iterable[float | None], label: str, colour: str, **style: Any) -> None:
        shown = [float("nan") if value is None else value for value in values]
        axes.plot(times, shown, color=COLOURS[colour], label=label, **style)

    flight = [_in_flight(row) for row in rows]
    windows = [row["cwnd_segments"] for row in rows]
    thresholds = [row["ssthresh_segments"] for row in rows]
    line(flight, "in flight", "muted", linewidth=1.0)
    line(thresholds, "ssthresh", "retransmission", linewidth=1.2, linestyle="--")
    line(windows, "cwnd", "data", linewidth=1.6)
    axes.set_ylim(0, 1.08 * max((value or 0 for value in flight + windows), default=1) or 1)
    return _finish(axes, "time (s)", "segments", legend=True)


def rate(
    source: Trace | Trial,
    connection: int = 0,
    direction: str | None = None,
    *,
    interval: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draws how fast data were sent and acknowledged over time.

    Args:
        source: A trace, or a trial, of which the capture of its client.
        connection: The connection, from 0.
        direction: `"forward"` or `"reverse"`; default: the one with more data.
        interval: The time that a value is the mean of, in seconds; default: a fortieth of all.
        ax: Where to draw; default: a new figure.

    Returns:
        The axes: seconds, and Mbit/s.

    Raises:
        TcplabError: There is no such connection.
    """
    trace = _trace_of(source)
    rows = _merged(_series(trace, connection, _direction(trace, connection, direction)), interval)
    axes = _axes(ax)
    edges = [row["from_ns"] / 1e9 for row in rows] + [row["until_ns"] / 1e9 for row in rows[-1:]]
    for name, label, colour in (
        ("sent_bytes", "sent, with retransmissions", "muted"),
        ("acked_bytes", "goodput", "acks"),
    ):
        values = [_mbit(row, name) for row in rows]
        axes.stairs(values, edges, color=COLOURS[colour], label=label, linewidth=1.4)
    axes.set_ylim(bottom=0)
    return _finish(axes, "time (s)", "rate (Mbit/s)", legend=True)


def goodput(
    sources: Mapping[str, Trace | Trial],
    connection: int = 0,
    direction: str | None = None,
    *,
    interval: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draws the goodput of several traces or trials over time, a line each.

    Args:
        sources: Traces or trials by the names for the legend.
        connection: The connection of each, from 0.
        direction: `"forward"` or `"reverse"`; default: the one with more data.
        interval: The time that a value is the mean of, in seconds; default: a fortieth of all.
        ax: Where to draw; default: a new figure.

    Returns:
        The axes: seconds, and Mbit/s.

    Raises:
        TcplabError: There is no such connection.
    """
    axes = _axes(ax)
    for (name, source), style in zip(sources.items(), _styles(), strict=False):
        trace = _trace_of(source)
        rows = _series(trace, connection, _direction(trace, connection, direction))
        rows = _merged(rows, interval)
        times = [(row["from_ns"] + row["until_ns"]) / 2e9 for row in rows]
        axes.plot(times, [_mbit(row, "acked_bytes") for row in rows], label=name, **style)
    axes.set_ylim(bottom=0)
    return _finish(axes, "time (s)", "goodput (Mbit/s)", legend=True)


def ecdf(
    run: Run,
    metric: str,
    by: str | None = None,
    *,
    where: Mapping[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draws the distribution of a metric over the trials: the share of trials up to each value.

    Args:
        run: The run.
        metric: The metric's name, such as `"goodput"` (docs/metrics.md lists them).
        by: A factor: a line for each of its levels; default: a line for each case.
        where: Levels of factors, such as `{"path.loss": "1 %"}`; other cases are left out.
        ax: Where to draw; default: a new figure.

    Returns:
        The axes: the metric in its unit, and a share from 0 to 1.

    Raises:
        TcplabError: There is no such factor, level or metric.
    """
    found, unit = groups(run, metric, by, dict(where or {}))
    axes = _axes(ax)
    for group, style in zip(found, _styles(), strict=False):
        values = sorted(group.values)
        shares = [at / len(values) for at in range(len(values) + 1)]
        axes.step([values[0], *values], shares, where="post", label=group.name, **style)
    axes.set_ylim(0, 1.02)
    return _finish(axes, _label(metric, unit), "share of trials", legend=True, title=by)


def spread(
    run: Run,
    metric: str,
    by: str | None = None,
    *,
    where: Mapping[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draws every trial as a dot, and of each group the median with its interval of 95 %.

    Args:
        run: The run.
        metric: The metric's name, such as `"goodput"`.
        by: A factor: a row for each of its levels; default: a row for each case.
        where: Levels of factors; other cases are left out.
        ax: Where to draw; default: a new figure.

    Returns:
        The axes: the metric in its unit, and the groups from the top.

    Raises:
        TcplabError: There is no such factor, level or metric.
    """
    found, unit = groups(run, metric, by, dict(where or {}))
    axes = _axes(ax, rows=len(found))
    for row, group in enumerate(found):
        heights = [row + offset for offset in _offsets(group.values)]
        axes.plot(
            group.values,
            heights,
            "o",
            color=COLOURS["data"],
            markersize=4.5,
            alpha=0.5,
            markeredgewidth=0,
            zorder=2,
        )
        middle, interval = group.median, group.median_interval
        axes.plot([middle] * 2, [row - 0.3, row + 0.3], color=COLOURS["ink"], linewidth=2.2)
        if interval is not None:
            axes.plot(interval, [row + 0.36] * 2, color=COLOURS["ink"], linewidth=1.2, zorder=3)
    axes.set_yticks(range(len(found)), [group.name for group in found])
    axes.set_ylim(len(found) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=6)
    return _finish(axes, _label(metric, unit), by or "", grid="x")


def trend(
    run: Run,
    metric: str,
    over: str,
    by: str | None = None,
    *,
    where: Mapping[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draws the median of a metric over the numbers of a factor, with intervals of 95 %.

    Args:
        run: The run.
        metric: The metric's name, such as `"goodput"`.
        over: The factor at the horizontal axis; its levels are numbers.
        by: Another factor: a line for each of its levels; default: one line.
        where: Levels of factors; other cases are left out.
        ax: Where to draw; default: a new figure.

    Returns:
        The axes: the factor and the metric in their units.

    Raises:
        TcplabError: There is no such factor, level or metric, or the factor's levels are no
            numbers.
    """
    numbers = level_numbers(run, over)
    chosen = dict(where or {})
    lines = run.factors.get(by, []) if by else [""]
    if by and not lines:
        groups(run, metric, by, chosen)  # says which factors there are
    axes = _axes(ax)
    unit = ""
    # Intervals of several lines at one place stand side by side.
    step = 0.006 * (max(numbers.values()) - min(numbers.values()))
    for at, (name, style) in enumerate(zip(lines, _styles(), strict=False)):
        found, unit = groups(run, metric, over, chosen | ({by: name} if by else {}))
        _trend_line(axes, found, numbers, name, style, step * (at - (len(lines) - 1) / 2))
    if level_column(run, over).endswith("_ratio"):
        percent = require("matplotlib.ticker", "tcplab.plot").PercentFormatter(1.0, symbol=" %")
        axes.xaxis.set_major_formatter(percent)
    horizontal = _label(over.rpartition(".")[2], level_unit(run, over))
    return _finish(axes, horizontal, _label(metric, unit), legend=bool(by), title=by)


def _trend_line(
    axes: Axes,
    found: list[Group],
    numbers: Mapping[str, float],
    name: str,
    style: dict[str, Any],
    aside: float,
) -> None:
    points = sorted((numbers[group.name], group) for group in found if group.name in numbers)
    places = [place for place, _ in points]
    axes.plot(places, [group.median for _, group in points], marker="o", label=name, **style)
    for place, group in points:
        interval = group.median_interval
        if interval is not None:
            axes.plot([place + aside] * 2, interval, color=style["color"], linewidth=1.2, alpha=0.6)


_KINDS = {
    "data": "data",
    "retransmission": "retransmission",
    "timeout": "timeout",
    "muted": "other",
}


def _kind(row: Mapping[str, Any]) -> str:
    kind = str(row["kind"])
    if kind == "new":
        return "data"
    if kind == "timeout-retransmission":
        return "timeout"
    return "retransmission" if "retransmission" in kind else "muted"


def _acknowledgements(axes: Axes, rows: list[dict[str, Any]], *, few: bool) -> None:
    acks = [(row["at_ns"] / 1e9, row) for row in rows if row["ack"] is not None]
    if not acks:
        return
    times = [at for at, _ in acks]
    highest, heights = 0, []
    for _, row in acks:
        highest = max(highest, row["ack"])
        heights.append(highest / 1e6)
    axes.step(
        times,
        heights,
        where="post",
        color=COLOURS["acks"],
        linewidth=0.8,
        label="ACK",
        zorder=1.8,
        rasterized=not few,
    )
    sacked = [
        [(at, start / 1e6), (at, end / 1e6)]
        for at, row in acks
        for start, end in zip(row["sack_starts"] or (), row["sack_ends"] or (), strict=False)
    ]
    if sacked:
        lines = require("matplotlib.collections", "tcplab.plot").LineCollection
        axes.add_collection(
            lines(sacked, colors=COLOURS["sack"], linewidths=0.8, label="SACK", rasterized=not few)
        )


def _window_edge(axes: Axes, rows: list[dict[str, Any]], *, few: bool) -> float:
    """Draws the right edge of the advertised window, and returns its highest place in MB."""
    known = [row for row in rows if row["ack"] is not None and row["window_bytes"] is not None]
    edges = [(row["ack"] + row["window_bytes"]) / 1e6 for row in known]
    if edges:
        axes.step(
            [row["at_ns"] / 1e9 for row in known],
            edges,
            where="post",
            color=COLOURS["edge"],
            linewidth=0.8,
            linestyle="--",
            label="window's right edge",
            zorder=1.7,
            rasterized=not few,
        )
    return max(edges, default=0.0)


def _trace_of(source: Trace | Trial) -> Trace:
    return source.trace("client") if isinstance(source, Trial) else source


def _direction(trace: Trace, connection: int, direction: str | None) -> str:
    if is_forward(direction) is not None:
        return str(direction)
    for row in trace.connections:
        if row["connection"] == connection:
            more = row["forward_unique_bytes"] >= row["reverse_unique_bytes"]
            return "forward" if more else "reverse"
    known = len(trace.connections)
    raise _core.TcplabError(f"no connection {connection}: there are {known}, numbered from 0")


def _rows(table: Table, connection: int, direction: str) -> list[dict[str, Any]]:
    return [
        row for row in table if row["connection"] == connection and row["direction"] == direction
    ]


def _series(trace: Trace, connection: int, direction: str) -> list[dict[str, Any]]:
    rows = _rows(trace.table("series"), connection, direction)
    if not rows:
        raise _core.TcplabError(f"connection {connection} has no data in direction {direction}")
    return sorted(rows, key=lambda row: int(row["from_ns"]))


def _merged(rows: list[dict[str, Any]], interval: float | None) -> list[dict[str, Any]]:
    """Adjacent intervals as one, of at least this many seconds."""
    whole = rows[-1]["until_ns"] - rows[0]["from_ns"]
    least = whole / 40 if interval is None else interval * 1e9
    merged: list[dict[str, Any]] = []
    for row in rows:
        last = merged[-1] if merged else None
        if last is None or last["until_ns"] - last["from_ns"] >= least:
            merged.append(dict(row))
            continue
        last["until_ns"] = row["until_ns"]
        for name in ("sent_bytes", "acked_bytes"):
            last[name] += row[name]
    return merged


def _mbit(row: Mapping[str, Any], name: str) -> float:
    return float(row[name] * 8e3 / max(row["until_ns"] - row["from_ns"], 1))


def _samples(
    source: Trial | Run | Table, case: str | None, trial: int, end: str | None
) -> list[dict[str, Any]]:
    if isinstance(source, Run):
        source = source.samples(case, trial)
    elif isinstance(source, Trial):
        source = source.samples
    ends: dict[str, list[dict[str, Any]]] = {}
    for row in source:
        if row["at_ns"] is not None:
            ends.setdefault(str(row["endpoint"]), []).append(row)
    if not ends:
        raise _core.TcplabError("there are no samples of TCP's state")
    if end is None:
        end = max(ends, key=lambda name: max(row["acked_bytes"] or 0 for row in ends[name]))
    if end not in ends:
        raise _core.TcplabError(f"no samples of the end {end!r}; there are {', '.join(ends)}")
    return ends[end]


def _in_flight(row: Mapping[str, Any]) -> int | None:
    """Segments in the network by the sender's estimate (RFC 6675's pipe), as Linux counts them."""
    if row["unacked_segments"] is None:
        return None
    left = (row["sacked_segments"] or 0) + (row["marked_lost_segments"] or 0)
    return int(row["unacked_segments"] - left + (row["retrans_segments"] or 0))


def _offsets(values: list[float]) -> list[float]:
    """Heights that keep the dots of equal or near values apart, the same each time."""
    reach = (max(values) - min(values)) / 60 or 1.0
    offsets, last = [0.0] * len(values), float("-inf")
    steps = cycle((0.0, -0.09, 0.09, -0.18, 0.18, -0.26, 0.26))
    height = next(steps)
    for at in sorted(range(len(values)), key=values.__getitem__):
        if values[at] - last > reach:
            steps = cycle((0.0, -0.09, 0.09, -0.18, 0.18, -0.26, 0.26))
        height = next(steps)
        offsets[at], last = height, values[at]
    return offsets


def _styles() -> Iterable[dict[str, Any]]:
    """A colour and a dash for each line, so that they differ in grey, too."""
    for at in range(1_000):
        colour = COLOURS[_LINES[at % len(_LINES)]]
        yield {"color": colour, "linestyle": _DASHES[at % len(_DASHES)], "linewidth": 1.6}


def _axes(ax: Axes | None, rows: int = 0) -> Axes:
    if ax is not None:
        return ax
    pyplot = require("matplotlib.pyplot", "tcplab.plot")
    height = 1.3 + 0.42 * rows if rows else 3.6
    made: Axes = pyplot.subplots(figsize=(6.4, height), layout="constrained")[1]
    return made


def _finish(
    axes: Axes,
    horizontal: str,
    vertical: str,
    *,
    legend: bool = False,
    grid: Any = "both",
    title: str | None = None,
) -> Axes:
    axes.set_xlabel(horizontal, color=COLOURS["ink"])
    axes.set_ylabel(vertical, color=COLOURS["ink"])
    axes.grid(True, axis=grid, color=COLOURS["grid"], linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=COLOURS["muted"], labelcolor=COLOURS["ink"])
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(COLOURS["muted"])
    if legend:
        axes.legend(frameon=False, fontsize="small", title=title, title_fontsize="small")
    return axes


def _label(name: str, unit: str) -> str:
    words = name.replace("_", " ").replace(".", ", ")
    shown = words.replace("rtt", "RTT")
    return f"{shown} ({unit})" if unit else shown

"""Figures: drawn, labelled with units, saved as PDF and PGF."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import facade  # noqa: F401 - skips where the compiled part is missing
import pytest

import tcplab
from tcplab._groups import median, median_interval

pytest.importorskip("matplotlib").use("Agg")
pyplot: Any = pytest.importorskip("matplotlib.pyplot")
plot: Any = tcplab.plot


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    pyplot.close("all")


def saved(axes: Any, place: Path) -> None:
    file = place / "figure.pdf"
    axes.figure.savefig(file)
    assert file.read_bytes().startswith(b"%PDF")


def test_a_time_sequence_graph_has_data_and_acks(trial: tcplab.Trial, tmp_path: Path) -> None:
    axes = plot.time_sequence(trial)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert {"data", "retransmission", "ACK"} <= set(labels)
    assert axes.get_xlabel() == "time (s)"
    assert axes.get_ylabel() == "sequence number (MB)"
    assert 0.29 < axes.get_ylim()[1] < 0.41
    saved(axes, tmp_path)


def test_a_time_sequence_graph_has_the_edge_of_the_window(trial: tcplab.Trial) -> None:
    (line,) = (it for it in plot.time_sequence(trial).lines if "edge" in str(it.get_label()))
    rows = [it for it in trial.trace("client").events.to_dicts() if it["direction"] == "forward"]
    known = [row for row in rows if row["window_bytes"] is not None]
    assert len(known) > 10
    assert list(line.get_ydata()) == [(row["ack"] + row["window_bytes"]) / 1e6 for row in known]
    assert list(line.get_xdata()) == [row["at_ns"] / 1e9 for row in known]


def test_a_window_graph_has_segments(trial: tcplab.Trial, run: tcplab.Run, tmp_path: Path) -> None:
    axes = plot.window(trial)
    assert axes.get_ylabel() == "segments"
    assert len(axes.lines) == 3
    saved(plot.window(run, "loss=2%_reno", 3), tmp_path)
    saved(plot.window(trial.samples, end="server"), tmp_path)


def test_rates_are_in_mbit(trial: tcplab.Trial, tmp_path: Path) -> None:
    axes = plot.rate(trial.trace("client"))
    assert axes.get_ylabel() == "rate (Mbit/s)"
    saved(axes, tmp_path)
    axes = plot.goodput({"a": trial, "b": trial.trace("server")})
    assert axes.get_ylabel() == "goodput (Mbit/s)"
    saved(axes, tmp_path)


def test_distributions_have_a_line_for_each_level(run: tcplab.Run, tmp_path: Path) -> None:
    axes = plot.ecdf(run, "transfer_time", by="client.socket.congestion")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["reno", "cubic"]
    assert axes.get_xlabel() == "transfer time (s)"
    assert len(axes.lines[0].get_xdata()) == 17
    saved(axes, tmp_path)


def test_a_spread_has_a_dot_for_each_trial(run: tcplab.Run, tmp_path: Path) -> None:
    axes = plot.spread(run, "rtt.median", where={"path.loss": "2 %"})
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert [len(line.get_xdata()) for line in dots] == [8, 8]
    assert axes.get_xlabel() == "RTT, median (ms)"
    saved(axes, tmp_path)


def test_a_trend_has_numbers_at_its_axis(run: tcplab.Run, tmp_path: Path) -> None:
    axes = plot.trend(run, "goodput", over="path.loss", by="client.socket.congestion")
    lines = [line for line in axes.lines if line.get_marker() == "o"]
    assert [list(line.get_xdata()) for line in lines] == [[0.0, 0.02]] * 2
    assert axes.get_ylabel() == "goodput (Mbit/s)"
    saved(axes, tmp_path)


def test_given_axes_are_drawn_on(trial: tcplab.Trial) -> None:
    _, axes = pyplot.subplots(1, 2)
    assert plot.window(trial, ax=axes[1]) is axes[1]
    assert not axes[0].lines


def test_errors_name_what_there_is(run: tcplab.Run, trial: tcplab.Trial) -> None:
    with pytest.raises(tcplab.TcplabError, match="its factors: path.loss, client.socket"):
        plot.spread(run, "goodput", by="path.rate")
    with pytest.raises(tcplab.TcplabError, match="no trial has a metric `speed`; known:.*goodput"):
        plot.ecdf(run, "speed")
    with pytest.raises(tcplab.TcplabError, match="no level `9 %` of `path.loss`; its levels: 0 %"):
        plot.spread(run, "goodput", where={"path.loss": "9 %"})
    with pytest.raises(tcplab.TcplabError, match="are no numbers"):
        plot.trend(run, "goodput", over="client.socket.congestion")
    with pytest.raises(tcplab.TcplabError, match="no connection 7"):
        plot.time_sequence(trial, 7)


def test_the_median_and_its_interval() -> None:
    assert median([4.0, 1.0, 3.0, 2.0]) == 2.5
    assert median_interval(list(range(1, 11))) == (2, 9)  # the textbook's ranks for ten values
    assert median_interval(list(range(1, 7))) == (1, 6)
    assert median_interval([1.0] * 5) is None


def test_a_run_has_the_same_intervals(run: tcplab.Run) -> None:
    for case in run.json["cases"]:
        for summary in case["summaries"]:
            trials = [each for trial in case["trials"] for each in trial["metrics"]]
            own = [each["value"] for each in trials if each["name"] == summary["name"]]
            values = [value for value in own if value is not None]
            found, expected = summary["median_interval"], median_interval(values)
            assert (found and tuple(found)) == expected, summary["name"]


def test_latex_can_read_a_figure(run: tcplab.Run, tmp_path: Path) -> None:
    axes = plot.spread(run, "goodput")
    file = tmp_path / "figure.pgf"
    try:
        axes.figure.savefig(file)
    except (RuntimeError, FileNotFoundError) as error:
        pytest.skip(f"matplotlib's PGF needs a LaTeX: {error}")
    assert "pgfpicture" in file.read_text()

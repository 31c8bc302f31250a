"""Captures."""

from __future__ import annotations

import os
from pathlib import Path

import facade
import pytest

import tcplab
from tcplab._commands import run_command
from tcplab._trace import findings_list


@pytest.fixture
def capture(trial: tcplab.Trial) -> Path:
    return Path(trial.directory, "client.pcapng")


def test_a_capture_has_connections_segments_and_findings(capture: Path) -> None:
    trace = tcplab.trace(capture)
    assert len(trace.connections) == 1
    assert trace.packets > 100
    assert trace.files == [str(capture)]
    assert trace.started is not None
    assert {"new"} < set(trace.segments.column("kind"))
    assert trace.findings.column_names[:2] == ["connection", "rule"]
    assert trace.connection(0)["findings"][0]["rule"] == "recovery-episode"
    assert "recovery-episode" in trace._repr_html_()
    for name in trace.tables:
        assert trace.table(name).column_names


def test_a_trial_traces_both_ends(trial: tcplab.Trial) -> None:
    for end in ("client", "server"):
        assert trial.trace(end).connections.column("packets")[0] > 100


def test_small_tables_are_read_once(capture: Path) -> None:
    trace = tcplab.trace(capture)
    assert trace.findings is trace.findings
    segments = trace.segments
    assert trace.segments is segments


def test_a_filter_leaves_packets_out(capture: Path) -> None:
    assert len(tcplab.trace(capture, filter="port 9").connections) == 0
    assert len(tcplab.trace([capture], filter="time 0s..0.05s").connections) == 1


def test_a_connection_is_a_dictionary(capture: Path) -> None:
    connection = tcplab.trace(capture).connection(0)
    assert connection["forward"]["unique_bytes"] == 300_000


def test_pictures_are_svg_and_save_themselves(capture: Path, tmp_path: Path) -> None:
    trace = tcplab.trace(capture)
    for picture in (trace.ladder(0), trace.time_sequence(0), trace.time_sequence(0, "reverse")):
        assert picture.text.lstrip().startswith(("<svg", "<?xml"))
        assert "<svg" in picture._repr_html_()
        saved = picture.save(tmp_path / "picture.svg")
        assert saved.read_text() == str(picture)


def test_a_page_is_one_file(capture: Path, tmp_path: Path) -> None:
    page = tcplab.trace(capture).save_page(tmp_path / "page.html")
    assert "<html" in page.read_text()[:200].lower()


def test_a_trace_shows_itself(capture: Path) -> None:
    trace = tcplab.trace(capture)
    assert "client.pcapng" in repr(trace)
    assert "10.98.0.1" in trace._repr_html_()
    assert "Connection 0" in str(trace)


def test_several_captures_are_read_as_one(trial: tcplab.Trial, tmp_path: Path) -> None:
    capture = Path(trial.directory, "client.pcapng")
    copy = tmp_path / "copy.pcapng"
    copy.write_bytes(capture.read_bytes())
    assert tcplab.trace([capture, copy]).packets == 2 * tcplab.trace(capture).packets


def test_a_direction_that_does_not_exist_is_refused(capture: Path) -> None:
    with pytest.raises(ValueError, match="'forward' or 'reverse', not 'up'"):
        tcplab.trace(capture).time_sequence(0, "up")


def test_a_path_has_a_description_and_a_picture(tmp_path: Path) -> None:
    picture = tcplab.path("lte")
    assert "12 Mbit/s" in picture.description
    assert "<svg" in picture.text
    assert "12 Mbit/s" in repr(picture)
    mine = tcplab.path({"rate": "20 Mbit/s", "delay": "20 ms", "loss": 0.01}, seconds=2.0)
    assert "20 Mbit/s" in mine.description
    assert mine.save(tmp_path / "path.svg").stat().st_size > 500


@pytest.fixture(scope="module")
def damaged() -> tcplab.Trial:
    """A trial over a path that damages packets."""
    return tcplab.simulate(facade.upload().with_({"path.corrupt": 0.02}))


@pytest.mark.parametrize("end", ["client", "server"])
def test_damaged_packets_are_no_data_as_in_the_command(
    damaged: tcplab.Trial, tmp_path: Path, end: str
) -> None:
    capture = Path(damaged.directory, f"{end}.pcapng")
    expected = tmp_path / "expected.csv"
    run_command(["export", str(capture), "--table", "segments", "-o", str(expected)])
    for table in (damaged.packets(end), tcplab.trace(capture).segments):
        assert table.write(tmp_path / "found.csv").read_bytes() == expected.read_bytes()


def test_checksums_leave_damaged_packets_out(damaged: tcplab.Trial, tmp_path: Path) -> None:
    # Beside its recording nothing says that the path of a capture damaged packets.
    copy = tmp_path / "copy.pcapng"
    copy.write_bytes(Path(damaged.directory, "server.pcapng").read_bytes())
    right = tcplab.trace(copy, checksums=True)
    assert right.segments.rows() == damaged.packets("server").rows()
    assert len(right.segments) < len(tcplab.trace(copy).segments)
    assert str(right) != str(tcplab.trace(copy))


def test_a_capture_that_has_changed_is_refused(capture: Path, tmp_path: Path) -> None:
    file = tmp_path / "changing.pcapng"
    file.write_bytes(capture.read_bytes())
    trace = tcplab.trace(file)
    before = trace.connections.rows()
    file.write_bytes(capture.read_bytes()[:20_000])
    for call in (
        lambda: trace.segments,
        lambda: trace.connection(0),
        lambda: trace.ladder(0),
        trace.summary,
        lambda: trace.save_page(tmp_path / "page.html"),
    ):
        with pytest.raises(tcplab.TcplabError, match="changing.pcapng has changed since"):
            call()
    assert trace.connections.rows() == before
    assert len(tcplab.trace(file).segments) > 0


def test_a_trace_is_of_its_capture_in_another_directory(
    capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(capture.parent)
    trace = tcplab.trace(capture.name)
    monkeypatch.chdir(tmp_path)
    assert trace.files == [str(capture)]
    assert len(trace.segments) > 0
    assert trace.save_page("page.html").stat().st_size > 10_000


def test_what_is_no_path_is_refused_by_its_name(capture: Path) -> None:
    assert tcplab.trace(os.fsencode(capture)).files == [str(capture)]
    with capture.open("rb") as file, pytest.raises(TypeError, match="BufferedReader.*pass a path"):
        tcplab.trace(file)  # type: ignore[arg-type]
    for given in (3, [3], None):
        with pytest.raises(TypeError, match=r"^(3|None) is no path: pass "):
            tcplab.trace(given)  # type: ignore[arg-type]


def test_what_can_be_read_only_once_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tcplab.TcplabError, match="standard input can be read only once"):
        tcplab.trace("-")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(tcplab.TcplabError, match="pipe can be read only once"):
            tcplab.trace(tmp_path / "pipe")


def test_numbers_that_name_something_stand_in_one_piece(capture: Path) -> None:
    trace = tcplab.trace(capture)
    shown = trace.connections._repr_html_()
    assert ">5001<" in shown
    assert "5,001" not in shown + trace._repr_html_()
    records = tcplab.Records([{"frames": [2, 1050], "bytes": 1500}])
    assert "frames: 2, 1050; bytes: 1,500" in repr(records)
    assert "2, 1050" in records._repr_html_()


def test_findings_have_a_colour_by_their_severity_alone(trial: tcplab.Trial) -> None:
    finding = {"rule": "a-rule", "statement": "Something.", "frames": [1050]}
    shown = {
        severity: findings_list([{**finding, "severity": severity}])
        for severity in ("good", "note", "harm", "failure", "doubt")
    }
    coloured = {severity for severity, text in shown.items() if 'class="good"' in text}
    harmful = {severity for severity, text in shown.items() if 'class="harm"' in text}
    assert (coloured, harmful) == ({"good"}, {"harm", "failure"})
    assert "<b>a-rule</b>" in findings_list([finding])
    assert "frames 1050" in findings_list([finding])
    assert 'class="harm"' not in trial._repr_html_()

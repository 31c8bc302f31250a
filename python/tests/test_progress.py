"""Progress: a line on a terminal, nothing elsewhere."""

from __future__ import annotations

import io
import sys

import pytest

from tcplab._html import table, visible
from tcplab._progress import Progress, RunProgress


class Terminal(io.StringIO):
    """Standard error that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_line_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with Progress("trials", total=3) as progress:
        progress.update(1, note="loss\x1b[31m")
        progress.update(3)
    shown = terminal.getvalue().split("\r")
    assert shown[1].startswith("trials: 1 of 3")
    assert "\x1b" not in terminal.getvalue()
    assert r"loss\x1b[31m" in shown[1]
    assert shown[-2].strip() == ""
    assert shown[-1] == ""


def test_a_file_or_a_pipe_gets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    with Progress("trials", total=3) as progress:
        progress.update(1)
    assert stderr.getvalue() == ""


def test_it_is_drawn_ten_times_a_second_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with Progress("trials", total=100_000) as progress:
        for done in range(10_000):
            progress.update(done)
    assert terminal.getvalue().count("\r") < 30


def test_the_events_of_a_run_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    progress = RunProgress(show=True)
    progress({"kind": "trial", "index": 1, "total": 2, "case": "reno", "number": 1})
    progress({"kind": "something-new"})
    progress({"kind": "trial", "index": 2, "total": 2, "case": "cubic", "number": 1})
    progress({"kind": "analysing", "step": 1, "total": 2})
    progress({"kind": "reporting"})
    progress.finish()
    assert "trials: 0 of 2" in terminal.getvalue()
    assert "reno, number 1" in terminal.getvalue()
    assert "trials: 2 of 2" in terminal.getvalue()


def test_foreign_text_is_made_visible() -> None:
    assert visible("a\u202eb\x9bc\td\ud800") == r"a\u{202e}b\x9bc\td\u{d800}"
    assert visible("line\nline\t", one_line=False) == "line\nline\t"
    assert visible("Größe – 10 µs") == "Größe – 10 µs"


def test_cells_of_a_table_are_escaped() -> None:
    shown = table(["<name>"], [["<script>"], ["&"]], units=["<s>"], titles=['"quoted"'])
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "&lt;name&gt;" in shown
    assert "&quot;quoted&quot;" in shown

"""Sweeps whose tasks or trials fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fake_core import FakeCore, FakeScenario
from test_sweep import core, quiet, rows_of, wanted

from tcplab import _sweep, commands
from tcplab._core import TcplabError
from tcplab._dataset import Dataset

__all__ = ["core"]  # a fixture


def test_failed_task_is_listed_and_others_go_on(
    core: FakeCore, tmp_path: Path, threads: Any
) -> None:
    core.broken.add(("a", 5))
    dataset = quiet(tmp_path, threads, per_task=2)
    (failure,) = dataset.failures
    assert (failure.what, failure.attempts) == ("a 5-6", 3)
    assert failure.reasons == ("ValueError: trial 5 of a is broken",) * 3
    assert dataset.missing == ["a 5-6"]
    assert rows_of(dataset) == [it for it in wanted(10) if it not in (("a", 5), ("a", 6))]
    core.broken.clear()
    dataset = quiet(tmp_path, threads)
    assert (dataset.failures, dataset.missing) == ([], [])
    assert rows_of(dataset) == wanted(10)


def test_failure_is_gone_once_its_trials_are_done_in_other_tasks(
    core: FakeCore, tmp_path: Path, threads: Any
) -> None:
    core.broken.add(("a", 5))
    assert [it.what for it in quiet(tmp_path, threads, per_task=10).failures] == ["a 1-10"]
    # In smaller tasks only the one with this trial fails.
    assert [it.what for it in quiet(tmp_path, threads, per_task=3).failures] == ["a 4-6"]
    core.broken.clear()
    assert quiet(tmp_path, threads, per_task=7).failures == []


def test_quiet_command_and_a_resumed_one_say_what_failed(
    core: FakeCore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    threads: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    core.broken.add(("a", 5))
    core.bad.add(("b/1%", 2))
    monkeypatch.setattr(commands, "_engine", lambda _: threads)
    monkeypatch.setattr(_sweep, "_inner", lambda _: FakeScenario())
    arguments = ["sweep", "fake", "-o", str(tmp_path), "--per-task", "5", "-q"]
    assert commands.main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "error: 1 task failed on each attempt\n"
        "  a 1-5: failed 3 times; ValueError: trial 5 of a is broken\n"
        "error: 1 trial failed (b/1%: 1)\n"
        "  b/1% trial 2: failed 2 times; too slow: 0 B have arrived\n"
    )
    core.broken.clear()
    assert commands.main(arguments) == 2
    for options in (["-q"], []):
        assert commands.main([*arguments[:-1], *options]) == 2
        assert "error: 1 trial failed (b/1%: 1)\n" in capsys.readouterr().err


def test_engine_that_does_not_answer_leaves_the_place_for_another_call(
    core: FakeCore, tmp_path: Path, threads: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(on: object) -> Any:
        raise TcplabError(f"no answer from {on}")

    with monkeypatch.context() as patched:
        patched.setattr(_sweep, "open_engine", refuse)
        with pytest.raises(TcplabError, match="no answer"):
            quiet(tmp_path, threads)
    assert list(tmp_path.iterdir()) == []
    assert rows_of(quiet(tmp_path, threads, seed=8)) == wanted(10)


def test_failed_trials_are_told_of_whichever_tables_are_kept(
    core: FakeCore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    threads: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    core.bad.update(("a", number) for number in range(1, 8))
    monkeypatch.setattr(commands, "_engine", lambda _: threads)
    monkeypatch.setattr(_sweep, "_inner", lambda _: FakeScenario())
    arguments = ["sweep", "fake", "-o", str(tmp_path), "--per-task", "10", "--json"]
    assert commands.main([*arguments, "--tables", "episodes"]) == 2
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert (found["failed_trials"], found["rows"]) == (7, {"episodes": 20})
    dataset = Dataset(tmp_path)
    assert found["trial_failures"] == json.loads(json.dumps([*map(vars, dataset.trial_failures)]))
    assert [it.what for it in dataset.trial_failures] == [f"a trial {it}" for it in range(1, 6)]
    assert {it.reasons for it in dataset.trial_failures} == {("too slow: 0 B have arrived",)}
    assert dataset.failures == []
    assert not (tmp_path / "trials").exists()
    first, *lines, last = said.err.splitlines()[-7:]
    assert first == "error: 7 trials failed (a: 7)"
    assert lines[4] == "  a trial 5: failed 2 times; too slow: 0 B have arrived"
    assert last == "  and 2 more"

"""Sweeps of scenarios that read other files: rows are of one content of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import facade  # noqa: F401 - skips where the compiled part is missing
import pytest

import tcplab


def traced(directory: Path, rates: range) -> tcplab.Scenario:
    """A scenario whose path follows a file of rates (Mahimahi's format)."""
    directory.mkdir(exist_ok=True)
    (directory / "t.up").write_text("".join(f"{at}\n" for at in rates))
    sections = {
        "title": "A varying rate",
        "path": {"rate": {"trace": "t.up"}, "delay": "20 ms"},
        "client": {"stack": "model:linux-6.18"},
        "server": {"stack": "model:linux-6.18"},
        "workload": {"upload": "300 kB"},
        "repeat": {"trials": 1},
    }
    return tcplab.Scenario.from_dict(sections, name="traced", directory=directory)


def test_scenario_with_another_rate_file_is_another(
    tmp_path: Path, threads: ThreadPoolExecutor
) -> None:
    fast = traced(tmp_path / "fast", range(1, 1000))
    slow = traced(tmp_path / "slow", range(1, 1000, 5))
    assert fast.toml == slow.toml
    assert fast != slow and len({fast, slow}) == 2
    assert fast == traced(tmp_path / "again", range(1, 1000))
    found = []
    for scenario in (fast, slow, fast):
        run = tcplab.run(scenario, world="sim", on=threads, directory=tmp_path, progress=False)
        (goodput,) = run.trials.to_polars()["goodput_mbit_per_second"]
        assert goodput == tcplab.simulate(scenario).metrics["goodput"]
        found.append(goodput)
    assert found[0] == found[2] > 2 * found[1]


def test_rate_file_that_was_edited_is_refused(tmp_path: Path, threads: ThreadPoolExecutor) -> None:
    place = tmp_path / "place"
    scenario = traced(tmp_path, range(1, 1000))
    tcplab.sweep(scenario, place, on=threads, progress=False)
    edited = traced(tmp_path, range(1, 1000, 5))
    for trials in (None, 2):
        with pytest.raises(
            tcplab.TcplabError, match="another content of the files that the scenario"
        ):
            tcplab.sweep(edited, place, on=threads, progress=False, trials=trials)


def test_worker_with_another_rate_file_is_refused(
    tmp_path: Path, threads: ThreadPoolExecutor
) -> None:
    scenario = traced(tmp_path, range(1, 1000, 2))
    changed = traced(tmp_path, range(1, 1000, 3))
    with pytest.raises(
        tcplab.TcplabError, match="reads other files that the scenario traced names"
    ):
        tcplab.sweep(scenario, tmp_path / "place", on=threads, progress=False)
    tcplab.sweep(changed, tmp_path / "other", on=threads, progress=False)

"""Eight threads at once, and nothing that stays open."""

from __future__ import annotations

import gc
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from facade import lossy

import tcplab


def handles() -> set[str]:
    """What this process has open."""
    place = Path("/proc/self/fd")
    if not place.is_dir():
        pytest.skip("this system does not list a process's open files")
    found = set()
    for entry in place.iterdir():
        try:
            found.add(f"{entry.name} {os.readlink(entry)}")
        except FileNotFoundError:
            continue  # the handle that lists the directory
    return {each for each in found if "/proc/" not in each}


def work(number: int) -> tuple[int, float, int]:
    trial = tcplab.simulate(lossy(), seed=number % 4)
    trace = trial.trace("client")
    rows = len(trace.segments) + len(trace.events) + len(trial.path_log)
    assert trace.ladder(0).text
    return number % 4, trial.metrics["transfer_time"], rows


def test_eight_threads_trace_and_simulate_at_once() -> None:
    work(0)
    gc.collect()
    before = handles()
    with ThreadPoolExecutor(max_workers=8) as pool:
        results = list(pool.map(work, range(64)))
    seen: dict[int, tuple[float, int]] = {}
    for seed, time, rows in results:
        assert seen.setdefault(seed, (time, rows)) == (time, rows)
    assert len(seen) == 4
    gc.collect()
    assert handles() == before


def test_one_table_is_read_by_many_threads(trial: tcplab.Trial) -> None:
    table = trial.packets()
    with ThreadPoolExecutor(max_workers=8) as pool:
        read = list(pool.map(lambda _: table.column("frame"), range(32)))
    assert all(each == read[0] for each in read)


def test_an_error_leaves_nothing_open(trial: tcplab.Trial) -> None:
    gc.collect()
    before = handles()
    for _ in range(20):
        with pytest.raises(tcplab.TcplabError):
            trial.trace("client").connection(9)
        with pytest.raises(tcplab.TcplabError):
            tcplab.trace(__file__)
    gc.collect()
    assert handles() == before

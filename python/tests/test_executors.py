"""Tasks on engines: all done once, bounded, tried again, and what happens when something dies."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cluster_tasks as tasks
import pytest
from cluster_tasks import Number
from conftest import DaskProcesses, needs_core

from tcplab._core import TcplabError
from tcplab._executors import (
    EngineLostError,
    Outcome,
    WorkerRefusedError,
    completed,
    open_engine,
)

Run = Callable[..., list[Outcome[Number]]]


@pytest.fixture
def run(on: Any) -> Iterator[Run]:
    """Runs tasks on each engine in turn."""
    engine = open_engine(on)

    def outcomes(work: Any, numbers: Any, **options: Any) -> list[Outcome[Number]]:
        return list(completed(engine, work, numbers, **options))

    yield outcomes
    engine.close(at_once=True)


def test_each_task_ends_once(run: Run) -> None:
    outcomes = run(tasks.square, (Number(it) for it in range(50)))
    assert sorted(it.task.value for it in outcomes) == list(range(50))
    for it in outcomes:
        assert it.record is not None
        assert it.record["square"] == it.task.value**2
        assert (it.attempts, it.reasons) == (1, ())


def test_tasks_in_flight_are_bounded(on: Any) -> None:
    engine = open_engine(on)
    taken = ended = most = 0

    def numbers() -> Iterator[Number]:
        nonlocal taken, most
        for it in range(60):
            taken += 1
            most = max(most, taken - ended)
            yield Number(it, seconds=0.002)

    for _ in completed(engine, tasks.square, numbers(), per_slot=3):
        ended += 1
    engine.close(at_once=True)
    assert ended == 60
    assert 3 <= most <= 2 * 3


def test_bound_of_all_tasks_holds(threads: ThreadPoolExecutor) -> None:
    engine = open_engine(threads)
    assert engine.most({"testbed": 1}) == 1
    running = most = 0

    def alone(task: Number, attempt: int, reasons: tuple[str, ...]) -> dict[str, Any]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        time.sleep(0.005)
        running -= 1
        return {}

    outcomes = list(completed(engine, alone, map(Number, range(8)), most=1))
    assert (len(outcomes), most) == (8, 1)


def test_failed_task_is_tried_again_and_reasons_are_kept(run: Run) -> None:
    outcomes = {it.task.value: it for it in run(tasks.third_time, map(Number, range(4)))}
    assert [outcomes[it].attempts for it in range(4)] == [3, 1, 3, 1]
    record = outcomes[2].record
    assert record is not None
    assert record["reasons"] == ["ValueError: attempt 1 of 2", "ValueError: attempt 2 of 2"]
    assert outcomes[2].reasons == tuple(record["reasons"])


def test_task_that_always_fails_ends_with_its_reasons(run: Run) -> None:
    outcomes = {it.task.value: it for it in run(tasks.never, map(Number, range(6)))}
    assert outcomes[3].record is None
    assert outcomes[3].reasons == ("ValueError: three",) * 3
    assert all(outcomes[it].record for it in range(6) if it != 3)


def test_work_that_never_succeeds_ends(threads: ThreadPoolExecutor) -> None:
    engine = open_engine(threads)
    with pytest.raises(TcplabError, match="the first 10 tasks failed on each attempt: .*three"):
        list(completed(engine, tasks.never, (Number(3) for _ in range(1000))))


@pytest.mark.parametrize("on", ["local", "dask", "ray"], indirect=True)
def test_worker_that_dies_loses_nothing(run: Run, tmp_path: Path) -> None:
    numbers = (Number(it, str(tmp_path), seconds=0.01) for it in range(20))
    outcomes = run(tasks.dies_once, numbers)
    assert sorted(it.task.value for it in outcomes) == list(range(20))
    assert all(it.record for it in outcomes)
    assert (tmp_path / "died").exists()


@pytest.mark.parametrize("on", ["local", "ray"], indirect=True)
def test_task_that_kills_its_workers_fails_alone(run: Run) -> None:
    outcomes = {it.task.value: it for it in run(tasks.dies, map(Number, range(12)))}
    assert outcomes[3].record is None
    assert outcomes[3].attempts == 3
    assert all("Broken" in it or "Crashed" in it for it in outcomes[3].reasons)
    assert all(outcomes[it].record for it in range(12) if it != 3)


def test_dask_task_that_kills_its_workers_fails_alone(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as own,
        distributed.Client(own, set_as_default=False) as client,
    ):
        engine = open_engine(client)
        found = completed(engine, tasks.dies, map(Number, range(8)), attempts=1)
        outcomes = {it.task.value: it for it in found}
    assert outcomes[3].record is None
    assert "KilledWorker" in outcomes[3].reasons[0]
    # Dask moves a task that was on a worker that died; a few may be blamed with it.
    assert sum(it.record is not None for it in outcomes.values()) >= 6


def test_scheduler_that_dies_ends_the_work(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    cluster = DaskProcesses(tmp_path, 2)
    try:
        client = cluster.client()
        engine = open_engine(client)
        ended = 0

        def run() -> None:
            nonlocal ended
            for _ in completed(engine, tasks.square, (Number(it, "", 0.05) for it in range(400))):
                ended += 1
                if ended == 10:
                    cluster.scheduler.kill()

        with pytest.raises(EngineLostError, match=r"is gone: .*\n  try: start it again and repeat"):
            run()
        assert 10 <= ended < 400
        client.close(timeout=1)
    finally:
        cluster.close()


def test_executor_that_was_shut_down_is_lost() -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(EngineLostError, match="ThreadPoolExecutor is gone"):
        list(completed(open_engine(executor), tasks.square, map(Number, range(3))))


def test_refused_worker_ends_the_work(threads: ThreadPoolExecutor) -> None:
    def refuse(task: Number, attempt: int, reasons: tuple[str, ...]) -> dict[str, Any]:
        raise WorkerRefusedError("another version")

    with pytest.raises(WorkerRefusedError, match="another version"):
        list(completed(open_engine(threads), refuse, map(Number, range(3))))


def test_missing_resource_is_named(dask_client: Any, ray_cluster: str) -> None:
    for on, remedy in ((dask_client, "--resources testbed=1"), (ray_cluster, '{"testbed": 1}')):
        with pytest.raises(LookupError) as caught:
            open_engine(on).most({"testbed": 1.0})
        assert remedy in str(caught.value)


def test_what_is_no_engine_is_refused() -> None:
    for given in (3.5, "nonsense", object(), True):
        with pytest.raises(TypeError, match="is no engine: pass a Dask client"):
            open_engine(given)


def test_engine_that_is_not_installed_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(TcplabError, match=r"not installed\n  try: pip install 'tcplab\[dask\]'"):
        open_engine("tcp://127.0.0.1:1")


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("Ray Client requires pip package `ray[client]`", r"no client.*\n.*'tcplab\[ray\]'$"),
        (
            "port 'x' is no number",
            r"ray://h:x: ValueError: port 'x' .*\n  try: correct the address",
        ),
    ],
)
def test_address_that_ray_cannot_take_is_an_error(
    said: str, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def init(**options: Any) -> None:
        raise ValueError(said)

    ray = SimpleNamespace(is_initialized=lambda: False, init=init)
    monkeypatch.setitem(sys.modules, "ray", ray)
    with pytest.raises(TcplabError, match=error):
        open_engine("ray://h:x")


def test_dask_task_costs_little(dask_client: Any, capsys: pytest.CaptureFixture[str]) -> None:
    engine = open_engine(dask_client)
    list(completed(engine, tasks.square, map(Number, range(50))))
    began = time.perf_counter()
    count = 500
    list(completed(engine, tasks.square, map(Number, range(count))))
    each = (time.perf_counter() - began) / count
    with capsys.disabled():
        print(f"\n  a Dask task costs {1000 * each:.2f} ms")
    assert each < 0.02


UNGUARDED = """
import sys

with open(sys.argv[1], "a") as runs:
    runs.write("run\\n")

from cluster_tasks import Number, square
from tcplab._executors import completed, open_engine

engine = open_engine(2)
try:
    list(completed(engine, square, (Number(it) for it in range(20)), attempts=int(sys.argv[2])))
finally:
    engine.close(at_once=True)
"""


@needs_core
@pytest.mark.parametrize("attempts", [1, 3])
def test_program_without_the_guard_ends_with_an_error_that_names_it(
    tmp_path: Path, attempts: int
) -> None:
    program, runs = tmp_path / "program.py", tmp_path / "runs"
    program.write_text(UNGUARDED)
    ended = subprocess.run(
        [sys.executable, str(program), str(runs), str(attempts)],
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 1
    assert "TcplabError: a local process cannot start others" in ended.stderr
    *_, error, remedy = ended.stderr.splitlines()
    assert "TcplabError: the local processes ended before they began" in error
    assert 'if __name__ == "__main__":' in remedy
    assert 2 <= runs.read_text().count("run") <= 1 + 2

"""Sweeps: the rows of the command, whatever dies meanwhile."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import SCENARIO, DaskProcesses, needs_core, until
from fake_core import FakeCore, FakeScenario

from tcplab import _sweep, _worker, commands
from tcplab._core import TcplabError
from tcplab._dataset import Dataset, disjoint, partition
from tcplab._executors import EngineLostError
from tcplab._place import open_place
from tcplab._sweep import sweep


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> FakeCore:
    fake = FakeCore()
    monkeypatch.setattr(_sweep, "_core", fake)
    monkeypatch.setattr(_worker, "_core", fake)
    return fake


def rows_of(dataset: Dataset) -> list[tuple[str, int]]:
    """Case and trial of each row of the fake's parts."""
    lines = (line for file in dataset.trials.files for line in Path(file).read_text().splitlines())
    return sorted((row[0], row[1]) for row in map(json.loads, lines))


def wanted(trials: int) -> list[tuple[str, int]]:
    return sorted((case, trial) for case in ("a", "b/1%") for trial in range(1, trials + 1))


def quiet(place: Path, executor: ThreadPoolExecutor, **options: Any) -> Dataset:
    scenario = options.pop("scenario", FakeScenario())
    return sweep(scenario, place, on=executor, progress=False, **options)


def test_each_trial_has_one_row(core: FakeCore, tmp_path: Path, threads: Any) -> None:
    dataset = quiet(tmp_path, threads, per_task=3)
    assert rows_of(dataset) == wanted(10)
    assert dataset.missing == []
    assert dataset.failures == []
    assert len(dataset.trials.files) == len(dataset.table("episodes").files) == 8
    records = list(dataset.records)
    assert sum(record["rows"]["trials"] for record in records) == 20
    assert all(record["worker"] and record["version"] == "1.0" for record in records)
    assert sorted(core.ran) == wanted(10)


def test_second_call_runs_nothing(core: FakeCore, tmp_path: Path, threads: Any) -> None:
    quiet(tmp_path, threads, per_task=3)
    core.ran.clear()
    dataset = quiet(tmp_path, threads)
    assert core.ran == []
    assert rows_of(dataset) == wanted(10)


def test_part_without_record_is_written_again(core: FakeCore, tmp_path: Path, threads: Any) -> None:
    quiet(tmp_path, threads, per_task=3)
    record = next((tmp_path / "_done").glob("*-4-6.json"))
    record.unlink()
    core.ran.clear()
    dataset = quiet(tmp_path, threads)
    assert [trial for _, trial in core.ran] == [4, 5, 6]
    assert rows_of(dataset) == wanted(10)


def test_record_without_part_is_run_again(core: FakeCore, tmp_path: Path, threads: Any) -> None:
    quiet(tmp_path, threads, per_task=5)
    (tmp_path / "trials" / partition("case", "a") / "part-00001-00005.parquet").unlink()
    core.ran.clear()
    dataset = quiet(tmp_path, threads)
    assert core.ran == [("a", it) for it in range(1, 6)]
    assert rows_of(dataset) == wanted(10)


def test_more_trials_are_added(core: FakeCore, tmp_path: Path, threads: Any) -> None:
    quiet(tmp_path, threads, per_task=4, trials=6)
    core.ran.clear()
    dataset = quiet(tmp_path, threads, trials=11)
    assert sorted(core.ran) == [(case, it) for case in ("a", "b/1%") for it in range(7, 12)]
    assert rows_of(dataset) == wanted(11)
    # Without a number, those of before.
    assert quiet(tmp_path, threads).plan["trials"] == 11


def test_two_sweeps_at_once_count_each_trial_once(
    core: FakeCore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes, both = iter((3, 4)), threading.Barrier(2)

    def measured(*_: object) -> dict[str, int]:
        both.wait(20)
        size = next(sizes)
        return {"a": size, "b/1%": size}

    monkeypatch.setattr(_sweep, "_measured_sizes", measured)
    with ThreadPoolExecutor(2) as callers, ThreadPoolExecutor(2) as executor:
        calls = [callers.submit(quiet, tmp_path, executor) for _ in range(2)]
        datasets = [call.result(20) for call in calls]
    for dataset in datasets:
        assert (rows_of(dataset), dataset.missing) == (wanted(10), [])
        assert sum(record["rows"]["trials"] for record in dataset.records) == 20


def test_tasks_that_overlap_count_once_and_go(core: FakeCore, tmp_path: Path, threads: Any) -> None:
    quiet(tmp_path / "threes", threads, per_task=3)
    quiet(tmp_path / "fours", threads, per_task=4)
    shutil.copytree(tmp_path / "threes", tmp_path / "fours", dirs_exist_ok=True)
    dataset = Dataset(tmp_path / "fours")
    assert (rows_of(dataset), dataset.missing) == (wanted(10), [])
    core.ran.clear()
    assert rows_of(quiet(tmp_path / "fours", threads)) == wanted(10)
    assert core.ran == []
    files = (tmp_path / "fours" / "trials").rglob("*.parquet")
    assert sum(len(file.read_text().splitlines()) for file in files) == 20


def test_only_tasks_with_most_trials_count() -> None:
    # One was stopped after 50 trials, the other has them all.
    assert disjoint(["a-1-50", "a-1-40", "a-41-80", "a-81-100"]) == [
        "a-1-40",
        "a-41-80",
        "a-81-100",
    ]


def test_size_of_tasks_may_change(core: FakeCore, tmp_path: Path, threads: Any) -> None:
    quiet(tmp_path, threads, per_task=5, trials=5)
    dataset = quiet(tmp_path, threads, per_task=2, trials=10)
    parts = sorted(Path(file).stem for file in dataset.trials.files if "case=a" in file)
    assert parts == [
        f"part-{it}" for it in ("00001-00005", "00006-00006", "00007-00008", "00009-00010")
    ]
    assert rows_of(dataset) == wanted(10)


@pytest.mark.parametrize("kind", ["local", "memory"])
def test_of_several_writers_one_makes_a_file(kind: str, tmp_path: Path) -> None:
    name = str(tmp_path)
    if kind == "memory":
        pytest.importorskip("fsspec")
        name = "memory://tcplab-create"
    place = open_place(name)
    assert place.create("_a/b.json", b"first")
    assert not place.create("_a/b.json", b"second")
    assert place.read("_a/b.json") == b"first"


def test_other_scenario_in_the_place_is_refused(
    core: FakeCore, tmp_path: Path, threads: Any
) -> None:
    quiet(tmp_path, threads)
    for changes, said in (
        ({"scenario": FakeScenario(source='title = "other"')}, "another scenario: .*fake.*other"),
        ({"seed": 8}, "another seed: 7 there, 8 now"),
        ({"tables": ["trials"]}, "another choice of tables"),
        ({"world": "auto"}, "another world: sim there, auto now"),
    ):
        with pytest.raises(TcplabError, match=said) as caught:
            quiet(tmp_path, threads, **changes)  # type: ignore[arg-type]
        assert "try: another place" in str(caught.value)
    core.__version__ = "2.0"
    with pytest.raises(TcplabError, match="another version of tcplab: 1.0 there, 2.0 now"):
        quiet(tmp_path, threads)


def test_worker_with_another_version_is_refused(
    core: FakeCore, tmp_path: Path, threads: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_worker, "_core", FakeCore("0.9"))
    with pytest.raises(TcplabError, match="has tcplab 0.9, but 1.0 began this work") as caught:
        quiet(tmp_path, threads)
    assert "install the wheel of 1.0 on each worker" in str(caught.value)


def test_worker_with_another_kernel_is_refused(
    core: FakeCore, tmp_path: Path, threads: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_engine = _sweep.open_engine
    for there, said in ({"7.2": "bb"}, "newest"), ({}, "no kernel 7.2"):

        def opened(on: object, there: dict[str, str] = there) -> Any:
            core.images = there
            return open_engine(on)

        monkeypatch.setattr(_sweep, "open_engine", opened)
        core.images = {"7.2": "aa"}
        with pytest.raises(TcplabError, match=f"has other kernels than .*: {said}\n"):
            quiet(tmp_path, threads)


def test_kernel_for_linux_is_that_of_the_beginning(
    core: FakeCore, tmp_path: Path, threads: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TCPLAB", sys.executable)
    core.images = {"6.18": "aa", "7.2": "bb"}
    dataset = quiet(tmp_path, threads, trials=2)
    assert (dataset.plan["kernel"], dataset.plan["kernels"]) == ("7.2", {"newest": "bb"})
    assert {options["kernel"] for options in core.options} == {"7.2"}
    assert {options["program"] for options in core.options} == {sys.executable}
    core.images["7.3"] = "cc"
    for kernel in "newest", "model", "6.18":
        with pytest.raises(TcplabError, match="was begun with another kernel"):
            quiet(tmp_path, threads, kernel=kernel)
    quiet(tmp_path, threads, kernel="7.2", trials=3)
    assert {options["kernel"] for options in core.options} == {"7.2"}
    # One that is named asks for virtual time.
    quiet(tmp_path / "named", threads, kernel="6.18", world="auto", trials=1)
    assert core.worlds == {"sim"}
    core.options.clear()
    quiet(tmp_path / "model", threads, kernel="model", trials=1)
    assert {options["kernel"] for options in core.options} == {"model"}


def test_worker_that_does_not_see_the_place_is_refused(
    core: FakeCore, tmp_path: Path, threads: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = lambda place: type(_sweep.open_place(place))(str(tmp_path / "other"))  # noqa: E731
    monkeypatch.setattr(_worker, "open_place", elsewhere)
    with pytest.raises(TcplabError, match="does not see sweep.json in .*shared|does not see"):
        quiet(tmp_path / "place", threads)


def test_kernel_trials_run_one_at_a_time(core: FakeCore, tmp_path: Path, threads: Any) -> None:
    dataset = quiet(tmp_path, threads, world="auto")
    assert core.worlds == {"sim", "kernel"}
    assert {case["world"] for case in dataset.plan["cases"]} == {"sim", "kernel"}
    assert json.loads((tmp_path / "_per_task.json").read_text())["b/1%"] == 1
    assert rows_of(dataset) == wanted(10)


def test_kernel_trials_need_workers_that_allow_them(
    core: FakeCore, tmp_path: Path, dask_client: Any
) -> None:
    with pytest.raises(TcplabError, match="no worker .* \\(resource testbed\\)\n.*testbed=1"):
        sweep(FakeScenario(), tmp_path, on=dask_client, world="kernel", progress=False)


def test_tables_and_numbers_are_checked(core: FakeCore, tmp_path: Path, threads: Any) -> None:
    with pytest.raises(TcplabError, match="no table `trails`: use trials, episodes"):
        quiet(tmp_path, threads, tables=["trails"])
    with pytest.raises(TcplabError, match="pass sim, kernel or auto"):
        quiet(tmp_path, threads, world="moon")
    for name in ("trials", "per_task", "retries"):
        for number in (0, -3):
            with pytest.raises(TcplabError, match=f"{name}={number}: pass 1 or more"):
                quiet(tmp_path, threads, **{name: number})
        with pytest.raises(TypeError):
            quiet(tmp_path, threads, **{name: 2.5})
    with pytest.raises(TcplabError, match="trials=5000000000: pass 4294967295 or less"):
        quiet(tmp_path, threads, trials=5_000_000_000)
    assert list(tmp_path.iterdir()) == []


def test_progress_names_rate_and_failures(
    core: FakeCore, tmp_path: Path, threads: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    core.broken.add(("a", 1))
    sweep(FakeScenario(), tmp_path, on=threads, per_task=5)
    said = capsys.readouterr().err
    assert "a 1-5: failed 3 times; ValueError: trial 1 of a is broken" in said
    assert "15 of 20 trials" in said
    assert "trials/s" in said


# With the compiled part.


@pytest.fixture(scope="session")
def of_command(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The trials that `tcplab run` gives, sorted."""
    from conftest import SCENARIO

    polars = pytest.importorskip("polars")
    from tcplab._commands import find_command

    command = find_command()
    assert command, "the command tcplab is not installed"
    directory = tmp_path_factory.mktemp("command")
    (directory / "loss.toml").write_text(SCENARIO)
    arguments = ["run", "loss.toml", "--world", "sim", "--quiet"]
    subprocess.run([command, *arguments], cwd=directory, check=True, capture_output=True)
    (file,) = directory.glob("runs/*/*/trials.parquet")
    return polars.read_parquet(file).sort("case", "trial")


def assert_equal_rows(dataset: Dataset, expected: Any) -> None:
    frame = dataset.trials.to_polars().sort("case", "trial")
    # The order of metrics is that in which trials have them.
    assert sorted(frame.columns) == sorted(expected.columns)
    frame = frame.select(expected.columns)
    # A sweep keeps no packets, and says so.
    assert not frame["packets_kept"].any()
    frame, expected = frame.drop("packets_kept"), expected.drop("packets_kept")
    assert frame.equals(expected), "rows differ from those of the command"


@needs_core
def test_rows_equal_those_of_the_command(
    on: Any, scenario_file: Path, tmp_path: Path, of_command: Any
) -> None:
    dataset = sweep(scenario_file, tmp_path / "place", on=on, progress=False)
    assert_equal_rows(dataset, of_command)
    assert dataset.missing == []


@needs_core
def test_five_workers_and_a_scheduler_die(
    scenario_file: Path, tmp_path: Path, of_command: Any
) -> None:
    pytest.importorskip("distributed")
    place = tmp_path / "place"
    cluster = DaskProcesses(tmp_path, 2)
    chance = random.Random(20)
    stop = threading.Event()
    killed = []

    def kill_workers() -> None:
        for _ in range(5):
            if stop.wait(chance.uniform(0.05, 0.5)):
                return
            at = chance.randrange(len(cluster.workers))
            cluster.workers[at].kill()
            cluster.workers[at].wait()
            killed.append(at)
            cluster.workers[at] = cluster.start_worker()
            until(lambda: len(client.nthreads()) == 2)

    def run() -> Dataset:
        return sweep(scenario_file, place, on=client, per_task=1, progress=False, retries=10)

    try:
        client = cluster.client()
        killer = threading.Thread(target=kill_workers)
        killer.start()
        while len(killed) < 5:
            dataset = run()
            if len(killed) < 5:
                # The trials are too few for five deaths: lose some, and go on.
                for record in list((place / "_done").iterdir())[::2]:
                    record.unlink()
        killer.join()
        for record in (place / "_done").iterdir():
            record.unlink()
        ender = threading.Timer(0.3, cluster.scheduler.kill)
        ender.start()
        with pytest.raises(EngineLostError):
            run()
        left = len(Dataset(place).missing)
        client.close(timeout=1)
        cluster.close()
        cluster = DaskProcesses(tmp_path, 2)
        client = cluster.client()
        dataset = run()
        client.close()
        assert left > 0
    finally:
        stop.set()
        cluster.close()
    assert len(killed) == 5
    assert_equal_rows(dataset, of_command)


@needs_core
def test_killed_local_process_loses_nothing(
    scenario_file: Path, tmp_path: Path, of_command: Any
) -> None:
    import multiprocessing

    def kill() -> None:
        until(lambda: len(multiprocessing.active_children()) > 0)
        time.sleep(1.0)
        for process in multiprocessing.active_children()[:1]:
            process.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    dataset = sweep(scenario_file, tmp_path / "place", per_task=1, on=2, progress=False)
    killer.join()
    assert_equal_rows(dataset, of_command)


@needs_core
def test_memory_of_the_driver_stays_flat(
    scenario_file: Path, tmp_path: Path, dask_client: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    def resident() -> int:
        fields = Path("/proc/self/statm").read_text().split()
        return int(fields[1]) * 4096

    sweep(scenario_file, tmp_path / "warm", on=dask_client, per_task=4, progress=False)
    sizes = [resident()]
    for turn in range(3):
        place = tmp_path / f"place{turn}"
        sweep(scenario_file, place, on=dask_client, per_task=1, trials=40, progress=False)
        sizes.append(resident())
    with capsys.disabled():
        print("\n  driver, MB:", ", ".join(f"{size / 1e6:.0f}" for size in sizes))
    assert sizes[-1] - sizes[0] < 30e6


@needs_core
def test_command_prints_rows_and_writes_json(
    scenario_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, json_file = tmp_path / "place", tmp_path / "sweep.json"
    arguments = ["sweep", str(scenario_file), "-o", str(place), "--jobs", "2", "--trials", "2"]
    assert commands.main([*arguments, f"--json={json_file}"]) == 0
    assert f"{place}: 8 trials, " in capsys.readouterr().out
    found = json.loads(json_file.read_text())
    assert (found["schema"], found["rows"]["trials"]) == ("tcplab.sweep", 8)
    assert commands.main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["failures"] == []


@needs_core
def test_command_reports_mistakes_with_exit_code_2(
    scenario_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario_file.write_text(scenario_file.read_text().replace("rate =", "rat ="))
    assert commands.main(["sweep", str(scenario_file), "-o", str(tmp_path / "p")]) == 2
    said = capsys.readouterr().err
    assert "unknown key `rat`" in said
    # The help is there once, and where it is.
    assert "try:" not in said
    assert said.count("did you mean") == said.count("the keys here are") == 1
    assert commands.main(["sweep", "nonsense.toml", "-o", str(tmp_path / "p")]) == 2
    assert commands.main(["sweep", "interruption"]) == 2
    assert commands.main(["sweep", "interruption", "-o", "x", "--trials", "0"]) == 2
    assert "use a whole number of 1 or more" in capsys.readouterr().err


@needs_core
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_signal_ends_the_command_and_its_processes(
    scenario_file: Path, tmp_path: Path, number: signal.Signals
) -> None:
    place = tmp_path / "place"
    arguments = [str(scenario_file), "-o", str(place), "--trials", "5000", "--per-task", "1", "-j2"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tcplab.commands", "sweep", *arguments], stderr=subprocess.PIPE
    )
    until(lambda: (place / "_done").exists() and any((place / "_done").iterdir()))
    children = children_of(process.pid)
    assert len(children) >= 2
    process.send_signal(number)
    began = time.monotonic()
    _, said = process.communicate(timeout=20)
    assert time.monotonic() - began < 5
    until(lambda: not any(Path(f"/proc/{child}").exists() for child in children), 5)
    if number == signal.SIGKILL:
        return
    assert process.returncode == 128 + number
    assert b"the same command continues" in said
    assert b"Traceback" not in said


@needs_core
@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="trials are elsewhere")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_command_that_is_stopped_leaves_no_trial(tmp_path: Path, number: signal.Signals) -> None:
    scenario = tmp_path / "long.toml"
    scenario.write_text(
        SCENARIO.replace("100 kB", "400 MB").replace("20 Mbit/s", "1 Gbit/s").replace("2 %", "0 %")
    )
    arguments = [str(scenario), "-o", str(tmp_path / "place"), "--per-task", "1", "-j2", "-q"]
    process = subprocess.Popen([sys.executable, "-m", "tcplab.commands", "sweep", *arguments])

    def homes() -> set[Path]:
        """Directories of trials that processes of the command hold."""
        held = set()
        for child in children_of(process.pid):
            for link in Path(f"/proc/{child}/fd").iterdir():
                with contextlib.suppress(OSError):
                    held.add(link.readlink())
        return {it for it in held if it.name.startswith("tcplab-trial-")}

    until(lambda: len(homes()) == 2)
    found = homes()
    process.send_signal(number)
    process.wait(timeout=20)
    until(lambda: not any(home.exists() for home in found), 5)


@needs_core
def test_interrupt_at_the_start_is_kept(scenario_file: Path, tmp_path: Path) -> None:
    # As `tcplab` starts it: held back until the command hears it.
    command = [sys.executable, "-m", "tcplab.commands", "sweep", str(scenario_file)]
    process = subprocess.Popen(
        [*command, "-o", str(tmp_path / "place"), "-j1"],
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}),
    )
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert said.startswith(b"\nstopped; the same command continues in ")
    assert b"Traceback" not in said


@needs_core
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="asks Linux")
def test_processes_never_die_of_an_interrupt(scenario_file: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tcplab.commands", "sweep", str(scenario_file)]
    process = subprocess.Popen([*command, "-o", str(tmp_path / "place"), "-j2", "-q"])
    seen = set()
    # From their first moment on, when Ctrl-C would be a traceback.
    while process.poll() is None:
        for child in children_of(process.pid):
            with contextlib.suppress(OSError):
                if b"multiprocessing" in Path(f"/proc/{child}/cmdline").read_bytes():
                    seen.add(child)
                    assert has_no_interrupt(child)
    assert len(seen) >= 2
    assert process.returncode == 0


def has_no_interrupt(process: str) -> bool:
    """Whether it ignores SIGINT or holds it back."""
    status = Path(f"/proc/{process}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return bool((int(fields["SigBlk"], 16) | int(fields["SigIgn"], 16)) & 1 << signal.SIGINT - 1)


def children_of(process: int) -> list[str]:
    """The processes that it started."""
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()

"""Measures what docs/scale.md is computed from: `python python/benches/clusters.py [--quick]`.

Prints a row for each figure. Times are those of the processor where that is what counts, so that
other work on the machine changes them little.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tcplab import _core
from tcplab._archive import archive
from tcplab._dataset import Dataset, partition, whole_tasks, write_done
from tcplab._executors import completed, open_engine
from tcplab._place import as_json, open_place
from tcplab._sweep import sweep

SCENARIO = """
title = "A download of {size}"
path = {{ rate = "20 Mbit/s", delay = "10 ms", loss = "0.5 %" }}
client = {{ stack = "model:linux-6.18" }}
server = {{ stack = "model:linux-6.18" }}
workload = {{ download = "{size}" }}
repeat = {{ trials = 5000 }}
"""


def row(what: str, value: float, unit: str) -> None:
    """Prints a figure."""
    print(f"| {what} | {value:.3g} | {unit} |", flush=True)


def resident() -> float:
    """Memory of this process, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def scenario(size: str) -> Any:
    """A scenario with one case."""
    return _core.Scenario.parse(SCENARIO.format(size=size), "measured", None)


def processor_seconds(work: Callable[..., object], *arguments: object) -> float:
    """Of this process and all its threads."""
    began = time.process_time()
    work(*arguments)
    return time.process_time() - began


def trials() -> None:
    """The cost of a trial, and of a part."""
    for size, few, many in (("100 kB", 20, 220), ("1 MB", 10, 60), ("10 MB", 2, 8)):
        inner = scenario(size)

        def part(last: int, inner: Any = inner) -> dict[str, Any]:
            return _core.run_part(inner, "base", 1, last, seed=None, world="sim", tables=TABLES)

        part(1)
        fixed = processor_seconds(part, few)
        whole = processor_seconds(part, many)
        row(f"a trial of {size}", 1000 * (whole - fixed) / (many - few), "ms of a processor")
    inner = scenario("100 kB")
    row("a task of one trial of 100 kB", 1000 * processor_seconds(part_of, inner), "ms")
    made = _core.run_part(inner, "base", 1, 200, seed=None, world="sim", tables=TABLES)
    with tempfile.TemporaryDirectory() as directory:
        began = time.perf_counter()
        for turn in range(20):
            for name in TABLES:
                made[name].write(f"{directory}/{turn}-{name}.parquet")
        row("writing the parts of 200 trials", 1000 * (time.perf_counter() - began) / 20, "ms")
        for name in TABLES:
            size = os.path.getsize(f"{directory}/0-{name}.parquet")
            row(f"{name} of 200 trials", size / 1000, "kB")


TABLES = ["trials", "episodes"]


def part_of(inner: Any) -> object:
    """One trial."""
    return _core.run_part(inner, "base", 1, 1, seed=None, world="sim", tables=TABLES)


def captures(directory: Path, megabytes: int) -> None:
    """The cost of a capture, by its size and by its packets."""
    text = SCENARIO.format(size=f"{megabytes} MB").replace("20 Mbit/s", "1 Gbit/s")
    text = text.replace('loss = "0.5 %"', 'loss = "0.01 %"')
    trial = _core.simulate(_core.Scenario.parse(text, "large", None))
    file = directory / "large.pcapng"
    (made,) = Path(trial.directory).glob("server.pcapng*")
    shutil.copy(made, file)
    size = file.stat().st_size
    tables = ["connections", "findings", "stalls", "episodes"]
    found: dict[str, Any] = {}

    def analyse(shard: tuple[int, int] | None = None) -> None:
        found.update(_core.trace_part([str(file)], None, shard, tables)[0])

    began = time.perf_counter()
    seconds = processor_seconds(analyse)
    elapsed = time.perf_counter() - began
    packets = int(found["connections"].metadata["tcplab.packets"])
    row("size of the capture", size / 1e6, "MB")
    row("packets of the capture", packets / 1e6, "million")
    row("analysis of a capture", seconds / size * 1e9, "s of a processor per GB")
    row("analysis of a capture", seconds / packets * 1e6, "s of a processor per million packets")
    row("analysis of a capture, elapsed", elapsed / size * 1e9, "s per GB")
    other = processor_seconds(analyse, (1, 2))
    row("a shard without connections", other / size * 1e9, "s of a processor per GB")


def engines(quick: bool) -> None:
    """The cost of a task, and a data set of thousands."""
    from distributed import Client, LocalCluster

    count = 200 if quick else 2000
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
        tempfile.TemporaryDirectory() as place,
    ):
        row("a task of Dask", 1000 * task_seconds(client, count), "ms")
        sizes = [resident()]
        began = time.perf_counter()
        total = 500 if quick else 5000
        dataset = sweep(scenario("100 kB"), place, on=client, trials=total, progress=False)
        row(f"{total} trials on 2 processors", time.perf_counter() - began, "s")
        sizes.append(resident())
        row("their tasks", len(list(dataset.records)), "tasks")
        assert not dataset.missing
        row("memory of the driver, before", sizes[0], "MB")
        row("memory of the driver, after", sizes[1], "MB")
        many_captures(client, 50 if quick else 500)


def task_seconds(on: object, count: int) -> float:
    """Seconds of an empty task."""
    engine = open_engine(on)
    list(completed(engine, nothing, (Nothing(it) for it in range(20))))
    began = time.perf_counter()
    ended = sum(1 for _ in completed(engine, nothing, (Nothing(it) for it in range(count))))
    seconds = (time.perf_counter() - began) / ended
    engine.close(at_once=False)
    return seconds


class Nothing:
    """A task that does nothing."""

    def __init__(self, number: int) -> None:
        self.id = str(number)
        self.resources: dict[str, float] = {}


def nothing(task: Nothing, attempt: int, reasons: tuple[str, ...]) -> dict[str, Any]:
    """Does nothing."""
    return {}


def many_captures(client: object, count: int) -> None:
    """An archive of small captures."""
    with tempfile.TemporaryDirectory() as directory:
        inner = scenario("100 kB")
        for number in range(count):
            trial = _core.simulate(inner, None, number + 1)
            (made,) = Path(trial.directory).glob("server.pcapng*")
            shutil.copy(made, f"{directory}/{number}.pcapng")
        before, began = resident(), time.perf_counter()
        dataset = archive(f"{directory}/*.pcapng", f"{directory}/place", on=client, progress=False)
        row(f"{count} captures of 100 kB on 2 processors", time.perf_counter() - began, "s")
        row("memory of the driver, before", before, "MB")
        row("memory of the driver, after", resident(), "MB")
        began = time.perf_counter()
        assert dataset.summary().captures == count
        row("their summary", time.perf_counter() - began, "s")


def ray_task() -> None:
    """The cost of a task of Ray."""
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    row("a task of Ray", 1000 * task_seconds("ray", 1000), "ms")
    ray.shutdown()


def resume(tasks: int) -> None:
    """What it costs to see what is there."""
    with tempfile.TemporaryDirectory() as directory:
        place = open_place(directory)
        case = {"name": "base", "task": "0" * 16, "world": "sim"}
        plan = {"kind": "sweep", "tables": TABLES, "cases": [case], "trials": tasks}
        place.write("sweep.json", as_json(plan))
        for number in range(1, tasks + 1):
            for table in TABLES:
                name = f"{table}/{partition('case', 'base')}/part-{number:05}-{number:05}.parquet"
                place.write(name, b"x")
            write_done(place, f"{'0' * 16}-{number}-{number}", {"rows": {}})
        before, began = resident(), time.perf_counter()
        assert len(whole_tasks(place, plan)) == tasks
        row(f"finding {tasks} finished tasks", time.perf_counter() - began, "s")
        row("memory for that", resident() - before, "MB")
        began = time.perf_counter()
        assert len(Dataset(directory).trials) == tasks
        row(f"listing a table of {tasks} parts", time.perf_counter() - began, "s")


def main() -> None:
    """Measures everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="measure less, in a minute")
    options = parser.parse_args()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    print(f"tcplab {_core.__version__}; {json.dumps(os.getloadavg())}")
    trials()
    with tempfile.TemporaryDirectory() as directory:
        captures(Path(directory), 50 if options.quick else 500)
    resume(1000 if options.quick else 20_000)
    engines(options.quick)
    ray_task()


if __name__ == "__main__":
    main()

"""Very many trials, on as many machines as there are."""

from __future__ import annotations

import functools
import heapq
import json
import os
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tcplab import _core
from tcplab._commands import find_command
from tcplab._dataset import (
    Dataset,
    Failure,
    Record,
    agree,
    digest,
    partition,
    remove_failures,
    remove_leftovers,
    remove_overlaps,
    whole_tasks,
    write_done,
    write_failed,
    write_tables,
)
from tcplab._executors import ATTEMPTS, Engine, WorkerRefusedError, completed, open_engine
from tcplab._meter import Meter, counted
from tcplab._place import Place, as_json, open_place
from tcplab._settings import several, whole
from tcplab._worker import check_kernels, check_worker, kernels_of, worker_name

__all__ = ["sweep"]

PLAN = "sweep.json"
PER_TASK = "_per_task.json"
TABLES = ("trials", "episodes")
TASK_SECONDS = 1.0
"""How long a task should take: long against what an engine spends on it, short to lose."""
MOST_PER_TASK = 1000
MOST_TRIALS = 2**32 - 1
"""Trials of a case: their numbers have 32 bits."""
KEPT_REASONS = 5
"""Of so many failed trials the record of a task tells why; all are counted."""
MEASURED_CASES = 32
"""At most so many cases are measured to choose the size of tasks; the others get the median."""


@dataclass(frozen=True)
class TrialTask:
    """Some trials of a case, as plain data."""

    place: str
    identity: str
    version: str
    text: str
    name: str
    directory: str | None
    hashes: str
    kernel: str
    kernels: str
    case: str
    prefix: str
    first: int
    last: int
    seed: int
    world: str
    tables: tuple[str, ...]
    resources: dict[str, float] = field(default_factory=dict, hash=False)

    @property
    def id(self) -> str:
        """What it computes, and nothing else."""
        return f"{self.prefix}-{self.first}-{self.last}"

    @property
    def count(self) -> int:
        """How many trials it has."""
        return self.last - self.first + 1

    def part(self, table: str) -> str:
        """The name of its part of a table."""
        return f"{table}/{partition('case', self.case)}/part-{self.first:05}-{self.last:05}.parquet"

    def __str__(self) -> str:
        return f"{self.case} {self.first}-{self.last}"


def sweep(
    scenario: Any,
    place: str | os.PathLike[str],
    *,
    on: object = None,
    trials: int | None = None,
    seed: int | None = None,
    world: str = "sim",
    kernel: str = "newest",
    per_task: int | None = None,
    progress: bool = True,
    tables: Sequence[str] = TABLES,
    retries: int = ATTEMPTS,
) -> Dataset:
    """Runs trials on a cluster, and keeps their rows as partitioned Parquet.

    The rows are those that `tcplab run` gives for the same trials. Packets are not kept. What was
    stopped, or died, continues with the same call: finished tasks are found in `place`. The same
    call made twice at the same time does the work twice, and counts it once.

    In a program of your own, call it below `if __name__ == "__main__":` unless `on` is a cluster:
    local processes import the program first.

    Args:
        scenario: A `Scenario`, the name of a built-in experiment, or a file.
        place: A directory that all workers share, or a URL such as `s3://bucket/prefix`.
        on: A Dask client or `tcp://…`, a Ray address (`ray://…`, `auto`, `ray`), a
            `concurrent.futures` executor, a number of local processes, or None for one process
            for each processor.
        trials: Trials of each case; by default those of the scenario, or of the sweep that is
            resumed. More than before adds trials.
        seed: Overrides the scenario's seed.
        world: `sim` for virtual time, `kernel` for workers that allow network namespaces (Dask
            `--resources testbed=1`, Ray `resources={"testbed": 1}`; locally one at a time), `auto`
            for what each case asks for.
        kernel: What the stack `linux` is in virtual time: the `newest` kernel that was built here,
            another by its name in `tcplab kernel list`, or `model`. Each worker needs the same
            image. Where none was built, the model it is.
        per_task: Trials of a task; by default as many as in the sweep that is resumed, else so
            many that a task takes about a second.
        progress: Whether to show progress on standard error.
        tables: Tables of a run to keep.
        retries: How often a task is tried before it counts as failed, the first attempt included.

    Returns:
        The data set, with `.trials`, `.table(name)`, `.missing`, `.failures` (tasks that failed on
        each attempt) and `.trial_failures` (trials that failed in a task that is done).

    Raises:
        ScenarioError: The scenario cannot run.
        TcplabError: A number is out of range; the place has another sweep; the engine is gone, a
            worker has another version of tcplab or another kernel, or nothing works. The message
            has the remedy.

    Example:
        Three trials of each case, by threads of this process; on a cluster, `on` is its client:

        >>> import tempfile, tcplab
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> scenario = tcplab.Scenario("haiku-tcp/sends").with_({"workload.upload": "100 kB"})
        >>> with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(2) as pool:
        ...     dataset = tcplab.sweep(scenario, place, on=pool, trials=3, progress=False)
        ...     dataset.trials.to_arrow().num_rows == 3 * len(scenario.cases), dataset.missing
        (True, [])
    """
    attempts = whole("retries", retries, least=1)
    if per_task is not None:
        per_task = whole("per_task", per_task, least=1)
    inner = _inner(scenario)
    where = open_place(place)
    asked = _plan(inner, trials, seed, world, tables, kernel)
    # Before anything is written: what cannot begin leaves no plan behind.
    engine = open_engine(on)
    finished = False
    try:
        plan = _agreed(where, asked, trials)
        _work(engine, inner, where, plan, per_task=per_task, progress=progress, attempts=attempts)
        finished = True
    finally:
        engine.close(at_once=not finished)
    return Dataset(place)


def _inner(scenario: Any) -> Any:
    """The compiled form of a scenario, however it is given."""
    if isinstance(scenario, (str, os.PathLike)):
        return _core.Scenario.load(os.fspath(scenario))
    return getattr(scenario, "_inner", scenario)


def _plan(
    inner: Any,
    trials: int | None,
    seed: int | None,
    world: str,
    tables: Sequence[str],
    kernel: str,
) -> Record:
    """What is asked for, as `sweep.json` has it."""
    if world not in ("sim", "kernel", "auto"):
        raise _core.TcplabError(f"world={world!r}: pass sim, kernel or auto")
    if trials is not None:
        trials = whole("trials", trials, least=1, most=MOST_TRIALS)
    known = [name for name, _ in _core.Run.tables()]
    for name in several("tables", tables):
        if name not in known:
            raise _core.TcplabError(f"no table `{name}`: use {', '.join(known)}")
    seed = inner.seed if seed is None else whole("seed", seed)
    version = str(_core.__version__)
    worlds = dict(inner.worlds(kernel))
    if world != "auto":
        worlds = dict.fromkeys(worlds, world)
    chosen, kernels = kernels_of(inner, worlds, kernel)
    cases = []
    for name, _levels, case_hash in inner.cases():
        own = worlds[name]
        prefix = digest(inner.source, name, case_hash, seed, version, own)
        cases.append({"name": name, "hash": case_hash, "task": prefix, "world": own})
    return {
        "kind": "sweep",
        "identity": uuid.uuid4().hex,
        "name": inner.name,
        "scenario": inner.source,
        "hashes": _hashes(inner),
        "seed": seed,
        "trials": trials or inner.trials,
        "world": world,
        "tables": list(dict.fromkeys(tables)),
        "version": version,
        "kernel": chosen,
        "kernels": kernels,
        "cases": cases,
    }


AGREED = {
    "version": "version of tcplab",
    "scenario": "scenario",
    "seed": "seed",
    "world": "world",
    "tables": "choice of tables",
    "kernels": "kernel",
    "hashes": "content of the files that the scenario names",
}
"""What a place and a call have in common, and what messages call it."""


def own_place(directory: str, scenario: Any, seed: int | None, world: str, kernel: str) -> str:
    """The place below a directory that follows from what is asked for, so that it resumes."""
    plan = _plan(_inner(scenario), None, seed, world, TABLES, kernel)
    name = f"sweep-{digest([plan[key] for key in AGREED])[:8]}"
    return os.path.join(directory, plan["name"], name)


def _agreed(place: Place, asked: Record, trials: int | None) -> Record:
    """The plan of the place, with as many trials as are asked for now."""
    plan = agree(place, asked, AGREED)
    if trials is not None and trials > plan["trials"]:
        plan = {**plan, "trials": trials}
        place.write(PLAN, as_json(plan))
    return plan


def _work(
    engine: Engine,
    inner: Any,
    place: Place,
    plan: Record,
    *,
    per_task: int | None,
    progress: bool,
    attempts: int,
) -> None:
    """Everything between a plan and a data set."""
    meter = Meter(progress, len(plan["cases"]) * plan["trials"], "trial")
    link = engine.dashboard()
    if link:
        meter.note(f"dashboard: {link}")
    most = {world: _most(engine, world) for world in {case["world"] for case in plan["cases"]}}
    template = TrialTask(
        place=place.name,
        identity=plan["identity"],
        version=plan["version"],
        text=plan["scenario"],
        name=plan["name"],
        directory=None if inner.directory is None else os.fspath(inner.directory),
        hashes=plan["hashes"],
        kernel=plan["kernel"],
        kernels=json.dumps(plan["kernels"], sort_keys=True),
        case="",
        prefix="",
        first=1,
        last=plan["trials"],
        seed=plan["seed"],
        world="sim",
        tables=tuple(plan["tables"]),
    )
    done = done_ranges(whole_tasks(place, plan))
    there = sum(last - first + 1 for ranges in done.values() for first, last in ranges)
    meter.add(there)
    if there:
        are = "is" if there == 1 else "are"
        meter.note(f"{counted(there, 'trial')} {are} there")
    sizes = _sizes(engine, template, place, plan, per_task, attempts)
    remove_leftovers(place, plan)
    # What failed before is tried again, perhaps in other tasks.
    remove_failures(place, lambda task: True)
    meter.past.append((time.monotonic(), meter.done, 0))
    for world, bound in most.items():
        tasks = (task for task in _tasks(template, plan, sizes, done) if task.world == world)
        for outcome in completed(engine, run_task, tasks, attempts=attempts, most=bound):
            task = outcome.task
            if outcome.record is None:
                failure = Failure(task.id, str(task), outcome.attempts, outcome.reasons)
                write_failed(place, failure)
                meter.note(str(failure))
            count = task.count if outcome.record else 0
            meter.add(count, failed=not outcome.record, retried=outcome.attempts - 1)
    remove_overlaps(place, plan)
    remove_leftovers(place, plan)
    done = done_ranges(whole_tasks(place, plan))
    # The same call elsewhere may have done what failed here.
    remove_failures(place, lambda task: _is_done(task, done))
    meter.finish()


def _most(engine: Engine, world: str) -> int | None:
    """The bound of tasks in flight in a world."""
    if world != "kernel":
        return None
    try:
        return engine.most(NEEDS)
    except LookupError as start:
        raise _core.TcplabError(
            f"no worker of {engine.name} takes trials on its kernel (resource testbed)\n"
            f"  try: start one that allows network namespaces with: {start.args[0]}"
        ) from None


NEEDS = {"testbed": 1.0}
"""What a trial on a kernel needs: trials of one machine would disturb one another."""


def _sizes(
    engine: Engine,
    template: TrialTask,
    place: Place,
    plan: Record,
    per_task: int | None,
    attempts: int,
) -> dict[str, int]:
    """Trials of a task, by case: one choice for all who work in the place."""
    if per_task is not None:
        sizes = {case["name"]: per_task for case in plan["cases"]}
        place.write(PER_TASK, as_json(sizes))
        return sizes
    try:
        content = place.read(PER_TASK)
    except FileNotFoundError:
        # What another has measured meanwhile counts for both.
        place.create(PER_TASK, as_json(_measured_sizes(engine, template, plan, attempts)))
        content = place.read(PER_TASK)
    chosen: dict[str, int] = json.loads(content)
    return chosen


def _measured_sizes(
    engine: Engine, template: TrialTask, plan: Record, attempts: int
) -> dict[str, int]:
    """So many trials of each case that a task takes about a second."""
    cases = plan["cases"]
    sizes = {case["name"]: 1 for case in cases if case["world"] == "kernel"}
    others = [case for case in cases if case["world"] != "kernel"]
    step = max(1, -(-len(others) // MEASURED_CASES))
    probes = (
        replace(template, case=case["name"], prefix=f"measured{case['task']}")
        for case in others[::step]
    )
    # A slot gets a few tasks at least, so that all end together.
    fair = len(cases) * plan["trials"] // (4 * max(1, engine.slots()))
    most = max(1, min(MOST_PER_TASK, plan["trials"], fair))
    measured = []
    for outcome in completed(engine, measure_task, probes, attempts=attempts):
        # A case that cannot run fails by itself, later.
        seconds = outcome.record["seconds"] if outcome.record else TASK_SECONDS
        size = min(most, max(1, round(TASK_SECONDS / seconds)))
        sizes[outcome.task.case] = size
        measured.append(size)
    median = sorted(measured)[len(measured) // 2] if measured else 1
    return {case["name"]: sizes.get(case["name"], median) for case in cases}


def _tasks(
    template: TrialTask,
    plan: Record,
    sizes: Mapping[str, int],
    done: dict[str, list[tuple[int, int]]],
) -> Iterator[TrialTask]:
    """What is left, a task of each case in turn, so that all cases grow together."""
    heap = [(1, at) for at in range(len(plan["cases"]))]
    while heap:
        begin, at = heapq.heappop(heap)
        case = plan["cases"][at]
        last = min(begin + sizes[case["name"]] - 1, plan["trials"])
        if last < plan["trials"]:
            heapq.heappush(heap, (last + 1, at))
        for first, end in _gaps(begin, last, done.get(case["task"], ())):
            yield replace(
                template,
                case=case["name"],
                prefix=case["task"],
                first=first,
                last=end,
                world=case["world"],
                resources=dict(NEEDS) if case["world"] == "kernel" else {},
            )


def _gaps(first: int, last: int, done: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """What of a range is not in the others, which are in order.

    >>> list(_gaps(1, 30, [(1, 10), (21, 25)]))
    [(11, 20), (26, 30)]
    """
    for begin, end in done:
        if end < first or begin > last:
            continue
        if begin > first:
            yield first, begin - 1
        first = end + 1
    if first <= last:
        yield first, last


def done_ranges(tasks: Iterable[str]) -> dict[str, list[tuple[int, int]]]:
    """The trials of the tasks that are done, by the first part of the identity."""
    found: dict[str, list[tuple[int, int]]] = {}
    for task in tasks:
        prefix, first, last = task.split("-")[:3]
        found.setdefault(prefix, []).append((int(first), int(last)))
    for ranges in found.values():
        ranges.sort()
    return found


def _is_done(task: str, done: Mapping[str, Sequence[tuple[int, int]]]) -> bool:
    """Whether all trials of a task are done.

    >>> _is_done("a-1-20", {"a": [(1, 10), (11, 24)]}), _is_done("a-1-20", {"a": [(1, 19)]})
    (True, False)
    """
    prefix, first, last = task.split("-")[:3]
    return not any(_gaps(int(first), int(last), done.get(prefix, ())))


def missing_trials(place: Place, plan: Record) -> list[str]:
    """The trials of a sweep that are not done: `CASE FIRST-LAST`."""
    done = done_ranges(whole_tasks(place, plan))
    return [
        f"{case['name']} {first}-{last}"
        for case in plan["cases"]
        for first, last in _gaps(1, plan["trials"], done.get(case["task"], ()))
    ]


def _hashes(inner: Any) -> str:
    """What tells the cases of a scenario from others, the files that it names included."""
    return digest([case_hash for _name, _levels, case_hash in inner.cases()])


@functools.lru_cache(maxsize=4)
def _parsed(text: str, name: str, directory: str | None, hashes: str) -> Any:
    """The scenario, if its files here are those of the machine that began the work."""
    inner = _core.Scenario.parse(text, name, directory)
    if _hashes(inner) != hashes:
        raise WorkerRefusedError(
            f"worker {worker_name()} reads other files that the scenario {name} names than the "
            "machine that began this work\n"
            "  try: put the same files at the same paths on each worker"
        )
    return inner


def _checked(task: TrialTask) -> Any:
    """The scenario of a task, on a worker that may take part."""
    check_worker(task.place, PLAN, task.identity, task.version)
    inner = _parsed(task.text, task.name, task.directory, task.hashes)
    check_kernels(inner, task.case, task.world, task.kernel, json.loads(task.kernels))
    return inner


def run_task(task: TrialTask, attempt: int, reasons: tuple[str, ...]) -> Record:
    """Runs trials and writes their rows; this runs on a worker.

    Returns:
        A small record: rows and bytes by table, seconds, worker.
    """
    began = time.perf_counter()
    tables = _core.run_part(
        _checked(task),
        task.case,
        task.first,
        task.last,
        seed=task.seed,
        world=task.world,
        kernel=task.kernel,
        program=find_command(),
        # Trials that failed are told of, whichever tables are kept.
        tables=list(dict.fromkeys((*task.tables, "trials"))),
    )
    ran = time.perf_counter() - began
    place = open_place(task.place)
    record = write_tables(place, {name: tables[name] for name in task.tables}, task.part)
    failures = _trial_failures(task, tables["trials"])
    record |= {
        "task": task.id,
        "case": task.case,
        "first": task.first,
        "last": task.last,
        "run_seconds": round(ran, 6),
        "seconds": round(time.perf_counter() - began, 6),
        "version": task.version,
        "worker": worker_name(),
        "attempts": attempt,
        "reasons": list(reasons),
        "failed_trials": len(failures),
        "trial_failures": [vars(failure) for failure in failures[:KEPT_REASONS]],
    }
    write_done(place, task.id, record)
    return record


def _trial_failures(task: TrialTask, table: Any) -> list[Failure]:
    """The trials of a task that failed, as its table of trials says."""
    names = table.column_names
    rows = (dict(zip(names, row, strict=True)) for row in table.rows(0, table.num_rows))
    return [
        Failure(
            task.id,
            f"{task.case} trial {row['trial']}",
            1 + row["repeated"],
            (" ".join(row["warnings"].split()),),
        )
        for row in rows
        if row["outcome"] == "failed"
    ]


def measure_task(task: TrialTask, attempt: int, reasons: tuple[str, ...]) -> Record:
    """Measures how long a trial of a case takes, in a quarter of a second or one trial.

    Returns:
        Seconds of a trial.
    """
    scenario = _checked(task)
    count = 1
    while True:
        began = time.perf_counter()
        _core.run_part(
            scenario,
            task.case,
            1,
            count,
            seed=task.seed,
            world=task.world,
            kernel=task.kernel,
            program=find_command(),
            tables=list(task.tables),
        )
        seconds = time.perf_counter() - began
        if seconds >= TASK_SECONDS / 4 or count >= min(task.last, MOST_PER_TASK):
            return {"seconds": max(seconds / count, 1e-6)}
        count = min(count * 4, task.last, MOST_PER_TASK)

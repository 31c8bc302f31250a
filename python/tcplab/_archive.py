"""Very many captures, on as many machines as there are."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from tcplab import _core
from tcplab._captures import Capture, find, split
from tcplab._dataset import (
    DONE,
    Dataset,
    Failure,
    Record,
    agree,
    done_tasks,
    remove_failures,
    remove_leftovers,
    task_key,
    whole_tasks,
    write_done,
    write_failed,
    write_tables,
)
from tcplab._executors import (
    ATTEMPTS,
    Engine,
    WorkerRefusedError,
    completed,
    open_engine,
    reason_of,
)
from tcplab._meter import Meter, counted
from tcplab._place import Place, as_json, is_remote, open_place, remote_file
from tcplab._settings import paths, several, whole
from tcplab._summary import SUMMED, SUMS, summary, sums_of
from tcplab._worker import check_worker, worker_name

__all__ = ["archive", "summary", "trace_many"]

PLAN = "archive.json"
LIST = "captures.jsonl"
TABLES = ("connections", "findings", "stalls", "episodes")
BATCH_BYTES = 64_000_000
BATCH_CAPTURES = 50
"""Small captures share a task, up to this size and number."""


@dataclass(frozen=True)
class CaptureTask:
    """Some captures to read, as plain data."""

    place: str
    identity: str
    version: str
    filter: str | None
    tables: tuple[str, ...]
    captures: tuple[Capture, ...]
    earlier: tuple[str, ...] = ()
    resources: dict[str, float] = field(default_factory=dict, hash=False)

    @property
    def id(self) -> str:
        """That of its first capture."""
        return self.captures[0].task(self.filter, self.version)


def archive(
    captures: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    place: str | os.PathLike[str],
    *,
    on: object = None,
    filter: str | None = None,
    shards: int | None = None,
    progress: bool = True,
    tables: Sequence[str] = TABLES,
    retries: int = ATTEMPTS,
) -> Dataset:
    """Analyses captures on a cluster, and keeps what it finds as partitioned Parquet.

    Each capture is a task; small ones share a task, and a large one is read by several tasks, each
    of which keeps the connections of its share. With the same call the archive continues, and
    captures that are new or changed are read, and those that failed. `.summary()` of the result
    sums it up.

    In a program of your own, call it below `if __name__ == "__main__":` unless `on` is a cluster:
    local processes import the program first.

    Args:
        captures: Files, directories, patterns (`**` too) or URLs (`s3://bucket/*.pcap.zst`). Of a
            directory it reads the captures in it and below, whatever they are called, as
            `tcplab.trace` finds them, and says how many files are none; what cannot be read fails
            as a capture. Of a URL it reads all that it means, each copied to the worker's
            temporary directory, and removed after use.
        place: A directory that all workers share, or a URL such as `s3://bucket/prefix`.
        on: Where; see `tcplab.sweep`.
        filter: Analyse only matching packets, such as `port 443`; see `tcplab trace --filter`.
        shards: Tasks for each capture; by default one, and one for each 32 GB from 64 GB on.
        progress: Whether to show progress on standard error.
        tables: Tables of a trace to keep. The summary is of all that was found, whichever are.
        retries: How often a capture is tried before it counts as failed, the first attempt
            included.

    Returns:
        The data set, with `.connections`, `.table(name)`, `.failures`, `.missing`, `.summary()`.
        Its column `capture` is the name in `captures.jsonl`, which has of each its URL and the
        zero of its times (`zero_unix_ns`). Each of its `.records` has both, and `notes`, such as
        that a capture is cut off.

    Raises:
        TcplabError: No capture was found, the filter is none, or a number is out of range; the
            place has another archive; the engine is gone, a worker has another version of tcplab,
            or the program has no such guard. The message has the remedy.
        TypeError: `tables` is one text, not a list, or `captures` are no paths.

    Example:
        Captures of two trials, by threads of this process; `on` may be a Dask client as well:

        >>> import tempfile, tcplab
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> scenario = tcplab.Scenario("haiku-tcp/sends").with_({"workload.upload": "100 kB"})
        >>> case = scenario.cases[0].name
        >>> trials = [tcplab.simulate(scenario, case=case, number=number) for number in (1, 2)]
        >>> captures = [file for trial in trials for file in trial.trace("client").files]
        >>> with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(2) as pool:
        ...     dataset = tcplab.archive(captures, place, on=pool, progress=False)
        ...     dataset.connections.to_arrow().num_rows, dataset.summary().captures
        (2, 2)
    """
    attempts = whole("retries", retries, least=1)
    if shards is not None:
        shards = whole("shards", shards, least=1)
    if filter is not None:
        _core.check_filter(filter)
    given = paths(captures)
    passed_over: list[str] = []
    found = [part for capture in find(given, passed_over) for part in split(capture, shards)]
    known = [name for name, _ in _core.Trace.tables()]
    for name in several("tables", tables):
        if name not in known:
            raise _core.TcplabError(f"no table `{name}`: use {', '.join(known)}")
    where = open_place(place)
    plan = {
        "kind": "archive",
        "identity": uuid.uuid4().hex,
        "partition": "capture",
        "filter": filter,
        "shards": shards,
        "tables": list(dict.fromkeys(tables)),
        "version": str(_core.__version__),
    }
    keys = {
        "version": "version of tcplab",
        "filter": "filter",
        "shards": "number of shards",
        "tables": "choice of tables",
    }
    # Before anything is written: what cannot begin leaves no plan behind.
    engine = open_engine(on)
    finished = False
    try:
        plan = agree(where, plan, keys)
        where.write(PLAN, as_json(plan))
        _Archiving(engine, where, plan, progress).run(found, passed_over, attempts)
        finished = True
    finally:
        engine.close(at_once=not finished)
    dataset = Dataset(place)
    dataset.passed_over = tuple(passed_over)
    return dataset


def trace_many(
    urls: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    on: object = None,
    place: str | os.PathLike[str] = "archive",
    **options: Any,
) -> Dataset:
    """Analyses captures on a cluster: `archive` with a place of its own, the directory `archive`.

    In a program of your own, call it below `if __name__ == "__main__":` unless `on` is a cluster:
    local processes import the program first.

    Args:
        urls: Files, directories, patterns or URLs.
        on: Where; see `tcplab.sweep`.
        place: Where results go.
        **options: Those of `archive`.

    Returns:
        The data set.

    Raises:
        TcplabError: As `archive`.

    Example:
        >>> import tempfile, tcplab
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> scenario = tcplab.Scenario("haiku-tcp/sends").with_({"workload.upload": "100 kB"})
        >>> trial = tcplab.simulate(scenario, case=scenario.cases[0].name)
        >>> captures = trial.trace("client").files
        >>> with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(2) as pool:
        ...     dataset = tcplab.trace_many(captures, place=place, on=pool, progress=False)
        ...     dataset.connections.to_arrow().num_rows
        1
    """
    return archive(urls, place, on=on, **options)


class _Archiving:
    """The work between a list of captures and a data set."""

    def __init__(self, engine: Engine, place: Place, plan: Record, progress: bool) -> None:
        self.engine, self.place, self.plan, self.progress = engine, place, plan, progress
        self.meter = Meter(False, 0, "capture")

    def run(self, captures: list[Capture], passed_over: list[str], attempts: int) -> None:
        """Reads what is not there, and again what failed."""
        others = {os.path.abspath(file) for file in passed_over}
        left = self._left(captures, _list(self.place, self.plan, captures, others))
        self.meter = Meter(self.progress, len(left), "capture", sum(map(_share, left)))
        link = self.engine.dashboard()
        if link:
            self.meter.note(f"dashboard: {link}")
        if passed_over:
            are = "is" if len(passed_over) == 1 else "are"
            files = counted(len(passed_over), "file")
            self.meter.note(f"{files} {are} no capture, such as {passed_over[0]}")
        there = len(captures) - len(left)
        if there:
            are = "is" if there == 1 else "are"
            self.meter.note(f"{counted(there, 'capture')} {are} there")
        failed = self._read_batches(left)
        if attempts > 1:
            self._read_singly(failed, attempts - 1)
        else:
            for capture, reasons in failed:
                self._fail(capture, reasons)
        remove_leftovers(self.place, self.plan)
        _add_zeros(self.place, self.plan)
        self.meter.finish()

    def _identity(self, capture: Capture) -> str:
        return capture.task(self.plan["filter"], self.plan["version"])

    def _left(self, captures: list[Capture], gone: set[str]) -> list[Capture]:
        """The captures that are not read.

        Removes what was read of files that changed or are none of these keys any more, and failures
        of all captures that are read now.
        """
        read = set(whole_tasks(self.place, self.plan))
        current = {self._identity(it) for it in captures} & read
        keys = gone.union(it.key for it in captures)
        for task in done_tasks(self.place):
            if _key(task) in keys and task not in current:
                self.place.remove(f"{DONE}/{task}.json")
                self.place.remove(f"{SUMS}/{task_key(task)}.json")
        remove_failures(self.place, lambda task: _key(task) in keys)
        remove_leftovers(self.place, self.plan)
        return [it for it in captures if self._identity(it) not in current]

    def _read_batches(self, captures: list[Capture]) -> list[tuple[Capture, tuple[str, ...]]]:
        """Tries each capture once, and returns those that failed, with their reasons."""
        failed: list[tuple[Capture, tuple[str, ...]]] = []
        tasks = (self._task(batch) for batch in _batches(captures))
        for outcome in completed(self.engine, read_task, tasks, attempts=1, hopeless=None):
            reasons = dict(outcome.record["failed"]) if outcome.record is not None else {}
            for capture in outcome.task.captures:
                if outcome.record is None:
                    failed.append((capture, outcome.reasons))
                elif (reason := reasons.get(self._identity(capture))) is not None:
                    failed.append((capture, (reason,)))
                else:
                    self.meter.add(1, _share(capture))
        return failed

    def _read_singly(self, failed: list[tuple[Capture, tuple[str, ...]]], attempts: int) -> None:
        """Tries captures again, each as a task of its own."""
        tasks = (self._task((capture,), reasons) for capture, reasons in failed)
        engine = self.engine
        for outcome in completed(engine, read_one, tasks, attempts=attempts, hopeless=None):
            (capture,) = outcome.task.captures
            if outcome.record is None:
                self._fail(capture, outcome.task.earlier + outcome.reasons)
            else:
                self.meter.add(1, _share(capture), retried=outcome.attempts)

    def _fail(self, capture: Capture, reasons: tuple[str, ...]) -> None:
        failure = Failure(self._identity(capture), str(capture), len(reasons), reasons)
        write_failed(self.place, failure)
        self.meter.note(str(failure))
        self.meter.add(0, failed=1, retried=len(reasons) - 1)

    def _task(self, captures: tuple[Capture, ...], earlier: tuple[str, ...] = ()) -> CaptureTask:
        return CaptureTask(
            place=self.place.name,
            identity=self.plan["identity"],
            version=self.plan["version"],
            filter=self.plan["filter"],
            tables=tuple(self.plan["tables"]),
            captures=captures,
            earlier=earlier,
        )


def _share(capture: Capture) -> int:
    """The bytes that it adds to the progress."""
    return capture.size // capture.count


def _batches(captures: Iterable[Capture]) -> Iterator[tuple[Capture, ...]]:
    """Captures by tasks: small ones together, in their order."""
    batch: list[Capture] = []
    size = 0
    for capture in captures:
        if batch and (size + capture.size > BATCH_BYTES or len(batch) >= BATCH_CAPTURES):
            yield tuple(batch)
            batch, size = [], 0
        batch.append(capture)
        size += capture.size
    if batch:
        yield tuple(batch)


def _key(task: str) -> str:
    """Which capture a task reads, whatever that contains: `Capture.key`."""
    return task.split("-", 1)[0]


def _list(place: Place, plan: Record, captures: list[Capture], others: set[str]) -> set[str]:
    """Writes which captures belong to the archive: these, and those of before.

    Not what is no capture any more (`others`), nor what is gone and was not read.

    Returns:
        The keys of those that do not belong to it any more.
    """
    before = list(_listed(place))
    urls = {capture.url for capture in captures}
    lines = {}
    gone = set()
    read: set[str] | None = None
    for line in before:
        capture = _of_line(line)
        if capture.url in urls:
            continue
        is_gone = capture.url in others
        if not is_gone and not is_remote(capture.url) and not os.path.isfile(capture.url):
            # Only then: this lists all that is done.
            read = set(whole_tasks(place, plan)) if read is None else read
            is_gone = capture.task(plan["filter"], plan["version"]) not in read
        if is_gone:
            gone.add(capture.key)
        else:
            lines[capture.url, capture.index] = line
    known = {_of_line(line): line.get("zero_unix_ns") for line in before}
    for it in captures:
        lines[it.url, it.index] = {
            "capture": it.name,
            "url": it.url,
            "bytes": it.size,
            "mark": it.mark,
            "index": it.index,
            "count": it.count,
            "zero_unix_ns": known.get(it),
        }
    _write_list(place, lines.values())
    return gone


def _add_zeros(place: Place, plan: Record) -> None:
    """Adds the zeros of the times of what was read to the list of captures."""
    lines = list(_listed(place))
    tasks = [_of_line(line).task(plan["filter"], plan["version"]) for line in lines]
    done = set(done_tasks(place))
    new = [
        (line, task)
        for line, task in zip(lines, tasks, strict=True)
        if line.get("zero_unix_ns") is None and task in done
    ]
    records = map(json.loads, place.read_all(f"{DONE}/{task}.json" for _, task in new))
    for (line, _), record in zip(new, records, strict=True):
        line["zero_unix_ns"] = record.get("zero_unix_ns")
    if new:
        _write_list(place, lines)


def _write_list(place: Place, lines: Iterable[Record]) -> None:
    ordered = sorted(lines, key=lambda line: (line["url"], line["index"]))
    place.write(LIST, b"".join(map(as_json, ordered)))


def _listed(place: Place) -> Iterator[Record]:
    try:
        text = place.read(LIST).decode()
    except FileNotFoundError:
        return
    for line in text.splitlines():
        yield json.loads(line)


def _of_line(line: Record) -> Capture:
    return Capture(line["url"], line["bytes"], line["mark"], line["index"], line["count"])


def missing_captures(place: Place, plan: Record) -> list[str]:
    """The captures of an archive that are not read."""
    done = set(whole_tasks(place, plan))
    captures = map(_of_line, _listed(place))
    return [str(it) for it in captures if it.task(plan["filter"], plan["version"]) not in done]


def read_task(task: CaptureTask, attempt: int, reasons: tuple[str, ...]) -> Record:
    """Reads captures; this runs on a worker. One that fails does not stop the others.

    Returns:
        Identity and reason of each that failed.
    """
    failed = {}
    for capture in task.captures:
        try:
            _read(task, capture, 1, ())
        except WorkerRefusedError:
            raise
        except Exception as error:
            failed[capture.task(task.filter, task.version)] = reason_of(error)
    return {"failed": failed}


def read_one(task: CaptureTask, attempt: int, reasons: tuple[str, ...]) -> Record:
    """Reads a capture that failed before, with its reasons; this runs on a worker."""
    (capture,) = task.captures
    return _read(task, capture, 1 + attempt, task.earlier + reasons)


def _read(task: CaptureTask, capture: Capture, attempt: int, reasons: tuple[str, ...]) -> Record:
    """Analyses a capture, writes its rows and its sums, and then its record."""
    check_worker(task.place, PLAN, task.identity, task.version)
    began = time.perf_counter()
    place = open_place(task.place)
    shard = (capture.index, capture.count) if capture.count > 1 else None
    local = remote_file(capture.url) if is_remote(capture.url) else nullcontext(capture.url)
    with local as path:
        fetched = time.perf_counter()
        wanted = list(dict.fromkeys((*task.tables, *SUMMED)))
        tables, notes = _core.trace_part([path], task.filter, shard, wanted)
        analysed = time.perf_counter()
    kept = {name: tables[name] for name in task.tables}
    record = write_tables(place, kept, capture.part)
    about: Record = {
        "url": capture.url,
        "capture": capture.name,
        "capture_bytes": capture.size,
        "index": capture.index,
        "count": capture.count,
        "filter": task.filter,
    }
    identity = capture.task(task.filter, task.version)
    summed = sums_of(tables)
    about["zero_unix_ns"] = summed.pop("zero_unix_ns")
    sums = {**about, **summed, "notes": notes}
    place.write(f"{SUMS}/{task_key(identity)}.json", as_json(sums))
    record |= {
        **about,
        "task": identity,
        "fetch_seconds": round(fetched - began, 6),
        "run_seconds": round(analysed - fetched, 6),
        "seconds": round(time.perf_counter() - began, 6),
        "version": task.version,
        "worker": worker_name(),
        "attempts": attempt,
        "reasons": list(reasons),
        "notes": notes,
    }
    write_done(place, identity, record)
    return record

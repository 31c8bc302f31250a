"""Very many captures, on as many machines as there are."""

from __future__ import annotations

import glob
import json
import os
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from tcplab import _core
from tcplab._dataset import (
    DONE,
    Dataset,
    Failure,
    Record,
    agree,
    digest,
    done_tasks,
    partition,
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
from tcplab._meter import Meter
from tcplab._place import Place, as_json, is_remote, matching, open_place, remote_file
from tcplab._settings import several
from tcplab._summary import SUMMED, SUMS, summary, sums_of
from tcplab._worker import check_worker, worker_name

__all__ = ["archive", "summary", "trace_many"]

PLAN = "archive.json"
LIST = "captures.jsonl"
TABLES = ("connections", "findings", "stalls", "episodes")
SPLIT_BYTES = 64_000_000_000
"""Captures from this size on are read by several tasks, one for each `SHARD_BYTES`: a task keeps
about a kilobyte for each connection. Each reads the whole file, so smaller pieces gain little."""
SHARD_BYTES = 32_000_000_000
MOST_SHARDS = 32
BATCH_BYTES = 64_000_000
BATCH_CAPTURES = 50
"""Small captures share a task, up to this size and number."""


@dataclass(frozen=True)
class Capture:
    """A capture, or the part of its connections whose hash modulo `count` is `index`.

    Attributes:
        url: Path or URL.
        size: The file's size in bytes; 0 if unknown.
        mark: What changes when the file changes.
    """

    url: str
    size: int
    mark: str
    index: int = 0
    count: int = 1

    @property
    def key(self) -> str:
        """What says which capture it is, whatever it contains."""
        return digest(self.url)

    @property
    def name(self) -> str:
        """Its name in the data set: that of the file, and a hash."""
        base = os.path.basename(self.url.rstrip("/"))
        plain = "".join(it if it.isascii() and (it.isalnum() or it in "._") else "_" for it in base)
        return f"{plain[:80]}-{self.key}"

    def task(self, chosen: str | None, version: str) -> str:
        """The identity of its analysis."""
        content = digest(self.size, self.mark, chosen, version)[:8]
        return f"{self.key}-{self.index}-{self.count}-{content}"

    def part(self, table: str) -> str:
        """The name of its part of a table."""
        directory = partition("capture", self.name)
        return f"{table}/{directory}/part-{self.index}-of-{self.count}.parquet"

    def __str__(self) -> str:
        return self.url if self.count == 1 else f"{self.url} (part {self.index} of {self.count})"


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
    captures that are new or changed are read. `.summary()` of the result sums it up.

    Args:
        captures: Files, directories, patterns (`**` too) or URLs (`s3://bucket/*.pcap.zst`). Of a
            directory it reads the captures in it and below, whatever they are called, as
            `tcplab.trace` finds them, and says how many files are none; of a URL all that it
            means. A URL is copied to the worker's temporary directory, and removed after use.
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
        Its column `capture` is the name in `captures.jsonl`, which has the URLs. Each of its
        `.records` has `notes`, such as that a capture is cut off.

    Raises:
        TcplabError: No capture was found; the place has another archive; the engine is gone, or a
            worker has another version of tcplab. The message has the remedy.

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
    if shards is not None and shards < 1:
        raise ValueError(f"shards={shards}: pass 1 or more")
    given = [captures] if isinstance(captures, (str, os.PathLike)) else list(captures)
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
    plan = agree(where, plan, keys)
    where.write(PLAN, as_json(plan))
    engine = open_engine(on)
    finished = False
    try:
        _Archiving(engine, where, plan, progress).run(found, passed_over, max(1, retries))
        finished = True
    finally:
        engine.close(at_once=not finished)
    return Dataset(place)


def trace_many(
    urls: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    on: object = None,
    place: str | os.PathLike[str] = "archive",
    **options: Any,
) -> Dataset:
    """Analyses captures on a cluster: `archive` with a place of its own, the directory `archive`.

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


def find(
    given: Sequence[str | os.PathLike[str]], passed_over: list[str] | None = None
) -> list[Capture]:
    """The captures that files, directories, patterns and URLs mean, each once.

    Args:
        given: What means them.
        passed_over: Gets the files of directories that are no captures.

    Raises:
        TcplabError: One of them means none.
    """
    found: dict[str, Capture] = {}
    others = [] if passed_over is None else passed_over
    for one in given:
        text = os.fspath(one)
        try:
            if is_remote(text):
                captures = [Capture(*it) for it in matching(text)]
            else:
                captures = _local(text, others)
        except FileNotFoundError:
            captures = []
        if not captures:
            raise _core.TcplabError(
                f"no captures: {text}\n  try: a file, a directory with captures, or a pattern in "
                "quotes such as 'captures/**/*.pcap.zst'"
            )
        found.update((capture.url, capture) for capture in captures)
    return list(found.values())


def _local(text: str, others: list[str]) -> list[Capture]:
    """The captures of a path or a pattern; files of a directory that are none become `others`."""
    paths = [text] if os.path.exists(text) else sorted(glob.glob(text, recursive=True))
    files: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            below = (
                os.path.join(directory, name)
                for directory, _, names in sorted(os.walk(path))
                for name in sorted(names)
            )
            for file in below:
                (files if _core.is_capture(file) else others).append(file)
        else:
            files.append(path)
    captures = []
    for file in files:
        status = os.stat(file)
        captures.append(Capture(os.path.abspath(file), status.st_size, str(status.st_mtime_ns)))
    return captures


def split(capture: Capture, shards: int | None) -> list[Capture]:
    """A capture as the parts that tasks read. It depends on nothing else: resume finds them."""
    count = shards or 1
    if shards is None and capture.size >= SPLIT_BYTES:
        count = min(MOST_SHARDS, -(-capture.size // SHARD_BYTES))
    return [
        Capture(capture.url, capture.size, capture.mark, index, count) for index in range(count)
    ]


class _Archiving:
    """The work between a list of captures and a data set."""

    def __init__(self, engine: Engine, place: Place, plan: Record, progress: bool) -> None:
        self.engine, self.place, self.plan, self.progress = engine, place, plan, progress
        self.meter = Meter(False, 0, "captures")

    def run(self, captures: list[Capture], passed_over: list[str], attempts: int) -> None:
        """Reads what is not there, and again what failed."""
        _list(self.place, captures)
        left = self._left(captures)
        self.meter = Meter(self.progress, len(left), "captures", sum(map(_share, left)))
        link = self.engine.dashboard()
        if link:
            self.meter.note(f"dashboard: {link}")
        if passed_over:
            are = "1 file is" if len(passed_over) == 1 else f"{len(passed_over):,} files are"
            self.meter.note(f"{are} no capture, such as {passed_over[0]}")
        if len(left) < len(captures):
            self.meter.note(f"{len(captures) - len(left):,} captures are there")
        failed = self._read_batches(left)
        if attempts > 1:
            self._read_singly(failed, attempts - 1)
        else:
            for capture, reasons in failed:
                self._fail(capture, reasons)
        remove_leftovers(self.place, self.plan)
        self.meter.finish()

    def _identity(self, capture: Capture) -> str:
        return capture.task(self.plan["filter"], self.plan["version"])

    def _left(self, captures: list[Capture]) -> list[Capture]:
        """The captures that are not read. Of files that changed, removes what was read."""
        whole = set(whole_tasks(self.place, self.plan))
        left = {task_key(self._identity(it)) for it in captures if self._identity(it) not in whole}
        for task in done_tasks(self.place):
            if task_key(task) in left:
                self.place.remove(f"{DONE}/{task}.json")
        remove_leftovers(self.place, self.plan)
        return [it for it in captures if task_key(self._identity(it)) in left]

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


def _list(place: Place, captures: list[Capture]) -> None:
    """Writes which captures belong to the archive: those of before, and these."""
    lines = {(it["url"], it["index"]): it for it in _listed(place)}
    urls = {capture.url for capture in captures}
    lines = {key: line for key, line in lines.items() if key[0] not in urls}
    for it in captures:
        lines[it.url, it.index] = {
            "capture": it.name,
            "url": it.url,
            "bytes": it.size,
            "mark": it.mark,
            "index": it.index,
            "count": it.count,
        }
    place.write(LIST, b"".join(as_json(line) for _, line in sorted(lines.items())))


def _listed(place: Place) -> Iterator[Record]:
    try:
        text = place.read(LIST).decode()
    except FileNotFoundError:
        return
    for line in text.splitlines():
        yield json.loads(line)


def missing_captures(place: Place, plan: Record) -> list[str]:
    """The captures of an archive that are not read."""
    done = set(whole_tasks(place, plan))
    captures = (
        Capture(it["url"], it["bytes"], it["mark"], it["index"], it["count"])
        for it in _listed(place)
    )
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
    check_worker(task.place, PLAN, task.identity, task.version, "", "", "{}")
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
    whole = {
        "url": capture.url,
        "capture": capture.name,
        "capture_bytes": capture.size,
        "index": capture.index,
        "count": capture.count,
        "filter": task.filter,
    }
    identity = capture.task(task.filter, task.version)
    sums = {**whole, **sums_of(tables)}
    place.write(f"{SUMS}/{task_key(identity)}.json", as_json(sums))
    record |= {
        **whole,
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

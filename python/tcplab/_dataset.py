"""A data set of many tasks: partitioned Parquet, and a record of each finished task.

```
PLACE/sweep.json                                what is computed: checked on resume
PLACE/_per_task.json                            trials of a task, by case
PLACE/trials/case=NAME/part-00001-00100.parquet
PLACE/episodes/case=NAME/part-00001-00100.parquet
PLACE/_done/TASK.json                           written last: the task's parts are complete
PLACE/_failed/TASK.json                         reasons of a task that failed each time
```

A task's name says what it computes, and its parts have names of their own. So a task that runs
twice leaves what it leaves once, and a part without its record is written again. Where sweeps with
tasks of other sizes worked at the same time, tasks overlap; of those, some count that do not.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import quote

from tcplab._core import TcplabError
from tcplab._place import FAILED, Place, as_json, open_place
from tcplab._table_files import TableFiles, query_tables

__all__ = ["Dataset", "Failure"]

DONE = "_done"
PLANS = ("sweep.json", "archive.json")

LOOKS = 10
"""How often records are read that another process removes at the same time."""

PART = re.compile(r"part-(\d+)-(?:of-)?(\d+)\.parquet")

Record = dict[str, Any]


@dataclass(frozen=True)
class Failure:
    """A task, or a trial of a sweep, that failed on each attempt.

    Attributes:
        task: The identity of the task.
        what: What it was to compute.
        attempts: How often it was tried.
        reasons: Why attempts failed, in one line each: all of a task, the last one of a trial.
    """

    task: str
    what: str
    attempts: int
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        times = "once" if self.attempts == 1 else f"{self.attempts} times"
        # Reasons of captures begin with the capture.
        reason = self.reasons[-1].removeprefix(f"{self.what}: ")
        return f"{self.what}: failed {times}; {reason}"


class Dataset:
    """What a sweep or an archive came to, read from its place.

    Attributes:
        place: The directory or URL.
        plan: What it computes: `sweep.json` or `archive.json`.
        passed_over: Of what `tcplab.archive` returns, the files of directories that are no
            captures.
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        """Opens a data set.

        Raises:
            TcplabError: There is none.
        """
        self._place = open_place(place)
        self.place = self._place.name
        self.plan = read_plan(self._place)
        self.passed_over: tuple[str, ...] = ()
        if not self.plan:
            raise TcplabError(
                f"{self.place} is no data set: it has neither sweep.json nor archive.json\n"
                "  try: make one with tcplab.sweep or tcplab.archive"
            )

    @property
    def trials(self) -> TableFiles:
        """The table of trials of a sweep: a row for each trial, with factors and metrics."""
        return self.table("trials")

    @property
    def connections(self) -> TableFiles:
        """The table of connections of an archive."""
        return self.table("connections")

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of its tables."""
        return tuple(self.plan["tables"])

    def table(self, name: str) -> TableFiles:
        """A table by its name: the parts of finished tasks.

        Raises:
            KeyError: The data set has no such table.
        """
        if name not in self.tables:
            raise KeyError(f"no table {name}: this data set has {', '.join(self.tables)}")
        of = task_of_part(self.plan)
        done = {task_key(task) for task in counted_tasks(self._place, self.plan)}
        parts = sorted(part for part, _ in self._place.files(name))
        files = [part for part in parts if of(part[len(name) + 1 :]) in done]
        return TableFiles(name, self._place, files, str(self.plan.get("partition", "")))

    def sql(self, query: str) -> Any:
        """A query by DuckDB over all tables, by their names: a relation.

        Raises:
            ImportError: DuckDB is not installed.
        """
        return query_tables(query, [table for table in map(self.table, self.tables) if table.files])

    @property
    def records(self) -> Iterator[Record]:
        """The record of each finished task: rows, seconds, worker, attempts, reasons.

        Of an archive it has the notes of the capture, too.
        """
        names = (f"{DONE}/{task}.json" for task in counted_tasks(self._place, self.plan))
        yield from map(json.loads, self._place.read_all(names))

    @property
    def failures(self) -> list[Failure]:
        """The tasks that failed each time, with their reasons, and were not done since."""
        names = (name for name, _ in self._place.files(FAILED))
        return [failure_of(json.loads(it)) for it in self._place.read_all(names)]

    @property
    def trial_failures(self) -> list[Failure]:
        """Of a sweep: the first trials of each finished task that failed, with their reasons.

        `failed_trials` of each record counts all. The table `trials` has a row for each.
        """
        return [it for record in self.records for it in trial_failures_of(record)]

    @property
    def missing(self) -> list[str]:
        """What is not done: `CASE FIRST-LAST` of a sweep, URLs of an archive."""
        from tcplab._archive import missing_captures
        from tcplab._sweep import missing_trials

        is_sweep = self.plan["kind"] == "sweep"
        return (missing_trials if is_sweep else missing_captures)(self._place, self.plan)

    def summary(self) -> Any:
        """The summary of an archive; see `tcplab.archive`.

        Raises:
            TcplabError: This is a sweep.
        """
        from tcplab._summary import summary

        return summary(self.place)

    def __repr__(self) -> str:
        tasks = len(counted_tasks(self._place, self.plan))
        return f"<{self.plan['kind']} in {self.place}: {tasks:,} tasks done>"


def read_plan(place: Place) -> Record:
    """What a place computes; empty if nothing was begun there."""
    for name in PLANS:
        try:
            plan: Record = json.loads(place.read(name))
            return plan
        except FileNotFoundError:
            continue
        except ValueError as error:
            raise TcplabError(f"{place.path(name)} cannot be read: {error}") from None
    return {}


def agree(place: Place, plan: Record, keys: Mapping[str, str]) -> Record:
    """Makes sure that a place computes what is asked for now.

    Args:
        place: Where.
        plan: What is asked for. It is written if the place is new.
        keys: What must be equal, and what messages call it.

    Returns:
        The plan of the place.

    Raises:
        TcplabError: The place has something else. The message names both.
    """
    there = read_plan(place)
    if not there and place.create(f"{plan['kind']}.json", as_json(plan)):
        return plan
    # Where two begin at the same time, the plan of one is that of both.
    there = there or read_plan(place)
    if there.get("kind") != plan["kind"]:
        kinds = {"sweep": "a sweep", "archive": "an archive"}
        have, wanted = (kinds.get(str(it.get("kind")), "other work") for it in (there, plan))
        raise TcplabError(f"{place.name} has {have}, not {wanted}\n  try: another place")
    for key, name in keys.items():
        if there.get(key) != plan[key]:
            old, new = _shown(there.get(key)), _shown(plan[key])
            raise TcplabError(
                f"{place.name} was begun with another {name}: {old} there, {new} now\n"
                f"  try: another place, or remove {place.name} to begin again"
            )
    return there


def _shown(value: object) -> str:
    """A value in few words; a long one by its first line and hash."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) <= 80 and "\n" not in text:
        return text
    title = next((line for line in text.splitlines() if line.startswith("title")), text)
    return f"`{title.strip()[:80]}` ({digest(text)[:8]})"


def digest(*parts: object) -> str:
    """A hash of what is given: 16 hexadecimal digits."""
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:16]


def partition(key: str, value: str) -> str:
    """The directory of a partition, `key=value` as Hive writes it.

    A name too long for a file system is cut, and told from others by its hash.

    >>> partition("case", "loss=1%")
    'case=loss%3D1%25'
    """
    encoded = quote(value, safe=" ,+@()")
    if len(encoded) > 200:
        encoded = f"{quote(value[:60], safe='')[:180].rsplit('%', 1)[0]}~{digest(value)[:10]}"
    return f"{key}={encoded}"


def done_tasks(place: Place) -> list[str]:
    """The identities of the tasks that have a record."""
    start, end = len(DONE) + 1, len(".json")
    return [name[start:-end] for name, _ in place.files(DONE) if name.endswith(".json")]


def counted_tasks(place: Place, plan: Record) -> list[str]:
    """The tasks that have a record, without those of a sweep that overlap others."""
    done = done_tasks(place)
    return disjoint(done) if plan.get("kind") == "sweep" else done


def disjoint(tasks: Sequence[str]) -> list[str]:
    """Of tasks `CASE-FIRST-LAST`, all that overlap no other; else those that hold most trials.

    >>> disjoint(["a-1-6", "a-7-10", "b-1-6", "a-1-3", "a-4-8", "a-9-10"])
    ['a-1-6', 'a-7-10', 'b-1-6']
    """
    cases: dict[str, list[tuple[int, int, str]]] = {}
    for task in tasks:
        case, first, last = task.split("-")[:3]
        cases.setdefault(case, []).append((int(first), int(last), task))
    kept = {task for ranges in cases.values() for task in _most_trials(sorted(ranges))}
    return [task for task in tasks if task in kept]


def _most_trials(ranges: Sequence[tuple[int, int, str]]) -> list[str]:
    """Of ranges in order of their begin, those that overlap no other and hold most trials."""
    if all(left[1] < right[0] for left, right in pairwise(ranges)):
        return [task for _, _, task in ranges]
    begins = [first for first, _, _ in ranges]
    # From each range on: the most trials, and whether the range is one of them.
    most = [0] * (len(ranges) + 1)
    taken = [False] * len(ranges)
    for at in reversed(range(len(ranges))):
        first, last, _ = ranges[at]
        with_it = last - first + 1 + most[bisect_left(begins, last + 1)]
        taken[at] = with_it > most[at + 1]
        most[at] = max(with_it, most[at + 1])
    found, at = [], 0
    while at < len(ranges):
        if taken[at]:
            found.append(ranges[at][2])
            at = bisect_left(begins, ranges[at][1] + 1)
        else:
            at += 1
    return found


def task_of_part(plan: Record) -> Callable[[str], str]:
    """Tells which task wrote a part, by its path below its table.

    The answer begins the task's identity (`task_key`); it is empty for a file of something else.
    """
    prefixes = {partition("case", case["name"]): case["task"] for case in plan.get("cases", ())}

    def of(part: str) -> str:
        directory, _, file = part.partition("/")
        found = PART.fullmatch(file)
        if found is None:
            return ""
        if directory in prefixes:
            return f"{prefixes[directory]}-{int(found[1])}-{int(found[2])}"
        return f"{directory.rsplit('-', 1)[-1]}-{int(found[1])}-{int(found[2])}"

    return of


def task_key(task: str) -> str:
    """The part of a task's identity that its parts' names show."""
    return "-".join(task.split("-")[:3])


def whole_tasks(place: Place, plan: Record) -> list[str]:
    """The tasks that are done and whose parts are all there, of the sizes that were written."""
    for left in reversed(range(LOOKS)):
        try:
            tasks = _whole_tasks(place, plan)
        except FileNotFoundError:
            # Another process removed a record meanwhile.
            if not left:
                raise
            continue
        return disjoint(tasks) if plan.get("kind") == "sweep" else tasks
    return []


def _whole_tasks(place: Place, plan: Record) -> list[str]:
    of = task_of_part(plan)
    # Parts later: a task that is in this list has written all of its own.
    done = done_tasks(place)
    sizes = {
        table: {of(name[len(table) + 1 :]): size for name, size in place.files(table)}
        for table in plan["tables"]
    }
    records = map(json.loads, place.read_all(f"{DONE}/{task}.json" for task in done))
    return [
        task
        for task, record in zip(done, records, strict=True)
        if _is_whole(record, {name: it.get(task_key(task), 0) for name, it in sizes.items()})
    ]


def _is_whole(record: Record, there: Mapping[str, int]) -> bool:
    """Whether parts have the sizes that a task's record tells; an empty part is never whole."""
    written: Mapping[str, int] = record.get("bytes", {})
    return all(size > 0 and size == written.get(table, size) for table, size in there.items())


def remove_overlaps(place: Place, plan: Record) -> None:
    """Removes the records of tasks that do not count; their parts are leftovers then."""
    done = done_tasks(place)
    # Looked at later: what ends meanwhile stays.
    whole = set(whole_tasks(place, plan))
    for task in done:
        if task not in whole:
            place.remove(f"{DONE}/{task}.json")


def remove_leftovers(place: Place, plan: Record) -> int:
    """Removes the parts that no finished task has written, and returns their number.

    They come from tasks that died, perhaps of another size. Their task, if it is still to come,
    writes them again.
    """
    of = task_of_part(plan)
    # Parts first: a task that ends meanwhile has its record then.
    parts = [
        (name, of(name[len(table) + 1 :]))
        for table in plan["tables"]
        for name, _ in place.files(table)
    ]
    done = {task_key(task) for task in done_tasks(place)}
    left = [name for name, task in parts if task not in done]
    for name in left:
        place.remove(name)
    return len(left)


def write_done(place: Place, task: str, record: Record) -> None:
    """Says that a task is done, after its parts; removes what an earlier failure left."""
    place.write(f"{DONE}/{task}.json", as_json({**record, "unix_seconds": round(time.time(), 3)}))
    place.remove(f"{FAILED}/{task}.json")


def write_failed(place: Place, failure: Failure) -> None:
    """Keeps the reasons of a task that failed each time."""
    place.write(f"{FAILED}/{failure.task}.json", as_json(vars(failure)))


def failure_of(record: Record) -> Failure:
    """What a record of a failure says."""
    return Failure(**{**record, "reasons": tuple(record["reasons"])})


def trial_failures_of(record: Record) -> list[Failure]:
    """The failed trials that the record of a finished task tells of."""
    return [failure_of(it) for it in record.get("trial_failures", ())]


def remove_failures(place: Place, is_over: Callable[[str], bool]) -> None:
    """Removes the reasons of the failed tasks for which this is true."""
    start, end = len(FAILED) + 1, len(".json")
    names = [name for name, _ in place.files(FAILED) if name.endswith(".json")]
    for name in names:
        if is_over(name[start:-end]):
            place.remove(name)


def write_tables(place: Place, tables: Mapping[str, Any], part: Callable[[str], str]) -> Record:
    """Writes a task's tables as parts.

    Args:
        place: Where.
        tables: By name; each can write itself.
        part: The name of the part of a table.

    Returns:
        Rows and bytes by table.
    """
    rows, sizes = {}, {}
    for name, table in tables.items():
        with place.moved_in(part(name)) as temporary:
            table.write(temporary)
            sizes[name] = os.path.getsize(temporary)
        rows[name] = table.num_rows
    return {"rows": rows, "bytes": sizes}

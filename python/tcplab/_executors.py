"""Tasks on existing engines: local processes, `concurrent.futures`, Dask and Ray.

Nothing here schedules. An engine is asked for three things: how many tasks it runs at once, to run
one more, and whether it is gone. `completed` keeps a bounded number of tasks in flight, runs a
task again when it failed, and keeps the reasons.
"""

from __future__ import annotations

import os
import queue
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from tcplab._core import ScenarioError, TcplabError
from tcplab._engines import DaskEngine, EngineGoneError, ExecutorEngine, LocalEngine, RayEngine

__all__ = [
    "ATTEMPTS",
    "PER_SLOT",
    "Engine",
    "EngineLostError",
    "Outcome",
    "completed",
    "open_engine",
]

PER_SLOT = 4
"""Tasks in flight for each slot of an engine: one runs, the others wait beside it."""

ATTEMPTS = 3
"""How often a task is tried."""

DASK_SCHEMES = ("tcp", "tls", "ws", "wss", "ucx", "ucxx", "inproc")
"""What the address of a Dask scheduler begins with."""

HOPELESS = 10
"""So many tasks that fail, before any succeeds, end the work."""

Record = dict[str, Any]


class EngineLostError(TcplabError):
    """The engine is gone: its scheduler ended, or its processes. Finished tasks are kept."""


class WorkerRefusedError(TcplabError):
    """A worker that must not take part: it has another tcplab or kernel, or does not see the place.

    No attempt elsewhere repairs that, so the work ends.
    """


class Task(Protocol):
    """What `completed` needs to know of a task. It is plain data that can be pickled."""

    @property
    def id(self) -> str: ...
    @property
    def resources(self) -> Mapping[str, float]: ...


AnyTask = TypeVar("AnyTask", bound=Task)

Work = Callable[[AnyTask, int, tuple[str, ...]], Record]
"""A function of a module: task, attempt (from 1) and reasons of the failed attempts to a record."""


class Engine(Protocol):
    """What runs tasks."""

    @property
    def name(self) -> str:
        """As messages name it."""
        ...

    @property
    def fails_together(self) -> bool:
        """Whether the death of one worker fails all tasks in flight."""
        ...

    def slots(self) -> int:
        """How many tasks run at once now; 0 while there is no worker."""
        ...

    def most(self, resources: Mapping[str, float]) -> int | None:
        """How many tasks with these needs may be in flight, if the engine does not see to it.

        Raises:
            LookupError: No worker offers them.
        """
        ...

    def submit(
        self, work: Callable[..., Record], arguments: tuple[Any, ...], needs: Mapping[str, float]
    ) -> Future[Record]:
        """Starts a task, soon."""
        ...

    def renew(self) -> bool:
        """Replaces workers that died, where that is this engine's own business."""
        ...

    def dashboard(self) -> str | None:
        """The address of a page that shows the work."""
        ...

    def close(self, at_once: bool) -> None:
        """Ends what `open_engine` started, and nothing else."""
        ...


@dataclass(frozen=True)
class Outcome(Generic[AnyTask]):
    """What became of a task.

    Attributes:
        task: The task.
        record: What it returned; none if it failed each time.
        attempts: How often it was tried, from 1.
        reasons: Why attempts failed, one line each.
    """

    task: AnyTask
    record: Record | None
    attempts: int
    reasons: tuple[str, ...]


@dataclass
class _Attempt(Generic[AnyTask]):
    task: AnyTask
    number: int = 1
    reasons: tuple[str, ...] = ()
    alone: bool = False


def open_engine(on: object) -> Engine:
    """The engine that is meant.

    Args:
        on: None for local processes, one for each processor; a number of local processes; a
            `concurrent.futures.Executor`; a Dask `Client` or the address of a Dask scheduler
            (`tcp://…`, `tls://…`); a Ray address (`ray://…`, `auto`), or `ray` for the Ray that
            this process is connected to, else a new one on this machine.

    Returns:
        An engine. Close it after use.

    Raises:
        TcplabError: The engine is not installed or not reachable, with the remedy; or it is a
            number of processes below one.
        TypeError: It is none of these.

    Example:
        >>> engine = open_engine(2)
        >>> engine.slots()
        2
        >>> engine.close(at_once=False)
    """
    if on is None or (isinstance(on, int) and not isinstance(on, bool)):
        if on is not None and on < 1:
            raise TcplabError(f"on={on}: pass 1 process or more")
        return LocalEngine(on if on is not None else processors())
    if isinstance(on, Executor):
        return ExecutorEngine(on)
    try:
        if isinstance(on, str):
            if on in ("ray", "auto") or on.startswith("ray://"):
                return RayEngine(on)
            scheme, is_url, _ = on.partition("://")
            if scheme in DASK_SCHEMES if is_url else ":" in on:
                return DaskEngine(on)
        elif type(on).__module__.split(".")[0] == "distributed":
            return DaskEngine(on)
    except ModuleNotFoundError as missing:
        engine = "ray" if missing.name == "ray" else "dask"
        raise TcplabError(
            f"{missing.name} is not installed\n  try: pip install 'tcplab[{engine}]'"
        ) from None
    except (OSError, TimeoutError, ConnectionError) as refused:
        raise TcplabError(
            f"no answer from {on}: {refused}\n  try: start the scheduler, or correct its address"
        ) from None
    except ValueError as error:
        # Ray says so where it has no client for addresses ray://….
        no_client = "ray[client]" in str(error)
        raise TcplabError(
            f"{on}: {'Ray has no client here' if no_client else reason_of(error)}\n"
            f"  try: {'pip install ' + repr('tcplab[ray]') if no_client else 'correct the address'}"
        ) from None
    raise TypeError(
        f"on={on!r} is no engine: pass a Dask client or tcp://…, a Ray address (ray://…, auto, "
        "ray), a concurrent.futures executor, a number of processes, or None"
    )


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def completed(
    engine: Engine,
    work: Work[AnyTask],
    tasks: Iterable[AnyTask],
    *,
    attempts: int = ATTEMPTS,
    per_slot: int = PER_SLOT,
    most: int | None = None,
    hopeless: int | None = HOPELESS,
) -> Iterator[Outcome[AnyTask]]:
    """Runs tasks and yields what becomes of each, in the order in which they end.

    Tasks are taken from `tasks` as slots become free, so neither tasks nor results pile up: at most
    `per_slot` tasks are in flight for each slot.

    Args:
        engine: Where.
        work: A function of a module that workers can import.
        tasks: Plain data, taken one by one.
        attempts: How often a task is tried, at least once. The death of its worker counts.
        per_slot: Bound of the tasks in flight, for each slot.
        most: Bound of the tasks in flight in all; none by default.
        hopeless: So many tasks that fail, before any succeeds, end the work.

    Yields:
        One outcome for each task.

    Raises:
        EngineLostError: The engine is gone. What is done is done.
        WorkerRefusedError: A worker cannot take part.
        TcplabError: The first `hopeless` tasks failed, with the last reason.
    """
    state = _State(engine, work, iter(tasks), max(1, attempts), hopeless)
    return state.outcomes(max(1, per_slot), most)


class _State(Generic[AnyTask]):
    """The state of `completed`."""

    def __init__(
        self,
        engine: Engine,
        work: Work[AnyTask],
        tasks: Iterator[AnyTask],
        attempts: int,
        hopeless: int | None,
    ) -> None:
        self.engine, self.work, self.tasks, self.attempts = engine, work, tasks, attempts
        self.hopeless = hopeless
        self.again: deque[_Attempt[AnyTask]] = deque()
        self.in_flight: dict[Future[Record], _Attempt[AnyTask]] = {}
        self.ended: queue.SimpleQueue[Future[Record]] = queue.SimpleQueue()
        self.broken = False
        self.failed = 0
        self.succeeded = False

    def outcomes(self, per_slot: int, most: int | None) -> Iterator[Outcome[AnyTask]]:
        try:
            while True:
                bound = max(1, self.engine.slots() * per_slot)
                self._fill(bound if most is None else min(bound, most))
                if not self.in_flight and not self.broken:
                    return
                if not self.in_flight:
                    continue
                future = self._next()
                if future is None:
                    continue
                outcome = self._outcome(future, self.in_flight.pop(future))
                if outcome is not None:
                    yield outcome
                    self._give_up(outcome)
        finally:
            # Those that fail together end with the engine, which expects to end them itself.
            for future in [] if self.engine.fails_together else list(self.in_flight):
                future.cancel()

    def _next(self) -> Future[Record] | None:
        try:
            return self.ended.get(timeout=1.0)
        except queue.Empty:
            return None

    def _fill(self, bound: int) -> None:
        """Submits tasks up to the bound."""
        if self.broken and not self.in_flight:
            self.broken = not self.engine.renew()
        while len(self.in_flight) < bound and not self.broken:
            if any(attempt.alone for attempt in self.in_flight.values()):
                return
            if self.again and self.again[0].alone and self.in_flight:
                return
            if self.again:
                attempt = self.again.popleft()
            else:
                task = next(self.tasks, None)
                if task is None:
                    return
                attempt = _Attempt(task)
            self._submit(attempt)

    def _submit(self, attempt: _Attempt[AnyTask]) -> None:
        arguments = (attempt.task, attempt.number, attempt.reasons)
        try:
            future = self.engine.submit(self.work, arguments, attempt.task.resources)
        except Exception as error:
            if not (self.engine.fails_together and isinstance(error, BrokenExecutor)):
                raise self._lost(error) from error
            self.again.appendleft(attempt)
            self.broken = True
            return
        self.in_flight[future] = attempt
        future.add_done_callback(self.ended.put)

    def _outcome(
        self, future: Future[Record], attempt: _Attempt[AnyTask]
    ) -> Outcome[AnyTask] | None:
        """The outcome of a task, or none if it is tried again."""
        task, number = attempt.task, attempt.number
        try:
            record = future.result()
        except (WorkerRefusedError, ScenarioError):
            raise
        except (CancelledError, EngineGoneError) as error:
            raise self._lost(error) from error
        except Exception as error:
            broke = isinstance(error, BrokenExecutor)
            if broke and not self.engine.fails_together:
                raise self._lost(error) from error
            if type(error).__name__ == "ModuleNotFoundError" and "tcplab" in str(error):
                raise WorkerRefusedError(
                    f"a worker of {self.engine.name} has no tcplab: {error}\n"
                    "  try: install this machine's wheel of tcplab on each worker"
                ) from error
            self.broken |= broke
            reasons = (*attempt.reasons, reason_of(error))
            if number < self.attempts:
                # Which of the tasks ended the pool is known only if it runs by itself.
                self.again.append(_Attempt(task, number + 1, reasons, alone=broke))
                return None
            return Outcome(task, None, number, reasons)
        self.succeeded = True
        return Outcome(task, record, number, attempt.reasons)

    def _give_up(self, outcome: Outcome[AnyTask]) -> None:
        self.failed += outcome.record is None
        if self.hopeless and self.failed >= self.hopeless and not self.succeeded:
            raise TcplabError(
                f"the first {self.failed} tasks failed on each attempt: {outcome.reasons[-1]}"
            )

    def _lost(self, error: BaseException) -> EngineLostError:
        return EngineLostError(
            f"{self.engine.name} is gone: {reason_of(error)}\n"
            "  try: start it again and repeat the command; finished tasks are kept"
        )


def reason_of(error: BaseException) -> str:
    """An error in one line: kind and message."""
    cause = getattr(error, "cause", None)
    if type(error).__module__.startswith("ray") and isinstance(cause, BaseException):
        error = cause
    lines = [" ".join(line.split()) for line in str(error).splitlines()]
    # Marks below a part of another line point nowhere in this one.
    lines = [line for line in lines if line.strip("^~ ")]
    said = " ".join(f"; {line}" if line.startswith("try: ") else line for line in lines)
    said = said.replace(" ; try: ", "; try: ")
    if isinstance(error, TcplabError):
        return said[:1000]
    return f"{type(error).__name__}: {said[:1000]}" if said else type(error).__name__

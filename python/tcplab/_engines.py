"""The engines: what Dask, Ray and executors call what `_executors` asks them for."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import resource_tracker
from multiprocessing.synchronize import Event
from typing import Any

from tcplab._core import TcplabError

Record = dict[str, Any]
Work = Callable[..., Record]

END_SECONDS = 3.0
"""So long a process of the pool may take to end before it is killed."""

FRESH_SECONDS = 2.0
"""For how long the size of a cluster is not asked for again."""


class EngineGoneError(Exception):
    """The engine took a task and will not finish it, because it is itself gone."""


class Size:
    """The number of slots of a cluster, asked for now and then."""

    def __init__(self, ask: Callable[[], int]) -> None:
        self.ask, self.slots, self.asked = ask, 0, float("-inf")

    def now(self) -> int:
        """The slots, at most two seconds old."""
        now = time.monotonic()
        if now - self.asked > FRESH_SECONDS:
            self.slots, self.asked = self.ask(), now
        return self.slots


class ExecutorEngine:
    """A `concurrent.futures.Executor` that somebody else made and will shut down."""

    fails_together = False

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.name = type(executor).__name__

    def slots(self) -> int:
        """Its workers, where it has their number."""
        workers = getattr(self.executor, "_max_workers", None)
        return workers if isinstance(workers, int) else os.cpu_count() or 1

    def most(self, resources: Mapping[str, float]) -> int | None:
        """One task at a time, if it needs anything: an executor knows no resources."""
        return 1 if resources else None

    def submit(
        self, work: Work, arguments: tuple[Any, ...], needs: Mapping[str, float]
    ) -> Future[Record]:
        """Starts a task."""
        return self.executor.submit(work, *arguments)

    def renew(self) -> bool:
        """Not this engine's business."""
        return False

    def dashboard(self) -> str | None:
        """Executors have none."""
        return None

    def close(self, at_once: bool) -> None:
        """Leaves the executor as it is."""


GUARD = (
    "each local process first imports the program that starts it\n"
    '  try: call tcplab below `if __name__ == "__main__":` in the program, or pass a '
    "concurrent.futures.ThreadPoolExecutor as `on`"
)
"""What a program needs for processes that are started afresh."""


class LocalEngine(ExecutorEngine):
    """Processes of this machine, started afresh (`spawn`), so that no lock is copied.

    Raises:
        TcplabError: This process is itself one of these, and still imports the program.
    """

    fails_together = True

    def __init__(self, processes: int) -> None:
        # As `multiprocessing` finds out, which would start no process either.
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            raise TcplabError(f"a local process cannot start others: {GUARD}")
        self.processes = max(1, processes)
        self.spawn = multiprocessing.get_context("spawn")
        self.has_begun = self.spawn.Event()
        super().__init__(self._pool())
        self.name = "the pool of local processes"

    def _pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self.processes,
            mp_context=self.spawn,
            initializer=_begin_process,
            initargs=(self.has_begun,),
        )

    def submit(
        self, work: Work, arguments: tuple[Any, ...], needs: Mapping[str, float]
    ) -> Future[Record]:
        """Starts a task. A pool that ends must not meet futures that somebody else cancelled."""
        with _interrupts_held_back():
            return _relayed(super().submit(_until_ended, (work, *arguments), needs))

    def renew(self) -> bool:
        """A new pool in place of one whose process died.

        Raises:
            TcplabError: No process has begun; each new one would end as these did.
        """
        if not self.has_begun.is_set():
            raise TcplabError(f"the local processes ended before they began: {GUARD}")
        self.executor.shutdown(wait=False, cancel_futures=True)
        self.executor = self._pool()
        return True

    def close(self, at_once: bool) -> None:
        """Ends the processes; at once, or after their tasks."""
        if at_once:
            # Its futures fail with it. To cancel them before makes the executor's own thread print
            # an error (Python 3.11.7, `_terminate_broken`).
            processes = list((getattr(self.executor, "_processes", None) or {}).values())
            for process in processes:
                process.terminate()
            until = time.monotonic() + END_SECONDS
            for process in processes:
                process.join(max(0.0, until - time.monotonic()))
                process.kill()
        self.executor.shutdown(wait=True, cancel_futures=not at_once)


@contextlib.contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Ctrl-C waits: a process that is started meanwhile has no handler yet."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # It lets them through where it is started.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _EndedError(BaseException):
    """A process of the pool was told to end."""


_works = threading.Event()
"""Whether this process is at a task."""


def _begin_process(has_begun: Event) -> None:
    """Prepares a process of the pool, whose end only its first process decides."""
    has_begun.set()
    # Ctrl-C goes to all processes of a terminal.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGTERM, _end)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end(number: int, frame: object) -> None:
    """Ends this process; a task first removes what it keeps outside of its place."""
    signal.signal(number, signal.SIG_IGN)
    if _works.is_set():
        raise _EndedError
    os._exit(128 + number)


def _until_ended(work: Work, *arguments: Any) -> Record:
    """Does a task; ends the process if that was told to end meanwhile."""
    _works.set()
    try:
        return work(*arguments)
    except _EndedError:
        os._exit(128 + signal.SIGTERM)
    finally:
        _works.clear()


def _end_with_parent() -> None:
    """Ends this process with the one that started it, even if that was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        signal.raise_signal(signal.SIGTERM)
        time.sleep(END_SECONDS)
        os._exit(1)


class DaskEngine:
    """A Dask cluster, by its client or the address of its scheduler."""

    fails_together = False

    def __init__(self, on: Any) -> None:
        from distributed import Client

        connect: Any = Client

        self.is_own = isinstance(on, str)
        self.client = connect(on, set_as_default=False) if self.is_own else on
        self.name = f"the Dask scheduler {self._address()}".rstrip()
        self.size = Size(lambda: sum(self.client.nthreads().values()))

    def _address(self) -> str:
        scheduler = getattr(self.client, "scheduler", None)
        return str(getattr(scheduler, "address", ""))

    def _workers(self) -> dict[str, Any]:
        workers: dict[str, Any] = self.client.scheduler_info(n_workers=-1)["workers"]
        return workers

    def slots(self) -> int:
        """The threads of all workers that are there now."""
        return self.size.now() if self.client.status == "running" else 0

    def most(self, resources: Mapping[str, float]) -> int | None:
        """No bound: the scheduler sees to resources."""
        for name, amount in resources.items():
            offered = (worker.get("resources", {}) for worker in self._workers().values())
            if not any(worker.get(name, 0) >= amount for worker in offered):
                raise LookupError(f"dask worker … --resources {name}={amount:g}")
        return None

    def submit(
        self, work: Work, arguments: tuple[Any, ...], needs: Mapping[str, float]
    ) -> Future[Record]:
        """Starts a task. Dask itself moves it a few times if its worker dies."""
        if self.client.status != "running":
            raise EngineGoneError(f"the connection is {self.client.status}")
        resources = dict(needs) or None
        inner = self.client.submit(work, *arguments, pure=False, retries=0, resources=resources)
        outer: Future[Record] = Future()

        def finish(ended: Any) -> None:
            if ended.status in ("pending", "lost"):
                # The result was lost with its worker: the scheduler has it computed again.
                ended.add_done_callback(finish)
            elif outer.set_running_or_notify_cancel():
                _settle(ended, outer)
                ended.release()

        _cancel_with(outer, inner.cancel)
        inner.add_done_callback(finish)
        return outer

    def renew(self) -> bool:
        """Not this engine's business."""
        return False

    def dashboard(self) -> str | None:
        """The page of Dask's scheduler."""
        link = self.client.dashboard_link
        return str(link) if link else None

    def close(self, at_once: bool) -> None:
        """Closes the connection, if it was made here."""
        if self.is_own:
            self.client.close(timeout=2)


class RayEngine:
    """A Ray cluster, by its address."""

    fails_together = False

    def __init__(self, address: str) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        import ray as library

        ray: Any = library
        self.ray = ray
        self.is_own = not ray.is_initialized()
        self.link: str | None = None
        if self.is_own:
            start: dict[str, Any] = {"log_to_driver": False}
            if address == "ray":
                start["include_dashboard"] = False
            else:
                start["address"] = address
            context = ray.init(**start)
            self.link = getattr(context, "dashboard_url", None) or None
        self.name = "Ray" if address == "ray" else f"Ray at {address}"
        self.works: dict[Work, Any] = {}
        self.size = Size(lambda: int(ray.cluster_resources().get("CPU", 0)))

    def slots(self) -> int:
        """The processors of the cluster."""
        return self.size.now()

    def most(self, resources: Mapping[str, float]) -> int | None:
        """No bound: Ray sees to resources."""
        offered = self.ray.cluster_resources()
        for name, amount in resources.items():
            if offered.get(name, 0) < amount:
                needed = f'{{"{name}": {amount:g}}}'
                raise LookupError(f"ray start … --resources '{needed}'")
        return None

    def submit(
        self, work: Work, arguments: tuple[Any, ...], needs: Mapping[str, float]
    ) -> Future[Record]:
        """Starts a task. Ray does not repeat it: attempts are counted in one place."""
        if work not in self.works:
            self.works[work] = self.ray.remote(work)
        remote = self.works[work].options(max_retries=0, num_cpus=1, resources=dict(needs) or None)
        reference = remote.remote(*arguments)
        outer = _relayed(reference.future())
        _cancel_with(outer, lambda: self.ray.cancel(reference))
        return outer

    def renew(self) -> bool:
        """Not this engine's business."""
        return False

    def dashboard(self) -> str | None:
        """The page of Ray, where it runs one."""
        if not self.link:
            return None
        return self.link if "://" in self.link else f"http://{self.link}"

    def close(self, at_once: bool) -> None:
        """Leaves the cluster, if it was joined here."""
        if self.is_own:
            self.ray.shutdown()


def _settle(ended: Any, outer: Future[Record]) -> None:
    """Hands on what became of a task of Dask."""
    try:
        if ended.status == "error":
            outer.set_exception(ended.exception())
        elif ended.status == "finished":
            outer.set_result(ended.result())
        else:
            outer.set_exception(EngineGoneError(f"a task is {ended.status}"))
    except BaseException as error:
        outer.set_exception(EngineGoneError(str(error)))


def _relayed(inner: Future[Record]) -> Future[Record]:
    """A future that becomes what another one becomes, and may be cancelled by itself."""
    outer: Future[Record] = Future()

    def finish(ended: Future[Record]) -> None:
        if ended.cancelled():
            outer.cancel()
        if outer.set_running_or_notify_cancel():
            error = ended.exception()
            if error is None:
                outer.set_result(ended.result())
            else:
                outer.set_exception(error)

    inner.add_done_callback(finish)
    return outer


def _cancel_with(outer: Future[Record], cancel: Callable[[], object]) -> None:
    """Cancels a task of an engine when the future that stands for it is cancelled."""

    def cancelled(future: Future[Record]) -> None:
        if future.cancelled():
            with contextlib.suppress(Exception):
                cancel()

    outer.add_done_callback(cancelled)

"""What the tests share: engines, a scenario, and a stand-in for a compiled part that is missing."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import tcplab

HERE = Path(__file__).parent
PACKAGE = str(HERE.parent)
if importlib.util.find_spec("tcplab") is None:
    sys.path.insert(0, PACKAGE)
# Workers import the tasks of the tests.
sys.path.insert(0, str(HERE))
os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([*sys.path[:2], *sys.path]))
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")


def has_core() -> bool:
    """Whether the compiled part is there."""
    try:
        return importlib.util.find_spec("tcplab._core") is not None
    except ImportError:
        return False


HAS_CORE = has_core()
if not HAS_CORE:
    stand_in: Any = types.ModuleType("tcplab._core")
    stand_in.TcplabError = type("TcplabError", (Exception,), {"__module__": "tcplab._core"})
    stand_in.ScenarioError = type(
        "ScenarioError", (stand_in.TcplabError,), {"__module__": "tcplab._core"}
    )
    stand_in.__version__ = "0"
    sys.modules["tcplab._core"] = stand_in

needs_core = pytest.mark.skipif(
    not HAS_CORE, reason="tcplab._core IS MISSING: build the wheel (maturin develop) and repeat"
)

SCENARIO = """
title = "Loss and size"
path = { rate = "20 Mbit/s", delay = "10 ms" }
client = { stack = "model:linux-6.18" }
server = { stack = "model:linux-6.18" }
workload = { download = "100 kB" }
matrix = { "path.loss" = ["0.1 %", "2 %"], "server.socket.congestion" = ["cubic", "reno"] }
repeat = { trials = 12 }
"""


@pytest.fixture
def scenario_file(tmp_path: Path) -> Path:
    file = tmp_path / "loss.toml"
    file.write_text(SCENARIO)
    return file


class DaskProcesses:
    """A scheduler and workers as processes of their own, which may be killed by their ids."""

    def __init__(self, directory: Path, workers: int, port: int = 0, *resources: str) -> None:
        self.directory = directory
        self.resources = resources
        self.file = directory / "scheduler.json"
        self.file.unlink(missing_ok=True)
        where = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
        self.scheduler = self.start("scheduler", "--scheduler-file", str(self.file), *where)
        deadline = time.monotonic() + 30
        while not self.file.exists() or not self.file.read_text().strip():
            assert time.monotonic() < deadline and self.scheduler.poll() is None
            time.sleep(0.05)
        self.workers = [self.start_worker() for _ in range(workers)]

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        log = (self.directory / f"{arguments[0]}.log").open("ab")
        command = [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:]]
        return subprocess.Popen(command, stdout=log, stderr=log, cwd=self.directory)

    def start_worker(self) -> subprocess.Popen[bytes]:
        file = ["--scheduler-file", str(self.file), "--host", "127.0.0.1"]
        quick = ["--nthreads", "1", "--no-nanny", "--death-timeout", "20", "--no-dashboard"]
        return self.start("worker", *file, *quick, *self.resources)

    def client(self) -> Any:
        from distributed import Client

        client: Any = Client(scheduler_file=str(self.file), set_as_default=False)
        client.wait_for_workers(len(self.workers), timeout=60)
        return client

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="session")
def dask_client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[str]:
    ray = pytest.importorskip("ray")
    # An address of 127.0.0.1 hangs; without one Ray takes the host's.
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield "ray"
    ray.shutdown()


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as executor:
        yield executor


@pytest.fixture(params=["local", "threads", "dask", "ray"])
def on(request: pytest.FixtureRequest) -> Any:
    """Each engine in turn."""
    names = {"threads": "threads", "dask": "dask_client", "ray": "ray_cluster"}
    return 2 if request.param == "local" else request.getfixturevalue(names[request.param])


def until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Waits for a condition."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


@pytest.fixture(scope="session")
def trial() -> tcplab.Trial:
    """A trial over a lossy path."""
    from facade import lossy

    import tcplab

    return tcplab.simulate(lossy(), seed=3)


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> tcplab.Run:
    """A run of two factors with eight trials each case."""
    from facade import upload

    import tcplab

    scenario = upload(
        matrix={"path.loss": ["0 %", "2 %"], "client.socket.congestion": ["reno", "cubic"]},
        repeat={"trials": 8},
        expect=[{"claim": "Every byte arrives", "metric": "payload_intact", "equals": True}],
    )
    place = tmp_path_factory.mktemp("runs")
    return tcplab.run(scenario, world="sim", directory=place, progress=False)

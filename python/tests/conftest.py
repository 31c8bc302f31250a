"""Fixtures, and what to do where the compiled part is missing."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import tcplab

HAS_CORE = find_spec("tcplab") is not None and find_spec("tcplab._core") is not None

collect_ignore_glob = [] if HAS_CORE else ["test_*.py"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says it loudly if nothing was tested."""
    if not HAS_CORE:
        line = (
            "SKIPPED EVERYTHING: the compiled part tcplab._core is missing; build the wheel first"
        )
        terminalreporter.write_sep("!", line, red=True, bold=True)


@pytest.fixture(scope="session")
def trial() -> Iterator[tcplab.Trial]:
    """A trial over a lossy path."""
    from facade import lossy

    import tcplab

    yield tcplab.simulate(lossy(), seed=3)


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tcplab.Run]:
    """A run of two factors with twelve trials each case."""
    from facade import upload

    import tcplab

    scenario = upload(
        matrix={"path.loss": ["0 %", "2 %"], "client.socket.congestion": ["reno", "cubic"]},
        repeat={"trials": 8},
        expect=[{"claim": "Every byte arrives", "metric": "payload_intact", "equals": True}],
    )
    place = tmp_path_factory.mktemp("runs")
    yield tcplab.run(scenario, world="sim", directory=place, progress=False)

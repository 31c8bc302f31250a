"""What the tests of the façade share: small scenarios in virtual time."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import HAS_CORE

import tcplab

if not HAS_CORE:
    reason = "tcplab._core IS MISSING: build it (make python) and repeat"
    pytest.skip(reason, allow_module_level=True)

ENDPOINT = {"stack": "model:linux-6.18"}


def sections(**more: Any) -> dict[str, Any]:
    """A small upload between models of Linux."""
    return {
        "title": "An upload",
        "path": {"rate": "20 Mbit/s", "delay": "10 ms"},
        "client": dict(ENDPOINT),
        "server": dict(ENDPOINT),
        "workload": {"upload": "300 kB"},
        "repeat": {"trials": 2},
        **more,
    }


def upload(**more: Any) -> tcplab.Scenario:
    """The scenario of these sections."""
    return tcplab.Scenario.from_dict(sections(**more), name="upload")


def lossy() -> tcplab.Scenario:
    """The same over a path that loses 2 % of the packets."""
    return upload().with_({"path.loss": 0.02})

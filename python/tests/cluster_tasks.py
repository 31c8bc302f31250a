"""Tasks that the tests of engines run. Workers import this module."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Number:
    """A task with a number, and a directory to leave traces in."""

    value: int
    directory: str = ""
    seconds: float = 0.0
    resources: Mapping[str, float] = field(default_factory=dict, hash=False)

    @property
    def id(self) -> str:
        return str(self.value)


def square(task: Number, attempt: int, reasons: tuple[str, ...]) -> dict[str, Any]:
    time.sleep(task.seconds)
    return {"square": task.value**2, "attempt": attempt, "reasons": list(reasons)}


def third_time(task: Number, attempt: int, reasons: tuple[str, ...]) -> dict[str, Any]:
    """Fails twice if its number is even."""
    if task.value % 2 == 0 and attempt < 3:
        raise ValueError(f"attempt {attempt} of {task.value}")
    return square(task, attempt, reasons)


def never(task: Number, attempt: int, reasons: tuple[str, ...]) -> dict[str, Any]:
    """Fails each time if its number is 3."""
    if task.value == 3:
        raise ValueError("three")
    return square(task, attempt, reasons)


def dies_once(task: Number, attempt: int, reasons: tuple[str, ...]) -> dict[str, Any]:
    """Kills its worker the first time, if its number is 3."""
    trace = Path(task.directory, "died")
    if task.value == 3 and not trace.exists():
        trace.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return square(task, attempt, reasons)


def dies(task: Number, attempt: int, reasons: tuple[str, ...]) -> dict[str, Any]:
    """Kills its worker each time, if its number is 3."""
    if task.value == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return square(task, attempt, reasons)


def process(task: Number, attempt: int, reasons: tuple[str, ...]) -> dict[str, Any]:
    """Names its process."""
    time.sleep(task.seconds)
    return {"process": os.getpid()}

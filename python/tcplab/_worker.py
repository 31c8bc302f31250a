"""What a worker makes sure of before it takes part: same tcplab, same kernels, same place."""

from __future__ import annotations

import functools
import json
import os
import platform
import socket
from collections.abc import Mapping
from typing import Any

from tcplab import _core
from tcplab._core import TcplabError
from tcplab._executors import WorkerRefusedError
from tcplab._place import open_place

__all__ = ["check_kernels", "check_worker", "kernels_of", "worker_name"]


def worker_name() -> str:
    """This process, as records name it: host and process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def kernels_of(inner: Any, worlds: Mapping[str, str], kernel: str) -> tuple[str, dict[str, str]]:
    """The kernels that decide what cases of a scenario come to on this machine.

    Args:
        inner: The compiled form of the scenario.
        worlds: Where its cases run, `sim` or `kernel`, by their names.
        kernel: What is asked for to stand for `linux` in virtual time.

    Returns:
        What stands for it: `model`, or a kernel's name. Of each kernel the hash of its image, by
        the stack; `newest` for the one that stands for `linux`; `kernel` for this machine's
        release, where cases run on it.
    """
    simulated = [case for case, world in worlds.items() if world == "sim"]
    chosen = kernel
    found: dict[str, str] = {}
    if simulated:
        # Without names all cases are meant.
        names = simulated if len(simulated) < len(inner.cases()) else []
        chosen, found = _core.kernels(inner, names, kernel)
    if len(simulated) < len(worlds):
        found["kernel"] = platform.release()
    return chosen, found


def check_kernels(
    inner: Any, case: str, world: str, kernel: str, expected: Mapping[str, str]
) -> None:
    """Refuses a worker whose kernels are not those of the machine that began the work.

    Args:
        inner: The compiled form of the scenario.
        case: The case that the worker is to run.
        world: Where, `sim` or `kernel`.
        kernel: What stands for `linux` in virtual time.
        expected: What `kernels_of` was there.

    Raises:
        WorkerRefusedError: With the remedy.
    """
    try:
        _, used = kernels_of(inner, {case: world}, kernel)
        different = sorted(name for name, it in used.items() if expected.get(name) != it)
    except TcplabError as error:
        # The machine that began the work could use them.
        different = [str(error).splitlines()[0]]
    if different:
        raise WorkerRefusedError(
            f"worker {socket.gethostname()} has other kernels than the machine that began this "
            f"work: {', '.join(different)}\n"
            "  try: copy the cache of `tcplab kernel build` to each worker"
        )


@functools.lru_cache(maxsize=64)
def check_worker(place: str, file: str, identity: str, version: str) -> None:
    """Refuses a worker whose results would differ, or go where nobody looks. Once per process.

    Args:
        place: Where results go.
        file: The plan below it.
        identity: What the plan there must say it is.
        version: The version of tcplab that began the work.

    Raises:
        WorkerRefusedError: With the remedy.
    """
    host = socket.gethostname()
    own = str(_core.__version__)
    if own != version:
        raise WorkerRefusedError(
            f"worker {host} has tcplab {own}, but {version} began this work\n"
            f"  try: install the wheel of {version} on each worker"
        )
    try:
        there = json.loads(open_place(place).read(file)).get("identity")
    except FileNotFoundError:
        there = None
    if there != identity:
        raise WorkerRefusedError(
            f"worker {host} does not see {file} in {place}: results would stay on that machine\n"
            "  try: a place that all workers share, by NFS or object storage (s3://…)"
        )

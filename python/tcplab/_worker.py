"""What a worker makes sure of before it takes part: same tcplab, same kernels, same place."""

from __future__ import annotations

import functools
import json
import os
import platform
import re
import socket
import subprocess
from typing import Any

from tcplab import _core
from tcplab._commands import find_command
from tcplab._executors import WorkerRefusedError
from tcplab._place import open_place

__all__ = ["check_worker", "kernels_of", "worker_name"]

Record = dict[str, Any]

KERNEL = re.compile(r"[\"'](linux-\d[\w.+-]*)[\"']")
"""How a scenario names a kernel for virtual time."""


def worker_name() -> str:
    """This process, as records name it: host and process."""
    return f"{socket.gethostname()}:{os.getpid()}"


@functools.lru_cache(maxsize=1)
def _built() -> tuple[tuple[str, str, int], ...]:
    """The kernels of this machine: name, hash of the image, when it was built."""
    command = find_command()
    if command is None:
        return ()
    try:
        said = subprocess.run(
            [command, "kernel", "list", "--json"], capture_output=True, check=True, timeout=60
        )
        kernels = json.loads(said.stdout)["kernels"]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError):
        return ()
    return tuple(
        (str(it.get("name")), str(it.get("image_hash")), int(it.get("built_unix_ns") or 0))
        for it in kernels
    )


def kernels_of(text: str, worlds: set[str]) -> dict[str, str]:
    """The kernels that decide what a scenario computes on this machine.

    Args:
        text: The scenario.
        worlds: Where its cases run, `sim` and `kernel`.

    Returns:
        Hash of the image by name; `newest` for the one that the stack `linux` means in virtual
        time; `kernel` for this machine's, where cases run on it.
    """
    built = _built()
    named = set(KERNEL.findall(text))
    found = {name: digest for name, digest, _ in built if name in named}
    if "sim" in worlds and built:
        found["newest"] = max(built, key=lambda kernel: kernel[2])[1]
    if "kernel" in worlds:
        found["kernel"] = platform.release()
    return found


@functools.lru_cache(maxsize=64)
def check_worker(
    place: str, file: str, identity: str, version: str, text: str, world: str, kernels: str
) -> None:
    """Refuses a worker whose results would differ, or go where nobody looks. Once per process.

    Args:
        place: Where results go.
        file: The plan below it.
        identity: What the plan there must say it is.
        version: The version of tcplab that began the work.
        text: The scenario; empty for captures.
        world: Where its cases run.
        kernels: What `kernels_of` was there, as JSON.

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
    expected: dict[str, str] = json.loads(kernels)
    if text and expected:
        have = kernels_of(text, {world})
        wanted = {name: it for name, it in expected.items() if name != "kernel" or world == name}
        different = sorted(name for name in wanted if have.get(name) != wanted[name])
        if different:
            raise WorkerRefusedError(
                f"worker {host} has other kernels than the machine that began this work: "
                f"{', '.join(different)}\n"
                "  try: copy the cache of `tcplab kernel build` to each worker"
            )

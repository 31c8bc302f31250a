"""Captures: found, named, and split into the parts that tasks read."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass

from tcplab import _core
from tcplab._dataset import digest, partition
from tcplab._place import is_remote, matching

__all__ = ["Capture", "find", "split"]

SPLIT_BYTES = 64_000_000_000
"""Captures from this size on are read by several tasks, one for each `SHARD_BYTES`: a task keeps
about a kilobyte for each connection. Each reads the whole file, so smaller pieces gain little."""
SHARD_BYTES = 32_000_000_000
MOST_SHARDS = 32

REMEDY = (
    "a file, a directory with captures, or a pattern in quotes such as 'captures/**/*.pcap.zst'"
)
"""Where nothing is found."""


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


def find(
    given: Sequence[str | os.PathLike[str]], passed_over: list[str] | None = None
) -> list[Capture]:
    """The captures that files, directories, patterns and URLs mean, each once.

    Args:
        given: What means them.
        passed_over: Gets the files of directories that are no captures.

    Raises:
        TcplabError: One of them means none, or nothing is given.
    """
    found: dict[str, Capture] = {}
    others = [] if passed_over is None else passed_over
    if not given:
        raise _core.TcplabError(f"no captures: the list is empty\n  try: {REMEDY}")
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
            raise _core.TcplabError(f"no captures: {text}\n  try: {REMEDY}")
        found.update((capture.url, capture) for capture in captures)
    return list(found.values())


def _local(text: str, others: list[str]) -> list[Capture]:
    """The captures of a path or a pattern; files of a directory that are none become `others`."""
    paths = [text] if os.path.exists(text) else sorted(glob.glob(text, recursive=True))
    files: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            _walk(path, files, others, set())
        else:
            files.append(path)
    captures = []
    for file in files:
        size, mark = 0, ""
        try:
            status = os.stat(file)
            size, mark = status.st_size, str(status.st_mtime_ns)
        except FileNotFoundError:
            continue  # Removed meanwhile.
        except OSError:
            pass  # Reading it fails and says why.
        captures.append(Capture(os.path.abspath(file), size, mark))
    return captures


def _walk(directory: str, files: list[str], others: list[str], entered: set[str]) -> None:
    """Finds the captures in a directory and below, also by links, each directory once.

    One that cannot be listed is among the files, so that reading it fails.
    """
    real = os.path.realpath(directory)
    if real in entered:
        return
    entered.add(real)
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        files.append(directory)
        return
    below = []
    for path in (os.path.join(directory, name) for name in names):
        if os.path.isdir(path):
            below.append(path)
        else:
            (files if _core.may_be_capture(path) else others).append(path)
    for path in below:
        _walk(path, files, others, entered)


def split(capture: Capture, shards: int | None) -> list[Capture]:
    """A capture as the parts that tasks read. It depends on nothing else: resume finds them."""
    count = shards or 1
    if shards is None and capture.size >= SPLIT_BYTES:
        count = min(MOST_SHARDS, -(-capture.size // SHARD_BYTES))
    return [
        Capture(capture.url, capture.size, capture.mark, index, count) for index in range(count)
    ]

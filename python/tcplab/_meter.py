"""One line on standard error that says how far the work is, and how fast it goes."""

from __future__ import annotations

import sys
import time
from collections import deque

from tcplab._html import visible

__all__ = ["Meter", "counted"]

WINDOW_SECONDS = 30.0
"""Rates are those of the last half minute."""


class Meter:
    """Progress of many tasks.

    On a terminal and in a notebook the line is written over itself four times a second; elsewhere
    (a log file) a line is printed each half minute.
    """

    def __init__(self, shown: bool, total: int, unit: str, total_bytes: int = 0) -> None:
        self.shown, self.total, self.unit, self.total_bytes = shown, total, unit, total_bytes
        self.done = self.bytes = self.failed = self.retried = self.width = 0
        self.started = self.printed = time.monotonic()
        self.past: deque[tuple[float, int, int]] = deque([(self.started, 0, 0)])
        self.is_live = sys.stderr.isatty() or "ipykernel" in sys.modules

    def note(self, text: str) -> None:
        """Prints a line that stays; names of files in it may hold anything."""
        if self.shown:
            self._clear()
            print(visible(text), file=sys.stderr, flush=True)

    def add(self, done: int, size: int = 0, *, failed: int = 0, retried: int = 0) -> None:
        """Counts what a task did."""
        self.done += done
        self.bytes += size
        self.failed += failed
        self.retried += retried
        now = time.monotonic()
        if now - self.printed >= (0.25 if self.is_live else WINDOW_SECONDS):
            self.printed = now
            self._show(now)

    def finish(self) -> None:
        """Prints the last state and ends the line."""
        if not self.total:
            return
        now = time.monotonic()
        self.past = deque([(self.started, 0, 0)])
        self._show(now, is_end=True)
        if self.shown and self.is_live:
            print(file=sys.stderr, flush=True)
        self.width = 0

    def line(self, now: float, is_end: bool = False) -> str:
        """The line, such as `120 of 400 trials, 61.2 trials/s, about 5 s left`."""
        self.past.append((now, self.done, self.bytes))
        while len(self.past) > 2 and now - self.past[0][0] > WINDOW_SECONDS:
            self.past.popleft()
        then, done, size = self.past[0]
        seconds = max(now - then, 1e-9)
        rate = (self.done - done) / seconds
        parts = [
            f"{self.done:,} of {counted(self.total, self.unit)}",
            f"{_rounded(rate)} {self.unit}s/s",
        ]
        if self.total_bytes:
            parts.append(f"{size_of((self.bytes - size) / seconds)}/s")
        if is_end or self.done >= self.total:
            parts.append(f"in {_duration(now - self.started)}")
        elif rate > 0:
            parts.append(f"about {_duration((self.total - self.done) / rate)} left")
        if self.retried:
            parts.append(f"{self.retried} retried")
        if self.failed:
            parts.append(f"{self.failed} failed")
        return ", ".join(parts)

    def _show(self, now: float, is_end: bool = False) -> None:
        if not self.shown:
            return
        line = self.line(now, is_end)
        if self.is_live:
            print("\r" + line.ljust(self.width), end="", file=sys.stderr, flush=True)
            self.width = len(line)
        else:
            print(line, file=sys.stderr, flush=True)

    def _clear(self) -> None:
        if self.is_live and self.width:
            print("\r" + " " * self.width + "\r", end="", file=sys.stderr)
            self.width = 0


def counted(number: int, unit: str) -> str:
    """A number with its unit.

    >>> counted(1, "trial"), counted(2000, "trial")
    ('1 trial', '2,000 trials')
    """
    return f"{number:,} {unit}" + ("" if number == 1 else "s")


def size_of(count: float) -> str:
    """Bytes in their unit.

    >>> size_of(512), size_of(29_900_000)
    ('512 B', '29.9 MB')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} B"


def _rounded(value: float) -> str:
    """Three digits, as all of tcplab prints."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 0.001 else "0"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.3g} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.3g} h"

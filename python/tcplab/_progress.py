"""Progress of long calls: on a terminal, in a notebook, silent elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any

from tcplab import _html

_PERIOD = 0.1
"""Seconds between two updates of what is shown."""


class Progress:
    """Shows how far a call is: a bar in a notebook, a line on a terminal, else nothing.

    It needs no ipywidgets: a notebook's output is replaced in place.

    >>> with Progress("trials", total=3, show=False) as progress:
    ...     progress.update(1)
    """

    def __init__(self, what: str, total: int | None = None, *, show: bool = True) -> None:
        self.what = what
        self.total = total
        self.done = 0
        self.note = ""
        self._started = time.monotonic()
        self._shown = float("-inf")
        self._sink: _Sink | None = _sink() if show else None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.finish()

    def update(self, done: int, total: int | None = None, note: str = "") -> None:
        """Says how much is done.

        Args:
            done: How much, in the unit of `total`.
            total: How much there is; default: as before.
            note: What goes on now.
        """
        self.done = done
        self.total = self.total if total is None else total
        self.note = note
        self._draw(done == self.total)

    def say(self, note: str) -> None:
        """Says what goes on now; how much is done stays."""
        self.note = note
        self._draw(False)

    def finish(self) -> None:
        """Removes the line on the terminal; a notebook keeps the bar with the time that it took."""
        if self._sink is not None:
            self.note = ""
            self._draw(True)
            self._sink.finish()
            self._sink = None

    @property
    def seconds(self) -> float:
        """How long it has been going on, in seconds."""
        return time.monotonic() - self._started

    def text(self) -> str:
        """What is shown, as a line of text."""
        count = f"{self.done:,}" if self.total is None else f"{self.done:,} of {self.total:,}"
        pieces = [f"{self.what}: {count}", _duration(self.seconds)]
        if self.total and 0 < self.done < self.total and self.seconds > 2:
            left = self.seconds * (self.total - self.done) / self.done
            pieces.append(f"about {_duration(left)} left")
        if self.note:
            pieces.append(self.note)
        return _html.visible(", ".join(pieces))

    def _draw(self, at_once: bool) -> None:
        now = time.monotonic()
        if self._sink is None or (now - self._shown < _PERIOD and not at_once):
            return
        self._shown = now
        self._sink.show(self)


class RunProgress:
    """Shows the events of a run (`tcplab._core.Event`)."""

    def __init__(self, *, show: bool) -> None:
        self._bar = Progress("trials", show=show)

    def __call__(self, event: dict[str, Any]) -> None:
        """Takes an event."""
        kind = event.get("kind")
        if kind == "trial":
            note = f"{event.get('case', '')}, number {event.get('number', '')}"
            self._bar.update(int(event["index"]) - 1, int(event["total"]), note)
        elif kind in ("calibrating", "analysing"):
            if kind == "analysing" and self._bar.total is not None:
                self._bar.done = self._bar.total
            self._bar.say(f"{kind} {event.get('step', '')} of {event.get('total', '')}")
        elif kind in ("warming-up", "reporting"):
            self._bar.say({"warming-up": "warming up", "reporting": "writing the report"}[kind])

    def finish(self) -> None:
        """Ends it."""
        if self._bar.total is not None and self._bar.done >= self._bar.total - 1:
            self._bar.done = self._bar.total
        self._bar.finish()


class _Sink:
    """Where progress is shown."""

    def show(self, progress: Progress) -> None:
        raise NotImplementedError

    def finish(self) -> None:
        raise NotImplementedError


class _Terminal(_Sink):
    def __init__(self) -> None:
        self._width = 0

    def show(self, progress: Progress) -> None:
        line = progress.text()[:119]
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def finish(self) -> None:
        sys.stderr.write("\r" + " " * self._width + "\r")
        sys.stderr.flush()


class _Notebook(_Sink):
    def __init__(self, display: Any) -> None:
        self._display = display
        self._handle: Any = None

    def show(self, progress: Progress) -> None:
        value = "" if progress.total is None else f' value="{progress.done}" max="{progress.total}"'
        bar = f'<progress style="width:18em;vertical-align:middle"{value}></progress>'
        data = {
            "text/plain": progress.text(),
            "text/html": _html.block(f"{bar} {_html.text(progress.text())}"),
        }
        if self._handle is None:
            self._handle = self._display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)

    def finish(self) -> None:
        pass  # the bar stays, with the time that it took


def _sink() -> _Sink | None:
    interactive = sys.modules.get("IPython")
    if interactive is not None:
        shell = interactive.get_ipython()
        if shell is not None and hasattr(shell, "kernel"):
            from IPython.display import display  # only a kernel has it

            return _Notebook(display)
    return _Terminal() if sys.stderr is not None and sys.stderr.isatty() else None


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"

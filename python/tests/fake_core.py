"""A compiled part for tests of the machinery: trials that are rows of numbers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tcplab._core import TcplabError

GOOD = ("good", "", 0)
BAD = ("failed", "too slow:\n0 B have arrived", 1)


class FakeTable:
    """A table that writes itself as JSON Lines, whatever its name ends in."""

    def __init__(self, names: list[str], rows: list[list[Any]], **metadata: str) -> None:
        self.column_names, self._rows, self.metadata = names, rows, metadata

    @property
    def num_rows(self) -> int:
        return len(self._rows)

    def rows(self, first: int, count: int) -> list[list[Any]]:
        return self._rows[first : first + count]

    def write(self, path: str) -> None:
        Path(path).write_text("".join(json.dumps(row) + "\n" for row in self._rows) or "\n")


@dataclass
class FakeScenario:
    """A scenario with cases `a` and `b/1%`."""

    source: str = 'title = "fake"'
    name: str = "fake"
    directory: str | None = None
    seed: int = 7
    trials: int = 10

    def cases(self) -> list[tuple[str, dict[str, str], str]]:
        return [("a", {}, "hash-a"), ("b/1%", {}, "hash-b")]

    def worlds(self, kernel: str) -> list[tuple[str, str]]:
        return [("a", "sim"), ("b/1%", "kernel" if kernel == "newest" else "sim")]


@dataclass
class FakeCore:
    """What `_sweep` and `_archive` call.

    `broken` holds trials and captures that raise an error, `bad` trials whose outcome is `failed`,
    `cut` captures that are cut off. `images` has the hashes of kernels, by their names; the newest
    is the last.
    """

    TcplabError = TcplabError

    __version__: str = "1.0"
    broken: set[object] = field(default_factory=set)
    bad: set[object] = field(default_factory=set)
    cut: set[str] = field(default_factory=set)
    ran: list[object] = field(default_factory=list)
    worlds: set[str] = field(default_factory=set)
    images: dict[str, str] = field(default_factory=dict)
    options: list[dict[str, Any]] = field(default_factory=list)

    class Scenario:
        @staticmethod
        def parse(text: str, name: str, directory: str | None) -> FakeScenario:
            return FakeScenario(text, name, directory)

    class Run:
        @staticmethod
        def tables() -> list[tuple[str, str]]:
            return [("trials", ""), ("episodes", "")]

    class Trace:
        @staticmethod
        def tables() -> list[tuple[str, str]]:
            return [(name, "") for name in ("connections", "findings", "stalls", "episodes")]

    def run_part(
        self, scenario: FakeScenario, case: str, first: int, last: int, **options: Any
    ) -> dict[str, FakeTable]:
        self.worlds.add(options["world"])
        self.options.append(options)
        numbers = range(first, last + 1)
        for number in numbers:
            if (case, number) in self.broken:
                raise ValueError(f"trial {number} of {case} is broken")
        self.ran.extend((case, number) for number in numbers)
        seed, bad = options["seed"], self.bad
        rows = [
            [case, number, seed * number, *(BAD if (case, number) in bad else GOOD)]
            for number in numbers
        ]
        names = ["case", "trial", "seed", "outcome", "warnings", "repeated"]
        trials = FakeTable(names, rows)
        return {name: trials for name in options["tables"]}

    def kernels(
        self, scenario: FakeScenario, cases: list[str], kernel: str
    ) -> tuple[str, dict[str, str]]:
        names = [kernel] if kernel not in ("newest", "model") else list(self.images)[-1:]
        if kernel == "model" or not names:
            return "model", {}
        if names[0] not in self.images:
            raise self.TcplabError(f"no kernel {names[0]}")
        return names[0], {"newest": self.images[names[0]]}

    def may_be_capture(self, file: str) -> bool:
        return file.endswith(".pcap")

    def check_filter(self, filter: str) -> None:
        if not filter.startswith("port "):
            raise self.TcplabError(f"no filter: {filter}")

    def trace_part(
        self,
        files: list[str],
        filter: str | None,
        shard: tuple[int, int] | None,
        tables: list[str],
    ) -> tuple[dict[str, FakeTable], list[str]]:
        (file,) = files
        if Path(file).name in self.broken:
            raise ValueError(f"{Path(file).name} is no capture")
        self.ran.append((Path(file).name, shard))
        count = int(Path(file).read_text().split()[-1])
        index, of = shard or (0, 1)
        numbers = [it for it in range(count) if it % of == index]
        names = ["connection", "client_address", "client_port", "server_address", "server_port"]
        names += ["first_ns", "last_ns", "forward_retransmittable_segments", "forward_unique_bytes"]
        names += ["forward_retransmissions", "forward_rtt_samples", "forward_rtt_median_ns"]
        second = 10**9
        rows = [
            [it, "10.0.0.1", 1000 + it, f"10.0.1.{it % 2}", 443, 0, second, 100, 100_000, it, 9]
            + [20_000_000]
            for it in numbers
        ]
        metadata = {"tcplab.zero_unix_ns": str(1_700_000_000 * second), "tcplab.packets": "1000"}
        findings = [[it, "timeouts", "harm", it * 1000, f"{it} timeouts"] for it in numbers if it]
        stalls = [[it, "tail-loss", it * 500] for it in numbers if it]
        made = {
            "connections": FakeTable(names, rows, **metadata),
            "findings": FakeTable(
                ["connection", "rule", "severity", "cost_ns", "statement"], findings
            ),
            "stalls": FakeTable(["connection", "cause", "duration_ns"], stalls),
            "episodes": FakeTable(["connection"], []),
        }
        notes = ["the capture is cut off"] if Path(file).name in self.cut else []
        return {name: made[name] for name in tables}, notes

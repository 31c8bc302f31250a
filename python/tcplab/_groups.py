"""Values of a metric, grouped for figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import comb
from typing import TYPE_CHECKING

from tcplab import _core

if TYPE_CHECKING:
    from tcplab._run import Run


@dataclass
class Group:
    """The values of one level of a factor, or of one case."""

    name: str
    values: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The median of the values."""
        return median(self.values)

    @property
    def median_interval(self) -> tuple[float, float] | None:
        """The interval of 95 % of the median by order statistics, as the run has it of a case."""
        return median_interval(self.values)


def groups(run: Run, metric: str, by: str | None, where: dict[str, str]) -> tuple[list[Group], str]:
    """The values of a metric by the levels of a factor, in the order of the matrix.

    Args:
        run: The run.
        metric: The metric's name.
        by: The factor; none: by cases.
        where: Levels of factors; other cases are left out.

    Returns:
        The groups that have values, and the metric's unit.

    Raises:
        TcplabError: There is no such factor or level, or no trial has such a metric.
    """
    factors = run.factors
    for factor in (*where, *([by] if by else [])):
        if factor not in factors:
            known = ", ".join(factors) or "none"
            raise _core.TcplabError(f"no factor `{factor}` in this run; its factors: {known}")
    for factor, chosen in where.items():
        if chosen not in factors[factor]:
            known = ", ".join(factors[factor])
            raise _core.TcplabError(f"no level `{chosen}` of `{factor}`; its levels: {known}")
    found: dict[str, Group] = {}
    unit = ""
    for case in run.json["cases"]:
        levels = dict(case["levels"])
        if any(levels.get(factor) != level for factor, level in where.items()):
            continue
        name = case["name"] if by is None else levels[by]
        group = found.setdefault(name, Group(name))
        for trial in case["trials"]:
            for each in trial["metrics"]:
                if each["name"] == metric and each["value"] is not None:
                    group.values.append(float(each["value"]))
                    unit = each["unit"]
    filled = [group for group in found.values() if group.values]
    if not filled:
        raise _core.TcplabError(f"no trial has a metric `{metric}`; known: {_metrics(run)}")
    return filled, unit


def level_numbers(run: Run, factor: str) -> dict[str, float]:
    """The numbers of a factor's levels, by the levels as the scenario has them.

    Returns:
        Times in seconds, rates in Mbit/s, others in the unit of their column.

    Raises:
        TcplabError: There is no such factor, or its levels are no numbers.
    """
    name, trials = level_column(run, factor), run.trials
    stem = factor.replace(".", "_")
    label = f"{stem}_label" if f"{stem}_label" in trials.column_names else name
    found = dict(zip(trials.column(label), trials.column(name), strict=True))
    if any(not isinstance(value, (int, float)) for value in found.values()):
        raise _core.TcplabError(f"the levels of `{factor}` are no numbers: use spread or ecdf")
    scale = next((scale for ending, scale, _ in _SHOWN if name.endswith(ending)), 1.0)
    return {str(level): float(value) * scale for level, value in found.items()}


_SHOWN = (("_ns", 1e-9, "s"), ("_bits_per_second", 1e-6, "Mbit/s"), ("_ratio", 1.0, ""))
"""Ends of columns' names that figures show in another unit."""


def level_column(run: Run, factor: str) -> str:
    """The column of the trials with the numbers of a factor's levels, or with its levels.

    Raises:
        TcplabError: There is no such factor.
    """
    if factor not in run.factors:
        known = ", ".join(run.factors) or "none"
        raise _core.TcplabError(f"no factor `{factor}` in this run; its factors: {known}")
    stem = factor.replace(".", "_")
    names = run.trials.column_names
    if stem in names:
        return stem
    return names[names.index(f"{stem}_label") - 1]  # the column of its numbers stands before it


def level_unit(run: Run, factor: str) -> str:
    """The unit of the numbers that `level_numbers` gives."""
    name = level_column(run, factor)
    for ending, _, unit in _SHOWN:
        if name.endswith(ending):
            return unit
    return next(column.unit for column in run.trials.columns if column.name == name)


def median(values: Sequence[float]) -> float:
    """The median.

    >>> median([3, 1, 2]), median([1, 2])
    (2, 1.5)
    """
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The interval of at least 95 % of the median, by order statistics; none below six values.

    It needs no assumption but independence: the count of values below the median is binomial.

    >>> median_interval(range(1, 11))
    (2, 9)
    >>> median_interval([1, 2, 3]) is None
    True
    """
    count = len(values)
    tail, rank = 0.0, 0
    while rank < count // 2 and tail + comb(count, rank) / 2**count <= 0.025:
        tail += comb(count, rank) / 2**count
        rank += 1
    if rank == 0:
        return None
    ordered = sorted(values)
    return ordered[rank - 1], ordered[count - rank]


def _metrics(run: Run) -> str:
    names = {
        each["name"]: None
        for case in run.json["cases"]
        for trial in case["trials"]
        for each in trial["metrics"]
    }
    return ", ".join(names)

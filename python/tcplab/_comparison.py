"""Comparisons of two levels of a factor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tcplab import _html
from tcplab._records import Records


class Comparison:
    """Which of two levels is better, by each metric, and how sure that is.

    docs/statistics.md says what is computed.
    """

    def __init__(self, document: dict[str, Any], verdicts: Sequence[str]) -> None:
        self.json = document
        """The comparison, as `tcplab compare --json` has it."""
        self._verdicts = list(verdicts)  # of the rows, in words

    @property
    def by(self) -> str | None:
        """The factor."""
        factor: str | None = self.json.get("by")
        return factor

    @property
    def levels(self) -> tuple[str, str]:
        """The levels, the baseline first."""
        first, second = (str(side["label"]) for side in self.json["sides"])
        return first, second

    @property
    def warnings(self) -> list[str]:
        """What is doubtful about the comparison."""
        return list(self.json.get("warnings", ()))

    @property
    def missing(self) -> list[dict[str, str]]:
        """What could not be compared, as one level has it in no trial: `case`, `metric`, `why`."""
        return list(self.json.get("missing", ()))

    @property
    def rows(self) -> Records:
        """A record for each case and metric.

        `a` and `b` are the medians of both levels. `difference` is by how much b exceeds a, as
        estimated from the trials, with its interval of 95 % (`low`, `high`). All are amounts in
        `unit`, also where `is_ratio` is true: there they were estimated by ratios of b to a. `p` is
        corrected for multiple tests. Where `is_exact` is true, chance has no part: the difference
        is what it is, and has no interval and no `p`; nor has it where all values are identical,
        as nothing is tested there. The verdict is in the command's words.
        """
        rows = zip(self.json["rows"], self._verdicts, strict=True)
        return Records((_row(row, verdict) for row, verdict in rows), self._title())

    def __repr__(self) -> str:
        lines = [f"<Comparison: {self._title()}>"]
        for row in self.rows:
            # As the command: a, and that changed by the estimated difference.
            changed = f"{_shown(row['a'])} → {_shown(row['a'] + row['difference'])} {row['unit']}"
            case = f"{row['case']} " if row["case"] else ""
            lines.append(f"  {case}{row['metric']}: {changed.rstrip()}, {row['verdict']}")
        lines.extend(f"  {_not_compared(missing)}" for missing in self.missing)
        return _html.visible("\n".join(lines), one_line=False)

    def _repr_html_(self) -> str:
        rows = [
            [
                row["case"],
                row["metric"],
                row["unit"],
                *(_rounded(row[name]) for name in ("a", "b", "difference")),
                _interval(row),
                _rounded(row["p"]),
                row["verdict"],
            ]
            for row in self.rows
        ]
        heads = ["case", "metric", "unit", *self.levels]
        titles = [*heads, "difference", "95 % interval", "p", "verdict"]
        return _html.block(
            _html.heading(self._title(), "medians"),
            *(f"<p>{_html.text(warning)}</p>" for warning in self.warnings),
            *(f"<p>{_html.text(_not_compared(missing))}</p>" for missing in self.missing),
            _html.table(titles, rows),
            f"<p><small>{_html.text(self.json.get('family', ''))}</small></p>",
        )

    def _title(self) -> str:
        first, second = self.levels
        return f"{self.by}: {first} against {second}" if self.by else f"{first} against {second}"


def _not_compared(missing: dict[str, str]) -> str:
    case = f"{missing['case']} " if missing["case"] else ""
    return f"{case}{missing['metric']}: not compared, {missing['why']}"


def _row(row: dict[str, Any], verdict: str) -> dict[str, Any]:
    low, high = row.get("interval") or (None, None)
    first, second = row["medians"]
    return {
        "case": row["case"],
        "metric": row["metric"],
        "unit": row["unit"],
        "better": row["better"],
        "a": first,
        "b": second,
        "difference": row["difference"],
        "low": low,
        "high": high,
        "is_ratio": row["is_ratio"],
        "is_exact": row["is_exact"],
        "p": row["p_corrected"] if _is_tested(row) else None,
        "verdict": verdict,
    }


def _is_tested(row: dict[str, Any]) -> bool:
    """Whether there is a difference, and chance has a part in it."""
    return not row["is_exact"] and row["verdict"] != {"equivalent": {"identical": True}}


def _interval(row: dict[str, Any]) -> str:
    if row["is_exact"]:
        return "exact"
    if row["low"] is None:
        return "–" if row["p"] is None else "too few trials"
    return f"{_shown(row['low'])} … {_shown(row['high'])}"


def _rounded(value: float | None) -> float | None:
    """A number with four digits."""
    return None if value is None else float(f"{value:.4g}")


def _shown(value: float | None) -> str:
    return _html.plain(_rounded(value))

"""Lists of records that show themselves as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tcplab import _html
from tcplab._extras import require


class Records(list[dict[str, Any]]):
    """A list of dictionaries, all with the same keys: findings, claims, comparisons.

    >>> findings = Records([{"rule": "standing-queue", "frames": [2, 439]}])
    >>> findings[0]["rule"]
    'standing-queue'
    """

    def __init__(self, rows: Iterable[dict[str, Any]] = (), title: str = "") -> None:
        super().__init__(rows)
        self.title = title

    @property
    def names(self) -> list[str]:
        """The keys of the records, in their order."""
        return list(dict.fromkeys(name for row in self for name in row))

    def to_pandas(self) -> Any:
        """As a `pandas.DataFrame`, a row for each record.

        Raises:
            ImportError: pandas is not installed; the message says how to install it.
        """
        return require("pandas", "Records.to_pandas").DataFrame(list(self), columns=self.names)

    def to_polars(self) -> Any:
        """As a `polars.DataFrame`, a row for each record.

        Raises:
            ImportError: polars is not installed; the message says how to install it.
        """
        polars = require("polars", "Records.to_polars")
        return polars.DataFrame(list(self), infer_schema_length=None)

    def __repr__(self) -> str:
        lines = [f"<{len(self)} {self.title or 'records'}>"]
        for row in self[:10]:
            pieces = (
                f"{name}: {_html.plain(_html.of_column(name, value))}"
                for name, value in row.items()
            )
            lines.append("  " + _html.visible("; ".join(pieces)))
        if len(self) > 10:
            lines.append(f"  … {len(self) - 10} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        names = self.names
        rows = [[_html.of_column(name, row.get(name)) for name in names] for row in self[:20]]
        more = f"20 of {len(self):,}" if len(self) > 20 else f"{len(self):,}"
        heading = _html.heading(self.title or "records", more)
        return _html.block(heading, _html.table(names, rows) if rows else "")

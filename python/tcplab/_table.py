"""Tables in Arrow's layout."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tcplab import _core, _html
from tcplab._extras import require
from tcplab._settings import whole

_PIECE = 10_000
"""How many rows are taken from the compiled part at once."""


_UNITS = {
    "_ns": "ns",
    "_ms": "ms",
    "_mbit_per_second": "Mbit/s",
    "_bits_per_second": "bit/s",
    "_bytes_per_second": "B/s",
    "_seconds": "s",
    "_bytes": "B",
    "_percent": "%",
}
"""Units by the ends of names, for columns that do not say theirs."""


class Column(NamedTuple):
    """What a column of a table is."""

    name: str
    """Its name, which ends in its unit if it has one."""
    type: str
    """Its Arrow type, such as `Int64`, `Utf8` or `Duration(ns)`."""
    unit: str
    """Its unit; empty if it has none."""
    meaning: str
    """What it means, in a sentence."""


class Table:
    """A table in memory. It hands its columns to Arrow readers without a copy.

    It exports itself by the Arrow PyCapsule interface, so that `polars.DataFrame(table)`,
    `pyarrow.table(table)` and DuckDB's `select … from table` read it. `to_pandas`, `to_polars`
    and `to_arrow` do the same in a call. Times are Arrow durations, in nanoseconds from the zero
    of the trace or the trial. What is not known is null.

    >>> import tcplab
    >>> trial = tcplab.simulate(tcplab.Scenario.from_dict({
    ...     "title": "An upload",
    ...     "path": {"delay": "10 ms"},
    ...     "client": {"stack": "model:linux-6.18"},
    ...     "server": {"stack": "model:linux-6.18"},
    ...     "workload": {"upload": "10 kB"},
    ... }))
    >>> table = trial.packets("client")
    >>> "payload_bytes" in table.column_names
    True
    >>> sum(table.column("payload_bytes"))
    10000
    """

    __slots__ = ("__weakref__", "_inner", "name")

    def __init__(self, inner: _core.Table, name: str = "table") -> None:
        self._inner = inner
        self.name = name

    def __arrow_c_schema__(self) -> object:
        """The schema, as Arrow's PyCapsule interface has it."""
        return self._inner.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows, as Arrow's PyCapsule interface has them; as often as it is asked for."""
        return self._inner.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return self._inner.num_rows

    @property
    def columns(self) -> list[Column]:
        """Name, Arrow type, unit and meaning of each column."""
        return [
            Column(name, type_, unit or _unit_of(name), meaning)
            for name, type_, unit, meaning in self._inner.columns()
        ]

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, in their order."""
        return self._inner.column_names

    @property
    def metadata(self) -> dict[str, str]:
        """The table's own metadata, such as `tcplab.zero_unix_ns`."""
        return self._inner.metadata

    def rows(self, count: int | None = None, first: int = 0) -> list[list[Any]]:
        """Rows as Python's values.

        Args:
            count: How many rows; default: all from `first` on.
            first: The first of them, from 0.

        Returns:
            A list for each row, with a value for each column; times are whole nanoseconds.

        Raises:
            TcplabError: A number is below 0.
        """
        first = whole("first", first)
        until = len(self) if count is None else min(first + whole("count", count), len(self))
        return [row for piece in self._pieces(first, until) for row in piece]

    def column(self, name: str) -> list[Any]:
        """The values of a column, as Python's values; times are whole nanoseconds.

        Raises:
            KeyError: There is no such column; the message names those there are.
        """
        at = self._place(name)
        return [row[at] for piece in self._pieces(0, len(self)) for row in piece]

    def to_dicts(self) -> list[dict[str, Any]]:
        """A dictionary for each row; times are whole nanoseconds."""
        return list(self)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """A dictionary for each row; few of them are in memory at a time."""
        names = self.column_names
        for piece in self._pieces(0, len(self)):
            for row in piece:
                yield dict(zip(names, row, strict=True))

    def to_arrow(self) -> Any:
        """As a `pyarrow.Table`, without a copy.

        Raises:
            ImportError: pyarrow is not installed; the message says how to install it.
        """
        return require("pyarrow", "Table.to_arrow").table(self)

    def to_polars(self) -> Any:
        """As a `polars.DataFrame`, without a copy where polars allows it.

        Raises:
            ImportError: polars is not installed; the message says how to install it.
        """
        return require("polars", "Table.to_polars").DataFrame(self)

    def to_pandas(self) -> Any:
        """As a `pandas.DataFrame`; times are `timedelta64[ns]`.

        Integers with nulls become floating-point numbers, as pandas does by default.

        Raises:
            ImportError: pandas or pyarrow is not installed; the message says how to install them.
        """
        require("pandas", "Table.to_pandas")
        return require("pyarrow", "Table.to_pandas").table(self).to_pandas()

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Writes the table to a file.

        Other Python threads run meanwhile. Ctrl-C ends it, and removes the file.

        Args:
            path: The file. Its name ends in .csv, .jsonl, .parquet or .arrow, which chooses the
                format.

        Returns:
            The file's path.

        Raises:
            TcplabError: The name has another ending, or the file cannot be written.
        """
        self._inner.write(os.fspath(path))
        return Path(path)

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_ipc, (self._inner.ipc(), self.name)

    def __repr__(self) -> str:
        count = _html.counted(len(self), "row")
        lines = [f"<Table {self.name}: {count} × {len(self.column_names)} columns>"]
        for column in self.columns[:12]:
            unit = f" [{column.unit}]" if column.unit else ""
            meaning = f": {column.meaning}" if column.meaning else ""
            lines.append(_html.visible(f"  {column.name}{unit} {column.type}{meaning}"))
        if len(self.column_names) > 12:
            lines.append(f"  … {len(self.column_names) - 12} more columns: .columns")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        columns = self.columns
        count = f"{_html.counted(len(self), 'row')} × {len(columns)} columns"
        shown = f", the first {10}" if len(self) > 10 else ""
        return _html.block(
            _html.heading(self.name, count + shown),
            _html.table(
                [column.name for column in columns],
                [
                    [_html.of_column(*cell) for cell in zip(self.column_names, row, strict=True)]
                    for row in self.rows(10)
                ],
                units=[column.unit for column in columns],
                titles=[column.meaning for column in columns],
            ),
        )

    def _place(self, name: str) -> int:
        names = self.column_names
        if name not in names:
            known = ", ".join(names)
            raise KeyError(f"table {self.name} has no column {name!r}; it has {known}")
        return names.index(name)

    def _pieces(self, first: int, until: int) -> Iterator[list[list[Any]]]:
        """These rows, some at a time: in between, other threads run and Ctrl-C is heard."""
        for at in range(first, until, _PIECE):
            yield self._inner.rows(at, min(_PIECE, until - at))


def _of_ipc(file: bytes, name: str) -> Table:
    return Table(_core.Table.of_ipc(file), name)


def _unit_of(name: str) -> str:
    return next((unit for ending, unit in _UNITS.items() if name.endswith(ending)), "")

"""The tables of a data set as Parquet files, for pyarrow, polars, pandas and DuckDB."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import unquote

from tcplab._core import TcplabError
from tcplab._place import FAILED, Place, file_system, is_remote

__all__ = ["TableFiles", "query_tables"]


class TableFiles:
    """The Parquet files of a table. Nothing is read before it is asked for.

    Example:
        >>> dataset.trials.to_polars()  # doctest: +SKIP
        >>> dataset.trials.sql("SELECT max(goodput_mbit_per_second) FROM trials")  # doctest: +SKIP
    """

    def __init__(self, name: str, place: Place, files: Sequence[str], partition: str) -> None:
        self.name, self._place, self._names, self._partition = name, place, files, partition

    @property
    def files(self) -> list[str]:
        """The paths or URLs of its files."""
        return [self._place.path(name) for name in self._names]

    def __repr__(self) -> str:
        return f"<table {self.name}: {len(self._names):,} files in {self._place.name}>"

    def to_arrow(self) -> Any:
        """All rows in memory, as a `pyarrow.Table`.

        Raises:
            TcplabError: The table has no file yet.
            ImportError: pyarrow is not installed.
        """
        from tcplab._extras import require

        dataset = require("pyarrow.dataset", "to_arrow()")
        arrow = require("pyarrow", "to_arrow()")
        names: list[str] = [self._place.path(name) for name in self._present()]
        options: dict[str, Any] = {"format": "parquet"}
        if is_remote(self._place.name):
            options["filesystem"] = file_system(self._place.name)[0]
            names = [file_system(name)[1] for name in names]
        if self._partition:
            fields = arrow.schema([(self._partition, arrow.string())])
            options["partitioning"] = dataset.partitioning(fields, flavor="hive")
            # Directories above may look like partitions, too.
            base = self._place.path(self.name)
            is_url = is_remote(self._place.name)
            options["partition_base_dir"] = file_system(base)[1] if is_url else base
        found = dataset.dataset(names, **options)
        schemas = [it.physical_schema.remove_metadata() for it in found.get_fragments()]
        whole = arrow.unify_schemas([*schemas, found.schema.remove_metadata()])
        order = merged([schema.names for schema in (*schemas, found.schema)])
        whole = arrow.schema([whole.field(name) for name in order])
        return found.replace_schema(whole).to_table()

    def to_polars(self) -> Any:
        """All rows in memory, as a `polars.DataFrame`.

        Raises:
            TcplabError: The table has no file yet.
            ImportError: polars is not installed.
        """
        from tcplab._extras import require

        library = require("polars", "to_polars()")
        names = self._present()
        parts = []
        for name, content in zip(names, self._place.read_all(names), strict=True):
            # The content alone: in a path polars would find patterns and partitions.
            part = library.read_parquet(content)
            if self._partition:
                value = partition_value(name)
                part = part.with_columns(library.lit(value).alias(self._partition))
            parts.append(part)
        order = merged([part.columns for part in parts])
        return library.concat(parts, how="diagonal").select(order)

    def to_pandas(self) -> Any:
        """All rows in memory, as a `pandas.DataFrame`; needs pandas and pyarrow.

        Raises:
            TcplabError: The table has no file yet.
            ImportError: pandas or pyarrow is not installed.
        """
        from tcplab._extras import require

        require("pandas", "to_pandas()")
        return self.to_arrow().to_pandas()

    def sql(self, query: str) -> Any:
        """A query by DuckDB, which reads only the columns and files that it needs: a relation.

        Args:
            query: SQL; the table has its own name there, such as `trials`.

        Raises:
            TcplabError: The table has no file yet.
            ImportError: DuckDB is not installed.
        """
        return query_tables(query, [self])

    def _present(self) -> Sequence[str]:
        if self._names:
            return self._names
        said = f"{self._place.name} has no {self.name} yet: no task is done"
        if any(True for _ in self._place.files(FAILED)):
            raise TcplabError(
                f"{said}, and some failed\n  try: `failures` of the data set has the reasons"
            )
        raise TcplabError(f"{said}\n  try: repeat the call of tcplab.sweep or tcplab.archive")


def query_tables(query: str, tables: Sequence[TableFiles]) -> Any:
    """A query by DuckDB over tables of one place, by their names: a relation."""
    from tcplab._extras import require

    connection = require("duckdb", "sql()").connect()
    if tables and is_remote(tables[0]._place.name):
        connection.register_filesystem(file_system(tables[0]._place.name)[0])
    for table in tables:
        listed = ", ".join(_duckdb_path(table._place.path(name)) for name in table._present())
        # A metric that no trial of a part has is no column of that part. DuckDB would take
        # directories above for partitions, too.
        options = "union_by_name = true, hive_partitioning = false"
        chosen = "*"
        if table._partition:
            options += ", filename = true"
            value = f"url_decode(regexp_extract(filename, '{table._partition}=([^/]*)/[^/]*$', 1))"
            chosen = f'* EXCLUDE (filename), {value} AS "{table._partition}"'
        rows = f"read_parquet([{listed}], {options})"
        connection.execute(f'CREATE VIEW "{table.name}" AS SELECT {chosen} FROM {rows}')
    return connection.sql(query)


def _duckdb_path(path: str) -> str:
    """A path in SQL, which DuckDB takes for a pattern.

    >>> _duckdb_path("it's[1]/a?.parquet")
    "'it''s[[]1]/a[?].parquet'"
    """
    literal = re.sub(r"[*?[]", r"[\g<0>]", path).replace("'", "''")
    return f"'{literal}'"


def merged(orders: Iterable[Sequence[str]]) -> list[str]:
    """Names of all lists, each behind the one that it follows in its own.

    >>> merged([["a", "c"], ["a", "b", "c"], ["c", "d"]])
    ['a', 'b', 'c', 'd']
    """
    found: list[str] = []
    known: set[str] = set()
    for names in dict.fromkeys(map(tuple, orders)):
        at = 0
        for name in names:
            if name in known:
                at = found.index(name) + 1
            else:
                found.insert(at, name)
                known.add(name)
                at += 1
    return found


def partition_value(name: str) -> str:
    """The value of the partition that a part is in, by its name.

    >>> partition_value("trials/case=loss%3D1%25/part-00001-00100.parquet")
    'loss=1%'
    """
    return unquote(name.split("/")[-2].partition("=")[2])

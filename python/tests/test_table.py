"""Tables: Arrow without a copy, and as Python's values."""

from __future__ import annotations

from pathlib import Path

import facade  # noqa: F401 - skips where the compiled part is missing
import pytest

import tcplab


def test_a_table_says_what_its_columns_are(trial: tcplab.Trial) -> None:
    table = trial.packets()
    columns = {column.name: column for column in table.columns}
    assert list(columns) == table.column_names
    assert columns["payload_bytes"].unit == "B"
    assert columns["at_ns"].type.lower().startswith("duration")
    assert columns["at_ns"].meaning
    assert columns["frame"].type == "Int64"
    assert columns["kind"].type == "Utf8"
    assert any(key.startswith("tcplab.") for key in table.metadata)


def test_rows_are_python_values(trial: tcplab.Trial) -> None:
    table = trial.packets()
    assert len(table.rows()) == len(table)
    assert table.rows(2, first=1) == table.rows()[1:3]
    assert table.rows(5, first=len(table) + 3) == []
    assert table.to_dicts()[0] == dict(zip(table.column_names, table.rows(1)[0], strict=True))
    assert all(isinstance(at, int) for at in table.column("at_ns"))
    with pytest.raises(KeyError, match="has no column 'nothing'"):
        table.column("nothing")


def test_pyarrow_reads_it(trial: tcplab.Trial) -> None:
    arrow = pytest.importorskip("pyarrow")
    table = trial.packets()
    read = arrow.table(table)
    assert read.num_rows == len(table) == table.to_arrow().num_rows
    assert arrow.types.is_duration(read.schema.field("at_ns").type)
    assert read.column("payload_bytes").to_pylist() == table.column("payload_bytes")


def test_polars_reads_it(trial: tcplab.Trial) -> None:
    polars = pytest.importorskip("polars")
    table = trial.packets()
    frame = polars.DataFrame(table)
    assert frame.equals(table.to_polars())
    assert frame.schema["at_ns"] == polars.Duration("ns")
    assert frame["payload_bytes"].sum() == sum(table.column("payload_bytes"))


def test_pandas_reads_it(trial: tcplab.Trial) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = trial.packets().to_pandas()
    assert frame["at_ns"].dtype.kind == "m"
    assert frame["payload_bytes"].sum() == sum(trial.packets().column("payload_bytes"))


def test_duckdb_queries_it(trial: tcplab.Trial) -> None:
    duckdb = pytest.importorskip("duckdb")
    packets = trial.packets()
    found = duckdb.sql("select kind, sum(payload_bytes) from packets group by kind").fetchall()
    assert sum(size for _, size in found) == sum(packets.column("payload_bytes"))


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "arrow"])
def test_it_is_written_in_each_format(trial: tcplab.Trial, tmp_path: Path, ending: str) -> None:
    written = trial.packets().write(tmp_path / f"packets.{ending}")
    assert written.stat().st_size > 1000


def test_a_parquet_file_has_the_same_rows(trial: tcplab.Trial, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = trial.packets()
    read = parquet.read_table(table.write(tmp_path / "packets.parquet"))
    assert read.column("frame").to_pylist() == table.column("frame")


def test_all_rows_are_taken_in_pieces(trial: tcplab.Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    table = trial.packets()
    rows = table.rows()
    monkeypatch.setattr("tcplab._table._PIECE", 7)
    assert table.rows() == rows
    assert table.rows(20, first=3) == rows[3:23]


def test_it_shows_itself_escaped(trial: tcplab.Trial) -> None:
    table = trial.packets()
    shown = table._repr_html_()
    assert shown.count("<tr>") == 11
    assert "payload_bytes" in shown
    assert "<script" not in shown
    assert "payload_bytes" in repr(table)


def test_factors_are_typed(run: tcplab.Run) -> None:
    types = {column.name: column.type.lower() for column in run.trials.columns}
    assert types["path_loss_ratio"].startswith(("float", "double"))
    assert (
        "utf8" in types["client_socket_congestion"] or "string" in types["client_socket_congestion"]
    )

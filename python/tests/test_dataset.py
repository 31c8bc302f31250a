"""Places and data sets: atomic files, partitions, plans, leftovers, and readers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tcplab import _dataset
from tcplab._core import TcplabError
from tcplab._dataset import (
    Dataset,
    Failure,
    agree,
    partition,
    remove_leftovers,
    whole_tasks,
    write_done,
    write_failed,
)
from tcplab._place import Place, open_place
from tcplab._table_files import TableFiles

CASES = ["loss=0.1%", "a/b", "größer, 5", "1", "plain"]


@pytest.fixture(params=["directory", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "directory":
        return open_place(tmp_path / "place")
    pytest.importorskip("fsspec")
    return open_place(f"memory://tcplab/{uuid4().hex}")


def test_files_are_written_listed_and_removed(place: Place) -> None:
    assert list(place.files("_done")) == []
    place.write("_done/a.json", b"{}")
    place.write("_done/b.json", b"1")
    place.write("_done/b.json", b"[1]")
    assert sorted(place.files("_done")) == [("_done/a.json", 2), ("_done/b.json", 3)]
    assert place.read("_done/b.json") == b"[1]"
    place.remove("_done/a.json")
    place.remove("_done/a.json")
    assert [name for name, _ in place.files("_done")] == ["_done/b.json"]
    with pytest.raises(FileNotFoundError):
        place.read("_done/a.json")


def test_many_files_are_read_in_their_order(place: Place) -> None:
    place = open_place(f"{place.name}/[a]*?")
    for name in "ab":
        place.write(name, name.encode())
    assert list(place.read_all("ba")) == [b"b", b"a"]
    with pytest.raises(FileNotFoundError):
        list(place.read_all("bc"))


@pytest.mark.parametrize("is_there", [False, True])
def test_bucket_is_never_made(is_there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec")
    place = open_place("memory://place")
    made = []

    class Store:
        protocol = ("s3", "s3a")

        def exists(self, path: str) -> bool:
            return is_there and path == "bucket"

        def makedirs(self, path: str, exist_ok: bool) -> None:
            made.append(path)

        def pipe_file(self, path: str, content: bytes, mode: str = "overwrite") -> None:
            raise FileNotFoundError(path)

    monkeypatch.setattr(place, "system", Store())
    monkeypatch.setattr(place, "root", "bucket/sweeps")
    if is_there:
        with pytest.raises(FileNotFoundError):
            place.create("sweep.json", b"{}")
        return
    with pytest.raises(TcplabError, match="there is no bucket bucket\n  try: make it, or"):
        place.create("sweep.json", b"{}")
    assert made == []


def test_file_that_fails_half_way_leaves_nothing(place: Place) -> None:
    def fail() -> None:
        with place.moved_in("trials/x.parquet") as temporary:
            Path(temporary).write_bytes(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(place.files("trials")) == []
    with place.moved_in("trials/x.parquet") as temporary:
        Path(temporary).write_bytes(b"whole")
        assert list(place.files("trials")) == []
    assert list(place.files("trials")) == [("trials/x.parquet", 5)]
    assert list(place.files("_tmp")) == []


def test_missing_kind_of_storage_names_the_remedy() -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(TcplabError, match="nosuch://bucket"):
        open_place("nosuch://bucket/x")


def test_partition_has_a_name_for_each_case() -> None:
    names = [partition("case", case) for case in CASES]
    assert names[0] == "case=loss%3D0.1%25"
    assert len(set(names)) == len(names)
    assert all("/" not in name for name in names)
    long = [partition("case", "ü" * 300 + end) for end in "ab"]
    assert long[0] != long[1]
    assert all(len(name) < 255 for name in long)


def plan_of(**changes: Any) -> dict[str, Any]:
    cases = [{"name": case, "task": f"{at:016x}"} for at, case in enumerate(CASES)]
    plan = {"kind": "sweep", "identity": "i", "tables": ["trials"], "cases": cases, "seed": 1}
    return {**plan, **changes}


def test_other_work_in_the_place_is_refused(place: Place) -> None:
    plan = plan_of()
    assert agree(place, plan, {"seed": "seed"}) is plan
    place.write("sweep.json", json.dumps(plan).encode())
    assert agree(place, plan_of(identity="j"), {"seed": "seed"}) == plan
    with pytest.raises(TcplabError, match="another seed: 1 there, 2 now\n  try: another place"):
        agree(place, plan_of(seed=2), {"seed": "seed"})
    with pytest.raises(TcplabError, match="has a sweep, not an archive\n"):
        agree(place, plan_of(kind="archive"), {})


def test_part_without_record_is_no_part_of_the_table(place: Place) -> None:
    plan = plan_of()
    place.write("sweep.json", json.dumps(plan).encode())
    for at, case in enumerate(CASES):
        place.write(f"trials/{partition('case', case)}/part-00001-00010.parquet", b"rows")
        if at % 2 == 0:
            write_done(place, f"{at:016x}-1-10", {"rows": {"trials": 10}})
    stale = f"trials/{partition('case', CASES[0])}/part-00001-00007.parquet"
    place.write(stale, b"rows")
    dataset = Dataset(place.name)
    assert len(dataset.trials.files) == 3
    assert [record["rows"]["trials"] for record in dataset.records] == [10] * 3
    assert remove_leftovers(place, plan) == 3
    assert len(list(place.files("trials"))) == len(dataset.trials.files) == 3
    assert stale not in dict(place.files("trials"))


def test_record_without_whole_part_does_not_count(place: Place) -> None:
    plan = plan_of()
    for at, content in enumerate((b"rows", b"", None)):
        write_done(place, f"{at:016x}-1-10", {})
        if content is not None:
            part = f"trials/{partition('case', CASES[at])}/part-00001-00010.parquet"
            place.write(part, content)
    assert whole_tasks(place, plan) == [f"{0:016x}-1-10"]


def test_part_that_was_cut_does_not_count(place: Place) -> None:
    plan = plan_of()
    for at, content in enumerate((b"rows", b"ro")):
        write_done(place, f"{at:016x}-1-10", {"bytes": {"trials": 4}})
        place.write(f"trials/{partition('case', CASES[at])}/part-00001-00010.parquet", content)
    assert whole_tasks(place, plan) == [f"{0:016x}-1-10"]


def test_record_that_goes_meanwhile_is_no_task(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, gone = f"{0:016x}-1-10", f"{1:016x}-1-10"
    write_done(place, task, {})
    place.write(f"trials/{partition('case', CASES[0])}/part-00001-00010.parquet", b"rows")
    listed = iter([[task, gone], [task]])
    monkeypatch.setattr(_dataset, "done_tasks", lambda _: next(listed))
    assert whole_tasks(place, plan_of()) == [task]


def test_failure_keeps_its_reasons_until_the_task_is_done(place: Place) -> None:
    place.write("sweep.json", json.dumps(plan_of()).encode())
    failure = Failure("0-1-10", "a 1-10", 3, ("x", "y", "z"))
    write_failed(place, failure)
    assert Dataset(place.name).failures == [failure]
    assert str(failure) == "a 1-10: failed 3 times; z"
    write_done(place, "0-1-10", {})
    assert Dataset(place.name).failures == []


def test_place_without_data_set_is_an_error(place: Place) -> None:
    with pytest.raises(TcplabError, match=r"is no data set.*\n  try: make one"):
        Dataset(place.name)


def parquet_files(place: Place, key: str, of: str = "") -> TableFiles:
    """A table of two rows for each case, with the case in its path, and for `case` in its rows."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    names = []
    for case in CASES:
        columns = {"trial": [1, 2], "value": [1.5, None]}
        if key == "case":
            columns = {"case": [case] * 2, **columns}
        if of:
            columns["of"] = [of] * 2
        name = f"trials/{partition(key, case)}/part-00001-00002.parquet"
        with place.moved_in(name) as temporary:
            parquet.write_table(arrow.table(columns), temporary)
        names.append(name)
    return TableFiles("trials", place, names, "" if key == "case" else key)


@pytest.mark.parametrize("url", ["{}", "memory://{}", "file://{}"])
@pytest.mark.parametrize("pattern", ["res[1]", "res*", "res?", "it's {1,2}"])
def test_signs_of_patterns_are_letters_of_a_place(tmp_path: Path, url: str, pattern: str) -> None:
    pytest.importorskip("fsspec")
    # `res1` is what the patterns mean.
    for name in "res1", pattern:
        files = parquet_files(open_place(url.format(tmp_path / name)), "case", name)
    assert set(files.to_arrow()["of"].to_pylist()) == {pattern}
    assert set(files.to_polars()["of"]) == {pattern}
    assert files.sql("SELECT DISTINCT of FROM trials").fetchall() == [(pattern,)]


@pytest.mark.parametrize("key", ["case", "capture"])
def test_readers_see_each_row_with_its_partition(place: Place, key: str) -> None:
    files = parquet_files(place, key)
    expected = sorted((case, trial) for case in CASES for trial in (1, 2))
    table = files.to_arrow()
    pairs = zip(table[key].to_pylist(), table["trial"].to_pylist(), strict=True)
    assert sorted(pairs) == expected
    frame = files.to_polars()
    assert sorted(frame.select(key, "trial").rows()) == expected
    pytest.importorskip("pandas")
    assert list(files.to_pandas()["trial"]) == [1, 2] * len(CASES)
    pytest.importorskip("duckdb")
    found = files.sql(f'SELECT "{key}", trial FROM trials').fetchall()
    assert sorted(found) == expected


def test_directories_above_a_data_set_are_no_partitions(tmp_path: Path) -> None:
    pytest.importorskip("polars")
    pytest.importorskip("duckdb")
    for above in ("y=2026", "capture=x", "trial=7"):
        files = parquet_files(open_place(tmp_path / above / "place"), "capture")
        expected = sorted((case, trial) for case in CASES for trial in (1, 2))
        arrow = files.to_arrow()
        found = files.sql("FROM trials")
        for names in (files.to_polars().columns, arrow.column_names, found.columns):
            assert sorted(names) == ["capture", "trial", "value"]
        pairs = zip(arrow["capture"].to_pylist(), arrow["trial"].to_pylist(), strict=True)
        assert sorted(pairs) == expected
        assert sorted(files.to_polars().select("capture", "trial").rows()) == expected
        found = files.sql("SELECT capture, trial FROM trials").fetchall()
        assert sorted(found) == expected


def test_query_for_one_capture_opens_one_file(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    files = parquet_files(open_place(tmp_path), "capture")
    plan = files.sql("EXPLAIN ANALYZE SELECT * FROM trials WHERE capture = 'a/b'").fetchall()
    assert "Total Files Read: 1" in str(plan)


def test_table_names_its_files(tmp_path: Path) -> None:
    place = open_place(tmp_path)
    files = TableFiles("trials", place, ["trials/a.parquet", "trials/b.parquet"], "")
    assert files.files == [str(tmp_path / "trials/a.parquet"), str(tmp_path / "trials/b.parquet")]
    with pytest.raises(TcplabError, match="has no trials yet: no task is done\n  try: repeat"):
        TableFiles("trials", place, [], "").to_arrow()
    write_failed(place, Failure("0-1-10", "a 1-10", 1, ("x",)))
    with pytest.raises(TcplabError, match="no task is done, and some failed\n  try: `failures`"):
        TableFiles("trials", place, [], "").to_arrow()


def test_query_is_over_all_tables_that_have_files(place: Place) -> None:
    pytest.importorskip("duckdb")
    parquet_files(place, "case")
    plan = plan_of(tables=["trials", "episodes", "metrics"])
    place.write("sweep.json", json.dumps(plan).encode())
    for name in [name for name, _ in place.files("trials")]:
        place.write(name.replace("trials", "metrics"), place.read(name))
    for case in plan["cases"]:
        write_done(place, f"{case['task']}-1-2", {})
    dataset = Dataset(place.name)
    for table in "trials", "metrics":
        found = dataset.sql(f"SELECT count(*) FROM {table}").fetchall()
        assert found == [(2 * len(CASES),)]
    assert dataset.table("episodes").files == []

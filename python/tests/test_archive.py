"""Archives: each capture read once, split, resumed, summed up."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import needs_core
from fake_core import FakeCore

from tcplab import _archive, _captures, _place, _worker, commands
from tcplab._archive import archive, trace_many
from tcplab._captures import Capture, find, split
from tcplab._core import TcplabError
from tcplab._dataset import Dataset
from tcplab._summary import _add, quantile, summary, sums_of

CORPUS = Path(__file__).parents[2] / "corpus" / "groundtruth"


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> FakeCore:
    fake = FakeCore()
    monkeypatch.setattr(_archive, "_core", fake)
    monkeypatch.setattr(_captures, "_core", fake)
    monkeypatch.setattr(_worker, "_core", fake)
    return fake


@pytest.fixture
def captures(tmp_path: Path) -> Path:
    """Twelve captures of the fake: its number says how many connections it has."""
    directory = tmp_path / "captures"
    (directory / "below").mkdir(parents=True)
    for number in range(12):
        where = directory / "below" if number % 2 else directory
        (where / f"c{number:02}.pcap").write_text(f"connections {number}")
    (directory / "notes.txt").write_text("not a capture")
    return directory


def quiet(given: Any, place: Path, executor: Any, **options: Any) -> Dataset:
    return archive(given, place, on=executor, progress=False, **options)


def names_of(core: FakeCore) -> list[str]:
    return sorted(it[0] for it in core.ran if isinstance(it, tuple))


def test_captures_are_found(
    core: FakeCore, captures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(captures)
    assert len(find([captures])) == 12
    assert len(find(["*.pcap"])) == 6
    assert len(find(["**/*.pcap"])) == 12
    assert len(find([captures, "**/*.pcap", Path("c00.pcap")])) == 12
    with pytest.raises(TcplabError, match="no captures: nothing\\*\n  try: a file, a directory"):
        find(["nothing*"])
    passed_over: list[str] = []
    assert len(find([captures], passed_over)) == 12
    assert passed_over == [f"{captures}/notes.txt"]
    pytest.importorskip("fsspec")
    assert len(find([f"file://{captures}/*.pcap"])) == 6


@pytest.mark.parametrize(
    ("pattern", "path", "name", "url"),
    [
        ("s3://b/*.pcap", "b/*.pcap", "b/x.pcap", "s3://b/x.pcap"),
        ("s3://b/2026/", "b/2026", "b/2026/x.pcap", "s3://b/2026/x.pcap"),
        ("sftp://me@host/d/*", "/d/*", "/d/x.pcap", "sftp://me@host/d/x.pcap"),
        ("https://h/d/*", "https://h/d/*", "https://h/d/x.pcap", "https://h/d/x.pcap"),
        ("zip://*::s3://b/z.zip", "*", "x.pcap", "zip://x.pcap::s3://b/z.zip"),
        ("zip://::s3://b/z.zip", "", "d/x.pcap", "zip://d/x.pcap::s3://b/z.zip"),
        ("simplecache::s3://b/*", "b/*", "b/x.pcap", "simplecache::s3://b/x.pcap"),
    ],
)
def test_url_of_a_file_has_host_and_chain_of_its_pattern(
    pattern: str, path: str, name: str, url: str
) -> None:
    assert _place._url_like(pattern, path, name, None) == url


def test_captures_are_read_by_the_urls_that_are_found(
    core: FakeCore, captures: Path, tmp_path: Path, threads: Any
) -> None:
    pytest.importorskip("fsspec")
    packed = Path(shutil.make_archive(str(tmp_path / "day"), "zip", captures))
    urls = [
        f"file://{captures}/*.pcap",
        f"local://{captures}/below",
        f"zip://*.pcap::{packed.as_uri()}",
    ]
    for at, url in enumerate(urls):
        dataset = quiet(url, tmp_path / f"place{at}", threads)
        assert (dataset.failures, dataset.missing) == ([], [])
        assert len(list(dataset.records)) == 6
    assert len(set(names_of(core))) == 12


def test_archive_of_nothing_is_refused(core: FakeCore, tmp_path: Path, threads: Any) -> None:
    with pytest.raises(TcplabError, match="no captures: the list is empty\n  try: a file"):
        quiet([], tmp_path / "place", threads)
    with pytest.raises(TcplabError, match="no captures: the list is empty"):
        trace_many((), place=tmp_path / "place", on=threads, progress=False)
    with pytest.raises(TypeError, match="3 is no path"):
        quiet([3], tmp_path / "place", threads)
    assert not (tmp_path / "place").exists()


def test_engine_that_does_not_answer_leaves_no_archive(
    core: FakeCore, captures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(on: object) -> Any:
        raise TcplabError(f"no answer from {on}")

    monkeypatch.setattr(_archive, "open_engine", refuse)
    with pytest.raises(TcplabError, match="no answer from tcp://h:1"):
        archive(captures, tmp_path / "place", on="tcp://h:1", progress=False)
    assert not (tmp_path / "place").exists()


def test_large_captures_are_split_by_their_size_alone() -> None:
    capture = Capture("/x.pcap", 80_000_000_000, "1")
    parts = split(capture, None)
    assert [(it.index, it.count) for it in parts] == [(0, 3), (1, 3), (2, 3)]
    assert len({it.task(None, "1") for it in parts}) == 3
    assert len(split(Capture("/x.pcap", 63_999_999_999, "1"), None)) == 1
    assert len(split(Capture("/x.pcap", 1, "1"), 4)) == 4


def test_each_capture_is_read_once(
    core: FakeCore, captures: Path, tmp_path: Path, threads: Any
) -> None:
    place = tmp_path / "place"
    dataset = quiet(captures, place, threads)
    assert names_of(core) == [f"c{it:02}.pcap" for it in range(12)]
    assert (dataset.missing, dataset.failures) == ([], [])
    assert len(dataset.connections.files) == 12
    listed = [json.loads(it) for it in (place / "captures.jsonl").read_text().splitlines()]
    assert sorted(os.path.basename(it["url"]) for it in listed) == names_of(core)
    core.ran.clear()
    quiet(captures, place, threads)
    assert core.ran == []


def test_new_and_changed_captures_are_read(
    core: FakeCore, captures: Path, tmp_path: Path, threads: Any
) -> None:
    place = tmp_path / "place"
    quiet(captures, place, threads)
    core.ran.clear()
    (captures / "c02.pcap").write_text("more connections 20")
    (captures / "new.pcap").write_text("connections 3")
    dataset = quiet(captures, place, threads)
    assert names_of(core) == ["c02.pcap", "new.pcap"]
    assert len(dataset.connections.files) == 13
    assert dataset.summary().total["connections"] == sum(range(12)) - 2 + 20 + 3


def test_split_capture_has_each_connection_once(
    core: FakeCore, captures: Path, tmp_path: Path, threads: Any
) -> None:
    whole = quiet(captures, tmp_path / "whole", threads).summary()
    parts = quiet(captures, tmp_path / "parts", threads, shards=3)
    assert len(parts.connections.files) == 36
    found = parts.summary()
    assert (found.captures, found.packets) == (whole.captures, whole.packets)
    assert found.total == whole.total
    assert found.findings == whole.findings
    with pytest.raises(TcplabError, match="another number of shards: 3 there, 4 now"):
        quiet(captures, tmp_path / "parts", threads, shards=4)


def test_capture_that_cannot_be_read_is_listed(
    core: FakeCore, captures: Path, tmp_path: Path, threads: Any
) -> None:
    core.broken |= {"c03.pcap", "c04.pcap"}
    dataset = quiet(captures, tmp_path / "place", threads)
    failures = {os.path.basename(it.what): it for it in dataset.failures}
    assert set(failures) == core.broken
    assert failures["c03.pcap"].reasons == ("ValueError: c03.pcap is no capture",) * 3
    assert len(dataset.missing) == 2
    assert len(dataset.connections.files) == 10
    core.broken.clear()
    dataset = quiet(captures, tmp_path / "place", threads)
    assert (dataset.failures, dataset.missing) == ([], [])


def test_files_that_are_no_captures_are_counted(
    core: FakeCore, captures: Path, tmp_path: Path, threads: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    archive(captures, tmp_path / "place", on=threads)
    assert f"1 file is no capture, such as {captures}/notes.txt" in capsys.readouterr().err


def test_the_notes_of_a_capture_are_in_its_record(
    core: FakeCore, captures: Path, tmp_path: Path, threads: Any
) -> None:
    core.cut.add("c04.pcap")
    records = quiet(captures, tmp_path / "place", threads).records
    notes = {os.path.basename(record["url"]): record["notes"] for record in records}
    assert notes.pop("c04.pcap") == ["the capture is cut off"]
    assert not any(notes.values())


def test_a_summary_does_not_depend_on_the_tables_that_are_kept(
    core: FakeCore, captures: Path, tmp_path: Path, threads: Any
) -> None:
    whole = quiet(captures, tmp_path / "whole", threads).summary()
    part = quiet(captures, tmp_path / "part", threads, tables=["episodes"])
    assert part.tables == ("episodes",)
    assert part.summary().to_dict() == whole.to_dict()
    assert whole.findings


def test_one_attempt_is_one(core: FakeCore, captures: Path, tmp_path: Path, threads: Any) -> None:
    core.broken.add("c05.pcap")
    dataset = quiet(captures, tmp_path / "place", threads, retries=1)
    assert [it.attempts for it in dataset.failures] == [1]


def test_other_filter_in_the_place_is_refused(
    core: FakeCore, captures: Path, tmp_path: Path, threads: Any
) -> None:
    quiet(captures, tmp_path / "place", threads, filter="port 443")
    with pytest.raises(TcplabError, match="another filter: port 443 there, null now"):
        quiet(captures, tmp_path / "place", threads)


def test_remote_captures_are_fetched_and_removed(
    core: FakeCore, tmp_path: Path, threads: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for number in range(3):
        memory.pipe_file(f"/captures/c{number}.pcap", f"connections {number}".encode())
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    dataset = quiet("memory://captures/*.pcap", tmp_path / "place", threads)
    assert names_of(core) == ["c0.pcap", "c1.pcap", "c2.pcap"]
    assert list(tmp_path.glob("tcplab-*")) == []
    assert all(record["url"].startswith("memory://") for record in dataset.records)
    memory.rm("/captures", recursive=True)


def test_summary_counts_by_peer_hour_and_finding(
    core: FakeCore, captures: Path, tmp_path: Path, threads: Any
) -> None:
    found = trace_many(captures, on=threads, place=tmp_path / "p", progress=False).summary()
    assert found.captures == 12
    assert found.total["connections"] == sum(range(12))
    assert found.findings["timeouts"]["connections"] == sum(range(11))
    assert set(found.peers) == {"10.0.1.0", "10.0.1.1"}
    assert list(found.hours) == ["2023-11-14T22"]
    assert len(found.worst) == sum(range(11))
    worst = found.worst[0]
    assert (worst["connection"], worst["delay_ns"]) == (10, 10_000)
    assert worst["command"] == f"tcplab trace {captures}/below/c11.pcap -c 10"
    text = str(found)
    assert "12 captures" in text
    # All RTTs are equal: the middle of their class is none of them.
    assert "RTT p5 20 ms, median 20 ms, p95 20 ms; retransmitted 3.33 %" in text
    shown = found.to_dict()
    assert json.loads(json.dumps(shown))["total"]["retransmitted_percent"] > 0
    assert shown["total"]["rtt_median_ns"] == 20_000_000


def test_worst_hundred_are_kept_in_order() -> None:
    from fake_core import FakeTable

    names = ["connection", "first_ns", "last_ns", "server_address"]
    rows: list[list[Any]] = [[it, 0, 10**9, "x"] for it in range(500)]
    findings = [[it, "timeouts", "harm", (it * 7919) % 500, ""] for it in range(500)]
    sums = sums_of(
        {
            "connections": FakeTable(names, rows),
            "findings": FakeTable(
                ["connection", "rule", "severity", "cost_ns", "statement"], findings
            ),
        }
    )
    assert [it["delay_ns"] for it in sums["worst"]] == list(range(499, 399, -1))


def test_rule_shows_its_worst_severity_in_any_order() -> None:
    from fake_core import FakeTable

    names = ["connection", "rule", "severity", "cost_ns", "statement"]
    kinds = ["note", "failure", "harm"]
    one = [{"findings": FakeTable(names, [[0, "timeouts", kind, 0, ""]])} for kind in kinds]
    for order in itertools.permutations(one):
        added: dict[str, Any] = {}
        for sums in map(sums_of, order):
            _add(added, sums["findings"])
        assert added["timeouts"]["severity"] == "failure"
    rows = [[0, "timeouts", kind, 0, ""] for kind in kinds]
    together = sums_of({"findings": FakeTable(names, rows)})
    assert together["findings"]["timeouts"]["severity"] == "failure"


def test_quantiles_of_classes_are_close() -> None:
    from tcplab._summary import _bin

    classes: dict[str, int] = {}
    for value in range(1, 100_001):
        key = _bin(value * 1000)
        classes[key] = classes.get(key, 0) + 1
    for share in (0.05, 0.5, 0.95):
        assert quantile(classes, share) == pytest.approx(share * 1e8, rel=0.006)
    assert quantile({}, 0.5) is None


def test_summary_without_captures_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TcplabError, match="has no finished capture\n  try: tcplab archive"):
        summary(tmp_path)


# With the compiled part.


@needs_core
def test_rows_equal_those_of_trace(on: Any, tmp_path: Path) -> None:
    from tcplab import _core

    polars = pytest.importorskip("polars")
    dataset = archive(CORPUS, tmp_path / "place", on=on, progress=False)
    assert dataset.failures == []
    listed = (tmp_path / "place" / "captures.jsonl").read_text().splitlines()
    frames = {name: dataset.table(name).to_polars() for name in dataset.tables}
    for line in map(json.loads, listed):
        trace = _core.trace([line["url"]])
        for name, frame in frames.items():
            part = frame.filter(polars.col("capture") == line["capture"]).drop("capture")
            file = tmp_path / "expected.parquet"
            trace.table(name).write(file)
            assert part.equals(polars.read_parquet(file)), (line["url"], name)


@needs_core
def test_a_directory_has_the_captures_that_trace_finds(tmp_path: Path) -> None:
    import tcplab

    directory = tmp_path / "captures"
    directory.mkdir()
    shutil.copy(CORPUS / "clean_cubic_20ms.snd.pcap.zst", directory / "without-ending")
    shutil.copy(CORPUS / "blackout.snd.pcap.zst", directory / "capture.2026-11-29")
    (directory / "text.pcap").write_text("no capture")
    found = find([directory])
    assert [it.url for it in found] == tcplab.trace(directory).files
    assert len(found) == 2


@needs_core
def test_a_capture_that_is_cut_off_is_told(tmp_path: Path) -> None:
    import tcplab

    file = tmp_path / "cut.pcap"
    trial = tcplab.simulate("interruption", case="reno_1550ms")
    file.write_bytes(Path(trial.directory, "client.pcapng").read_bytes()[:-10])
    dataset = archive(file, tmp_path / "place", on=1, progress=False)
    (record,) = dataset.records
    assert record["notes"] == tcplab.trace(file).notes != []


@needs_core
def test_the_rtt_of_a_summary_is_of_the_whole_path(tmp_path: Path) -> None:
    for end in ("snd", "rcv"):
        file = CORPUS / f"clean_cubic_20ms.{end}.pcap.zst"
        total = archive(file, tmp_path / end, on=1, progress=False).summary().to_dict()["total"]
        assert 19e6 < total["rtt_p5_ns"] < 60e6, end


@needs_core
def test_the_rtt_of_downloads_is_that_of_the_handshake(tmp_path: Path) -> None:
    import tcplab

    end = {"stack": "model:linux-6.18"}
    sections = {
        "title": "A download",
        "path": {"rate": "20 Mbit/s", "delay": "25 ms"},
        "client": end,
        "server": end,
        "workload": {"download": "1 MB"},
    }
    trace = tcplab.simulate(tcplab.Scenario.from_dict(sections)).trace("client")
    found = archive(trace.files, tmp_path / "place", on=1, progress=False).summary().to_dict()
    (row,) = trace.connections
    assert row["reverse_capture_point"] == "receiver"
    assert found["total"]["rtt_median_ns"] == row["handshake_rtt_ns"]


@needs_core
def test_split_captures_have_the_same_connections(tmp_path: Path) -> None:
    pytest.importorskip("polars")
    whole = archive(CORPUS, tmp_path / "whole", on=2, progress=False)
    parts = archive(CORPUS, tmp_path / "parts", on=2, progress=False, shards=3)
    ends = ["capture", "client_port", "server_port", "first_ns", "packets"]
    rows = [it.connections.to_polars().select(ends).sort(ends).rows() for it in (whole, parts)]
    assert rows[0] == rows[1]
    assert whole.summary().total == parts.summary().total
    assert whole.summary().findings == parts.summary().findings


@needs_core
def test_object_storage_holds_captures_and_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("s3fs")
    server = pytest.importorskip("moto.server").ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in (
        ("AWS_ACCESS_KEY_ID", "x"),
        ("AWS_SECRET_ACCESS_KEY", "x"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}"),
    ):
        monkeypatch.setenv(name, value)
    try:
        import fsspec  # type: ignore[import-untyped]

        store: Any = fsspec.filesystem("s3")
        store.mkdir("bucket")
        files = sorted(CORPUS.glob("*.pcap*"))[:4]
        for file in files:
            store.put_file(str(file), f"bucket/in/{file.name}")
        for _ in range(2):
            dataset = archive("s3://bucket/in/*", "s3://bucket/out", on=2, progress=False)
            assert (dataset.missing, dataset.failures) == ([], [])
            assert len(dataset.connections.files) == dataset.summary().captures == len(files)
        local = archive(files, tmp_path / "local", on=2, progress=False)
        assert dataset.summary().total == local.summary().total
        rows = dataset.connections.to_arrow().num_rows
        assert rows == local.connections.to_arrow().num_rows
    finally:
        server.stop()


@needs_core
def test_command_of_the_worst_opens_it(tmp_path: Path) -> None:
    import shlex
    import subprocess

    from tcplab._commands import find_command

    for shards in (1, 3):
        place = tmp_path / f"place{shards}"
        found = archive(CORPUS, place, on=2, progress=False, shards=shards).summary()
        assert found.worst
        for worst in found.worst[:5]:
            command = shlex.split(worst["command"])
            command[0] = find_command() or "tcplab"
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            assert worst["client"] in said


@needs_core
def test_command_prints_a_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = tmp_path / "captures"
    directory.mkdir()
    for file in sorted(CORPUS.glob("*.pcap*"))[:3]:
        shutil.copy(file, directory)
    place = tmp_path / "place"
    pattern = f"{directory}/*.pcap*"
    assert commands.main(["archive", pattern, "-o", str(place), "--jobs", "2", "-q"]) == 0
    assert commands.main(["archive", pattern, "-o", str(place), "--jobs", "2"]) == 0
    assert "3 captures" in capsys.readouterr().out
    (directory / "bad.pcap").write_text("nonsense")
    assert commands.main(["archive", pattern, "-o", str(place), "-j", "2", "--json"]) == 2
    said = capsys.readouterr()
    assert json.loads(said.out)["captures"] == 3
    assert "bad.pcap: failed 3 times" in said.err
    assert commands.main(["archive", pattern, "-o", str(place), "-j", "2", "-q"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: 1 capture failed on each attempt\n")
    assert "bad.pcap: failed 3 times" in said.err


@pytest.mark.skipif(sys.platform != "linux", reason="such names are those of Linux")
def test_names_that_are_no_text_are_read_or_fail_by_themselves(
    core: FakeCore, captures: Path, tmp_path: Path, threads: Any
) -> None:
    names = [os.fsdecode(b"read\xff.pcap"), os.fsdecode(b"broken\xff.pcap"), "line\u2028.pcap"]
    for name in names:
        (captures / name).write_text("connections 2")
    core.broken.add(names[1])
    dataset = quiet(captures, tmp_path / "place", threads)
    (failure,) = dataset.failures
    assert failure.what == str(captures / names[1])
    assert dataset.missing == [failure.what]
    assert len(dataset.connections.files) == 14
    assert dataset.summary().captures == 14
    core.ran.clear()
    quiet(captures, tmp_path / "place", threads)
    assert core.ran == []


@needs_core
def test_command_writes_names_that_are_no_text(tmp_path: Path) -> None:
    try:
        bad = tmp_path / os.fsdecode(b"bad\xff.pcap")
        bad.write_text("nonsense")
    except OSError:
        pytest.skip("names here are UTF-8")
    # By name: of a directory it would be passed over, as it is no capture.
    good = shutil.copy(next(CORPUS.glob("*.pcap*")), tmp_path)
    file = tmp_path / "a.json"
    command = [sys.executable, "-m", "tcplab.commands", "archive", str(good), str(bad), "-j1"]
    command += ["-o", str(tmp_path / "place"), "--attempts", "1"]
    for option in ("--json", f"--json={file}"):
        done = subprocess.run([*command, option], capture_output=True, check=False)
        assert done.returncode == 2
        said = done.stdout if option == "--json" else file.read_bytes()
        assert json.loads(said)["failures"][0]["what"] == str(bad)
    assert b"bad\\u{dcff}.pcap: failed once; " in done.stderr

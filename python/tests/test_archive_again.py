"""Archives made again, and of what cannot be read."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import needs_core
from test_archive import CORPUS, captures, core, quiet

from tcplab import commands
from tcplab._archive import archive
from tcplab._captures import find
from tcplab._core import TcplabError
from tcplab._executors import reason_of

# Fixtures.
__all__ = ["captures", "core"]


def test_failure_of_a_capture_that_is_whole_now_is_gone(
    core: Any, captures: Path, tmp_path: Path, threads: Any
) -> None:
    core.broken |= {"c03.pcap", "c04.pcap"}
    assert len(quiet(captures, tmp_path / "place", threads).failures) == 2
    core.broken.clear()
    # Another content, and with it another task.
    (captures / "below" / "c03.pcap").write_text("better connections 3")
    (captures / "c04.pcap").unlink()
    dataset = quiet(captures, tmp_path / "place", threads)
    assert (dataset.failures, dataset.missing) == ([], [])
    assert dataset.summary().captures == 11


def test_summary_is_of_the_captures_that_have_rows(
    core: Any, captures: Path, tmp_path: Path, threads: Any
) -> None:
    before = quiet(captures, tmp_path / "place", threads).summary().total["connections"]
    (captures / "c10.pcap").write_text("nonsense 10")
    core.broken.add("c10.pcap")
    dataset = quiet(captures, tmp_path / "place", threads)
    found = dataset.summary()
    assert (found.captures, len(dataset.connections.files)) == (11, 11)
    assert found.total["connections"] == before - 10


def test_file_that_is_no_capture_any_more_leaves_the_archive(
    core: Any, captures: Path, tmp_path: Path, threads: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet(captures, tmp_path / "place", threads)
    found = core.may_be_capture
    monkeypatch.setattr(core, "may_be_capture", lambda it: found(it) and "c02" not in it)
    dataset = quiet(captures, tmp_path / "place", threads)
    assert (dataset.summary().captures, len(dataset.connections.files)) == (11, 11)
    assert dataset.missing == []
    # A capture that was only moved away stays.
    (captures / "c04.pcap").unlink()
    dataset = quiet(captures, tmp_path / "place", threads)
    assert (dataset.summary().captures, dataset.missing) == (11, [])


def test_records_and_list_have_the_zero_of_all_times(
    core: Any, captures: Path, tmp_path: Path, threads: Any
) -> None:
    for more in ("", "new"):
        if more:
            (captures / "new.pcap").write_text("connections 3")
        dataset = quiet(captures, tmp_path / "place", threads)
        zeros = [record["zero_unix_ns"] for record in dataset.records]
        listed = (tmp_path / "place" / "captures.jsonl").read_text().splitlines()
        zeros += [json.loads(line)["zero_unix_ns"] for line in listed]
        assert set(zeros) == {1_700_000_000 * 10**9}


def test_numbers_and_filter_are_checked_before_anything_is_written(
    core: Any, captures: Path, tmp_path: Path, threads: Any
) -> None:
    for name in ("shards", "retries"):
        for number in (0, -1):
            with pytest.raises(TcplabError, match=f"{name}={number}: pass 1 or more"):
                quiet(captures, tmp_path / "place", threads, **{name: number})
        with pytest.raises(TypeError):
            quiet(captures, tmp_path / "place", threads, **{name: 1.5})
    with pytest.raises(TcplabError, match="no filter: prot 443"):
        quiet(captures, tmp_path / "place", threads, filter="prot 443")
    assert not (tmp_path / "place").exists()
    quiet(captures, tmp_path / "place", threads, filter="port 443")


def test_archive_of_junk_alone_says_that_it_failed(
    core: Any, captures: Path, tmp_path: Path, threads: Any
) -> None:
    core.broken.add("c00.pcap")
    dataset = quiet(captures / "c00.pcap", tmp_path / "place", threads)
    with pytest.raises(TcplabError, match="has no connections yet: no task is done, and some fail"):
        dataset.connections.to_arrow()


def test_directories_are_entered_by_links_and_once(
    core: Any, captures: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "linked.pcap").write_text("connections 1")
    (captures / "link").symlink_to(elsewhere)
    (captures / "below" / "loop").symlink_to(captures)
    (captures / "dangling.pcap").symlink_to(tmp_path / "nowhere.txt")
    found = [os.path.basename(it.url) for it in find([captures])]
    assert len(found) == 13
    assert "linked.pcap" in found


def test_directory_that_cannot_be_listed_fails_as_a_capture(
    core: Any, captures: Path, tmp_path: Path, threads: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.listdir

    def refused(directory: str) -> list[str]:
        if directory.endswith("below"):
            raise PermissionError(directory)
        return real(directory)

    monkeypatch.setattr("tcplab._captures.os.listdir", refused)
    dataset = quiet(captures, tmp_path / "place", threads)
    assert [it.what for it in dataset.failures] == dataset.missing == [f"{captures}/below"]
    monkeypatch.undo()


def test_notes_are_summed_up(
    core: Any, captures: Path, tmp_path: Path, threads: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    core.cut.add("c04.pcap")
    found = quiet(captures, tmp_path / "place", threads).summary()
    file = str(captures / "c04.pcap")
    assert f"! 1 capture has notes, such as {file}: the capture is cut off" in str(found)
    shown = found.to_dict()
    assert shown["noted"] == 1
    assert shown["notes"] == [{"url": file, "notes": ["the capture is cut off"]}]


def test_names_of_files_do_not_steer_the_terminal(
    core: Any,
    captures: Path,
    tmp_path: Path,
    threads: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(commands, "_engine", lambda _: threads)
    name = "a\x1b[31mb\nc.pcap"
    (captures / name).write_text("connections 1")
    (captures / "d\x1b[31m.txt").write_text("")
    core.broken.add(name)
    for options in ([], ["-q"]):
        arguments = ["archive", str(captures), "-o", str(tmp_path / "place"), *options]
        assert commands.main(arguments) == 2
        said = capsys.readouterr().err
        assert "\x1b" not in said
        assert r"a\x1b[31mb\nc.pcap: failed 3 times" in said


def test_json_has_the_number_of_other_files(
    core: Any,
    captures: Path,
    tmp_path: Path,
    threads: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(commands, "_engine", lambda _: threads)
    arguments = ["archive", str(captures), "-o", str(tmp_path / "place"), "-q", "--json"]
    assert commands.main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["other_files"] == 1


def test_reasons_are_one_legible_line() -> None:
    error = TcplabError("prot 443\n^^^^\nno `prot`, which no filter has\n  try: `port`")
    assert reason_of(error) == "prot 443 no `prot`, which no filter has; try: `port`"


# With the compiled part.


@needs_core
def test_json_never_replaces_an_input(
    tmp_path: Path, scenario_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capture = Path(shutil.copy(CORPUS / "clean_cubic_20ms.snd.pcap.zst", tmp_path))
    place = str(tmp_path / "place")
    for command, file in (("archive", capture), ("sweep", scenario_file)):
        content = file.read_bytes()
        assert commands.main([command, str(file), "-o", place, f"--json={file}"]) == 2
        said = capsys.readouterr().err
        assert said == (f"error: --json would overwrite the input {file}: choose another file\n")
        assert file.read_bytes() == content
    # One of a directory, too.
    assert commands.main(["archive", str(tmp_path), "-o", place, f"--json={capture}"]) == 2
    assert not Path(place).exists()


@needs_core
def test_share_of_retransmissions_is_that_of_trace(tmp_path: Path) -> None:
    import tcplab

    for name in ("nots_loss1.snd.pcap.zst", "blackout.snd.pcap.zst"):
        rows = tcplab.trace(CORPUS / name).connections.to_dicts()
        found = archive(CORPUS / name, tmp_path / name, on=1, progress=False).summary()
        total = found.to_dict()["total"]
        sums = {
            key: sum(row[f"{way}_{key}"] for row in rows for way in ("forward", "reverse"))
            for key in ("retransmittable_segments", "data_segments", "retransmissions")
        }
        segments, again = sums["retransmittable_segments"], sums["retransmissions"]
        assert again <= segments and sums["data_segments"] < segments
        assert (total["segments"], total["retransmissions"]) == (segments, again)
        assert total["retransmitted_percent"] == round(100 * again / segments, 4)


@needs_core
def test_what_cannot_be_read_fails_as_a_capture(tmp_path: Path) -> None:
    directory = tmp_path / "captures"
    directory.mkdir()
    packed = (CORPUS / "clean_cubic_20ms.snd.pcap.zst").read_bytes()
    (directory / "whole.pcap.zst").write_bytes(packed)
    (directory / "cut.pcap.zst").write_bytes(packed[:20])
    # Pcapng sections whose header ends early.
    (directory / "tiny.pcapng").write_bytes(bytes.fromhex("0a0d0d0a300000004d3c"))
    (directory / "short.pcapng").write_bytes(bytes.fromhex("0a0d0d0a300000004d3c2b1a01000000"))
    (directory / "notes.txt").write_text("nothing")
    is_root = os.geteuid() == 0
    if not is_root:
        (directory / "locked").mkdir(mode=0)
        shutil.copy(directory / "whole.pcap.zst", directory / "secret.pcap")
        (directory / "secret.pcap").chmod(0)
    dataset = archive(directory, tmp_path / "place", on=1, progress=False)
    failed = {os.path.basename(it.what) for it in dataset.failures}
    locked = set() if is_root else {"locked", "secret.pcap"}
    assert failed == {"cut.pcap.zst", "tiny.pcapng", "short.pcapng"} | locked
    assert [os.path.basename(it) for it in dataset.passed_over] == ["notes.txt"]
    assert dataset.summary().captures == 1
    if not is_root:
        (directory / "locked").chmod(0o700)
    for file in ("cut.pcap.zst", "tiny.pcapng", "short.pcapng", "secret.pcap"):
        (directory / file).unlink(missing_ok=True)
    dataset = archive(directory, tmp_path / "place", on=1, progress=False)
    assert (dataset.failures, dataset.missing) == ([], [])

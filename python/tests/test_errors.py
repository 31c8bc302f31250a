"""Bad input: every exception has the command's message, and no panic reaches Python."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from facade import sections, upload

import tcplab
from tcplab import _commands

COMMAND = _commands.find_command()


def command_says(*arguments: str) -> str:
    """What the command writes to standard error."""
    if COMMAND is None:
        pytest.skip("the command tcplab is not installed")
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done
    return done.stderr


def words(text: str) -> str:
    """The words of a message without its frame and line breaks."""
    for mark in "│╭╰─·┬▲×x|,.-`^:'\"├╯┴":
        text = text.replace(mark, " ")
    return " ".join(text.split())


def test_a_scenario_with_mistakes_has_the_message_of_the_command(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = upload().toml.replace('upload = "300 kB"', 'uplaod = "300 kB"')
    text = text.replace('delay = "10 ms"', 'delay = "10 mss"')
    file.write_text(text)
    with pytest.raises(tcplab.ScenarioError) as caught:
        tcplab.Scenario(file)
    error = caught.value
    assert isinstance(error, tcplab.TcplabError)
    lines = text.splitlines()
    mistakes = {error.line, *(line for line, _ in error.others)}
    assert any("uplaod" in lines[line - 1] for line in mistakes)
    assert any("10 mss" in lines[line - 1] for line in mistakes)
    assert error.remedy
    said = command_says("run", str(file), "--dry-run")
    assert "uplaod" in str(error)
    assert words(str(error)).split()[:12] == words(said).split()[:12]


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (lambda place: tcplab.trace(place / "absent.pcap"), ["trace", "absent.pcap"]),
        (lambda place: tcplab.trace(place / "text.pcap"), ["trace", "text.pcap"]),
        (lambda place: tcplab.trace(place / "good.pcapng", "prt 5"),
         ["trace", "good.pcapng", "--filter", "prt 5"]),
        (lambda place: tcplab.Run.open(place / "absent"), ["report", "absent"]),
        (lambda place: tcplab.path("nosuchpath"), ["path", "show", "nosuchpath"]),
        (lambda place: tcplab.advise(path="nosuchpath", trials=0),
         ["advise", "--path", "nosuchpath", "--no-trials"]),
    ],
)  # fmt: skip
def test_an_exception_has_the_message_of_the_command(
    call: Callable[[Path], Any],
    arguments: list[str],
    tmp_path: Path,
    trial: tcplab.Trial,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "text.pcap").write_text("this is no capture " * 9)
    (tmp_path / "good.pcapng").write_bytes(Path(trial.directory, "client.pcapng").read_bytes())
    monkeypatch.chdir(tmp_path)
    with pytest.raises(tcplab.TcplabError) as caught:
        call(Path())
    said = command_says(*arguments)
    first = str(caught.value).splitlines()[0]
    assert words(first) in words(said.removeprefix("error: ")), (str(caught.value), said)
    if arguments == ["trace", "text.pcap"]:
        assert "\n  try: pass a pcap, pcapng, " in str(caught.value)


FULL = """
import resource, signal, tcplab
from facade import upload
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))
scenario = upload(matrix={"workload.upload": ["1 kB", "90 MB"]}, recording={"keep": "all"})
try:
    tcplab.run(scenario, world="sim", seed=SEED, jobs=1, directory="my runs", progress=False)
except tcplab.TcplabError as error:
    print(error)
"""


def test_run_that_breaks_off_names_the_command_that_goes_on(tmp_path: Path) -> None:
    # This seed begins with the case that a file of this size holds.
    program = FULL.replace("SEED", "2")
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    (directory,) = (tmp_path / "my runs" / "upload").iterdir()
    remedy = f"resume with `tcplab run --resume 'my runs/upload/{directory.name}'`"
    assert f"finished trials are kept ({remedy}): " in done.stdout, done


BAD: list[Callable[[], Any]] = [
    lambda: tcplab.Scenario("no/such/scenario"),
    lambda: tcplab.Scenario(""),
    lambda: tcplab.Scenario("title = 1\n"),
    lambda: tcplab.Scenario.from_toml(""),
    lambda: tcplab.Scenario.from_toml("title = \x00"),
    lambda: tcplab.Scenario.from_toml(upload().toml, name="../out"),
    lambda: tcplab.Scenario.from_toml("[" * 100_000),
    lambda: tcplab.Scenario.from_dict({}),
    lambda: upload(repeat={"trials": -1}),
    lambda: upload(repeat={"trials": 10**30}),
    lambda: upload(path={"rate": "1 Mbit/s", "delay": "-1 s"}),
    lambda: tcplab.simulate(upload(), case="absent"),
    lambda: tcplab.simulate(upload(), number=0),
    lambda: tcplab.run(upload(), world="nowhere", directory="/proc/absent", progress=False),
    lambda: tcplab.run(upload(), world="sim", directory="/proc/absent", progress=False),
    lambda: tcplab.run(upload(), world="sim", cases=["absent"], progress=False),
    lambda: tcplab.trace([]),
    lambda: tcplab.trace(""),
    lambda: tcplab.trace("/"),
    lambda: tcplab.trace("/dev/null"),
    lambda: tcplab.path({"rate": "fast"}),
    lambda: tcplab.path("lte", seconds=-1.0),
    lambda: tcplab.Run.open("/"),
]


@pytest.mark.parametrize("call", BAD, ids=range(len(BAD)))
def test_bad_input_is_an_error_of_tcplab(
    call: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(tcplab.TcplabError) as caught:
        call()
    text = str(caught.value)
    assert text.strip()
    assert "panic" not in text
    assert "a fault of tcplab" not in text


@pytest.mark.parametrize(
    "call",
    [
        lambda trial: trial.table("absent"),
        lambda trial: trial.packets("middle"),
        lambda trial: trial.trace("middle"),
        lambda trial: trial.packets().write("packets.xml"),
        lambda trial: trial.packets().write("/proc/absent/packets.csv"),
        lambda trial: trial.trace().table("absent"),
        lambda trial: trial.trace().connection(7),
        lambda trial: trial.trace().ladder(7),
        lambda trial: trial.trace().time_sequence(7),
        lambda trial: trial.trace().save_page("/proc/absent/page.html"),
    ],
)
def test_bad_questions_to_a_trial_are_errors(
    call: Callable[[tcplab.Trial], Any], trial: tcplab.Trial
) -> None:
    with pytest.raises(tcplab.TcplabError) as caught:
        call(trial)
    assert "a fault of tcplab" not in str(caught.value)


@pytest.mark.parametrize("number", [-1, 2**70])
def test_numbers_out_of_range_are_errors_of_python(number: int, trial: tcplab.Trial) -> None:
    for call in (trial.trace().connection, lambda n: tcplab.simulate(upload(), seed=n)):
        with pytest.raises(tcplab.TcplabError, match=f"={number}: pass"):
            call(number)


@pytest.mark.parametrize(
    "call",
    [
        lambda trial: trial.trace().ladder(0, most=-5),
        lambda trial: trial.trace().time_sequence(-1),
        lambda trial: trial.packets().rows(-1),
        lambda trial: trial.packets().rows(1, first=-1),
        lambda trial: tcplab.simulate(upload(), number=-1),
        lambda trial: tcplab.simulate(upload(), number=2**40),
        lambda trial: tcplab.run(upload(), jobs=0, world="sim"),
        lambda trial: tcplab.run(upload(), trials=-3, world="sim"),
        lambda trial: tcplab.run(upload(), seed=-1, world="sim"),
        lambda trial: tcplab.sweep(upload(), "place", on=0),
        lambda trial: tcplab.sweep(upload(), "place", seed=-1),
        lambda trial: tcplab.advise(rtt="10 ms", rate="1 Mbit/s", trials=-3),
    ],
)
def test_numbers_that_mean_nothing_are_errors(
    call: Callable[[tcplab.Trial], Any],
    trial: tcplab.Trial,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(tcplab.TcplabError, match=r"=-?\d+: pass \d+ .*or (more|less)"):
        call(trial)
    assert not list(tmp_path.glob("runs/*"))


@pytest.mark.parametrize(
    "call",
    [
        lambda trial: tcplab.trace(trial.trace().files, tables="segments"),
        lambda trial: tcplab.run(upload(), cases="upload", world="sim"),
        lambda trial: tcplab.sweep(upload(), "place", tables="trials"),
        lambda trial: tcplab.archive(trial.trace().files, "place", tables="connections"),
    ],
)
def test_one_text_is_no_list(
    call: Callable[[tcplab.Trial], Any],
    trial: tcplab.Trial,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TypeError, match=r"(tables|cases): pass a list, such as \['"):
        call(trial)


def test_an_address_of_no_engine_is_said(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="on='nix://x' is no engine: pass a Dask client"):
        tcplab.sweep(upload(), tmp_path / "place", on="nix://x")


def test_values_that_no_scenario_has_are_refused() -> None:
    for value in (float("nan"), object(), {1, 2}, b"bytes", 1j):
        with pytest.raises(TypeError, match="trials"):
            upload().with_({"repeat.trials": value})


def test_a_package_that_is_missing_is_named_with_the_way_to_install_it(
    trial: tcplab.Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("polars", "pandas", "pyarrow", "matplotlib"):
        for known in [it for it in sys.modules if it == name or it.startswith(name + ".")]:
            monkeypatch.delitem(sys.modules, known)
        monkeypatch.setitem(sys.modules, name, None)
    table = trial.packets()
    with pytest.raises(ImportError, match=r"pip install 'tcplab\[polars\]'"):
        table.to_polars()
    with pytest.raises(ImportError, match=r"pip install 'tcplab\[pandas\]'"):
        table.to_pandas()
    with pytest.raises(ImportError, match=r"pip install 'tcplab\[arrow\]'"):
        table.to_arrow()
    with pytest.raises(ImportError, match=r"pip install 'tcplab\[plot\]'"):
        tcplab.plot.window(trial)


def test_a_command_that_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TCPLAB", "/no/such/command")
    with pytest.raises(tcplab.TcplabError, match="cannot run /no/such/command"):
        tcplab.advise(rtt="10 ms", rate="1 Mbit/s", trials=0)


def test_a_name_that_does_not_exist_is_said() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        tcplab.nothing  # noqa: B018
    assert set(dir(tcplab)) >= {"Scenario", "run", "trace"}
    assert sections()["title"]

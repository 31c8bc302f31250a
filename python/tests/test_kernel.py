"""Kernels in virtual time from Python: which one the stack `linux` is, and what runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from facade import lossy, upload

import tcplab
from tcplab import _commands, _core

LINUX = lossy().with_({"client.stack": "linux", "server.stack": "linux"})
COMMAND = _commands.find_command()
KERNEL, IMAGES = _core.kernels(LINUX._inner, [], "newest")

needs_kernel = pytest.mark.skipif(
    KERNEL == "model" or COMMAND is None, reason="no kernel was built: make kernel"
)


def transfer_times(given: tcplab.Run | tcplab.Dataset) -> list[float]:
    table = given.trials.to_arrow().to_pydict()
    rows = zip(table["case"], table["trial"], table["transfer_time_seconds"], strict=True)
    return [seconds for _case, _trial, seconds in sorted(rows)]


@pytest.mark.parametrize("stack", ["linux", "linux-newest"])
def test_without_a_kernel_linux_is_a_model(
    stack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = upload(client={"stack": stack}, server={"stack": stack})
    monkeypatch.setenv("TCPLAB_KERNELS", str(tmp_path))
    monkeypatch.setenv("TCPLAB", str(tmp_path / "absent"))
    model = tcplab.simulate(upload()).metrics["transfer_time"]
    assert tcplab.simulate(scenario).metrics["transfer_time"] == model
    assert _core.kernels(scenario._inner, [], "newest") == ("model", {})


@pytest.mark.parametrize("kernel", ["9.99", "linux-9.99"])
def test_kernel_that_was_not_built_is_refused(
    kernel: str, tmp_path: Path, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TCPLAB_KERNELS", str(tmp_path / "none"))
    for call in (
        lambda: tcplab.simulate(LINUX, kernel=kernel),
        lambda: tcplab.run(LINUX, kernel=kernel, directory=tmp_path, progress=False),
        lambda: tcplab.sweep(LINUX, tmp_path / "place", on=threads, kernel=kernel),
    ):
        with pytest.raises(tcplab.TcplabError, match=r"9\.99"):
            call()
    assert not (tmp_path / "place").exists()


def test_kernel_that_is_named_asks_for_virtual_time(tmp_path: Path) -> None:
    run = tcplab.run(LINUX, kernel="model", directory=tmp_path, progress=False, report=False)
    assert run.json["world"] == "sim"
    assert set(dict(LINUX._inner.worlds("model")).values()) == {"sim"}
    assert set(LINUX.worlds.values()) == {"kernel"}


@needs_kernel
def test_linux_is_the_newest_kernel_in_virtual_time(
    tmp_path: Path, threads: ThreadPoolExecutor
) -> None:
    run = tcplab.run(LINUX, world="sim", directory=tmp_path, progress=False, report=False)
    assert f"{IMAGES['newest']}" in (run.directory / "environment.json").read_text()
    seconds = transfer_times(run)
    model = tcplab.simulate(LINUX, kernel="model")
    assert model.metrics["transfer_time"] == tcplab.simulate(lossy()).metrics["transfer_time"]
    assert seconds[0] != model.metrics["transfer_time"]
    for kernel in "newest", KERNEL, f"linux-{KERNEL}":
        assert tcplab.simulate(LINUX, kernel=kernel).metrics["transfer_time"] == seconds[0]
    swept = tcplab.run(LINUX, world="sim", directory=tmp_path, on=threads, progress=False)
    assert (transfer_times(swept), swept.failures) == (seconds, [])
    assert swept.plan["kernels"] == IMAGES


@needs_kernel
def test_kernel_that_a_scenario_names_runs_in_sweeps_and_single_trials(
    tmp_path: Path, threads: ThreadPoolExecutor
) -> None:
    named = {"stack": f"linux-{KERNEL}"}
    scenario = upload(client=named, server=named)
    run = tcplab.run(scenario, directory=tmp_path, progress=False, report=False)
    swept = tcplab.sweep(scenario, tmp_path / "place", on=threads, progress=False)
    assert swept.failures == []
    assert transfer_times(swept) == transfer_times(run)
    assert tcplab.simulate(scenario).metrics["transfer_time"] == transfer_times(run)[0]
    assert swept.plan["kernels"] == {f"linux-{KERNEL}": IMAGES["newest"]}


@needs_kernel
def test_kernel_without_the_command_says_how_to_find_it(tmp_path: Path) -> None:
    program = "import tcplab, test_kernel as it\n"
    program += "it._commands.shutil.which = lambda *_, **__: None\n"
    program += "try: tcplab.simulate(it.LINUX)\nexcept tcplab.TcplabError as error: print(error)"
    environment = {name: value for name, value in os.environ.items() if name != "TCPLAB"}
    for given, said in (
        ({}, "no command `tcplab`, which runs trials on kernels, beside this interpreter"),
        ({"TCPLAB": str(tmp_path / "absent")}, f"is not at {tmp_path}/absent; set TCPLAB to"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**environment, **given},
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
        )
        assert said in done.stdout, done

"""Ctrl-C ends simulate and trace at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from facade import upload

import tcplab

GENEROUS = 2.0
"""Seconds. What is printed is usually far below 0.2 s; a loaded machine may take longer."""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


def ends_after(code: str, *arguments: str, within: float = GENEROUS) -> float:
    """Runs a program, sends it SIGINT while it works, and measures until it has ended."""
    program = textwrap.dedent(code)
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.4)
        assert process.poll() is None, "it was done before Ctrl-C"
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        said = process.stdout.readline()
        took = time.monotonic() - began
        process.wait(timeout=20)
    assert said == "KeyboardInterrupt\n", said
    print(f"ended {took * 1000:.0f} ms after Ctrl-C")
    assert took < within
    return took


def test_ctrl_c_ends_a_simulation() -> None:
    ends_after("""
        import tcplab
        endpoint = {"stack": "model:linux-6.18"}
        scenario = tcplab.Scenario.from_dict({
            "title": "A long upload",
            "path": {"rate": "1 Gbit/s", "delay": "5 ms", "loss": 0.0001},
            "client": endpoint, "server": endpoint,
            "workload": {"upload": "4 GB"},
        })
        print("ready", flush=True)
        try:
            tcplab.simulate(scenario)
        except KeyboardInterrupt:
            print("KeyboardInterrupt", flush=True)
        """)


def test_ctrl_c_ends_a_run(tmp_path: Path) -> None:
    ends_after(
        """
        import sys, tcplab
        print("ready", flush=True)
        try:
            tcplab.run("interruption", world="sim", directory=sys.argv[1])
        except KeyboardInterrupt:
            print("KeyboardInterrupt", flush=True)
        """,
        str(tmp_path),
    )


def test_ctrl_c_ends_a_trace(tmp_path: Path) -> None:
    scenario = upload(workload={"upload": "30 MB"}, path={"rate": "1 Gbit/s", "delay": "1 ms"})
    trial = tcplab.simulate(scenario)
    capture = Path(trial.directory, "client.pcapng")
    large = tmp_path / "large.pcapng"
    with large.open("wb") as file:
        for _ in range(12):
            file.write(capture.read_bytes())
    ends_after(
        """
        import sys, tcplab
        print("ready", flush=True)
        try:
            while True:
                tcplab.trace([sys.argv[1]] * 3).segments
        except KeyboardInterrupt:
            print("KeyboardInterrupt", flush=True)
        """,
        str(large),
    )


def test_ctrl_c_ends_the_writing_of_a_table(tmp_path: Path) -> None:
    scenario = upload(workload={"upload": "60 MB"}, path={"rate": "1 Gbit/s", "delay": "1 ms"})
    trial = tcplab.simulate(scenario)
    capture = Path(trial.directory, "client.pcapng")
    out, whole = tmp_path / "out.csv", tmp_path / "whole.csv"
    tcplab.trace(capture).segments.write(whole)
    ends_after(
        """
        import sys, tcplab
        table = tcplab.trace(sys.argv[1]).segments
        print("ready", flush=True)
        try:
            while True:
                table.write(sys.argv[2])
        except KeyboardInterrupt:
            print("KeyboardInterrupt", flush=True)
        """,
        str(capture),
        str(out),
    )
    # Ctrl-C may come when one is finished.
    assert not out.exists() or out.read_bytes() == whole.read_bytes()

"""What a killed process left in memory is removed by the next one."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("tcplab._core", reason="the compiled part is not built: make python")

import tcplab


def test_directories_of_killed_processes_go_and_others_stay() -> None:
    place = "/dev/shm" if os.path.isdir("/dev/shm") else None
    left, held, young = (
        Path(tempfile.mkdtemp(prefix="tcplab-trial-", dir=place)) for _ in range(3)
    )
    (left / "run").mkdir()
    lock = os.open(held, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for old in (left, held):
            os.utime(old, (1, 1))
        trial = tcplab.simulate("interruption", case="reno_50ms")
        assert not left.exists()
        assert held.exists() and young.exists()
        own = Path(trial.directory)
        assert own.exists()
        del trial
        assert not own.exists()
    finally:
        os.close(lock)
        held.rmdir()
        young.rmdir()


def test_an_interpreter_that_ends_leaves_no_recording() -> None:
    # A module that lives to the end keeps the trial: nothing drops it.
    program = "import sys, tcplab; sys.kept = tcplab.simulate('interruption', case='reno_50ms'); "
    program += "print(sys.kept.directory)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "tcplab-trial-" in done.stdout
    assert not Path(done.stdout.strip()).exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_forked_process_leaves_the_recordings_of_its_parent() -> None:
    program = """
import os, sys, tcplab
from facade import upload
trial = tcplab.simulate(upload())
child = os.fork()
if child == 0:
    del trial
    sys.exit()
assert os.waitpid(child, 0)[1] == 0
assert len(trial.packets()) > 100
print(trial.directory)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not os.path.exists(done.stdout.strip())

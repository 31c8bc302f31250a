"""What goes to other processes and comes back, and what says why it does not."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import facade  # noqa: F401 - skips where the compiled part is missing
import pytest

import tcplab


def test_run_is_opened_again_wherever_it_goes(
    run: tcplab.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run.directory.parent)
    relative = tcplab.Run.open(run.directory.name)
    bytes_of = pickle.dumps(relative)
    monkeypatch.chdir(tmp_path)
    again = pickle.loads(bytes_of)
    assert again.directory == run.directory.absolute()
    assert again.trials.rows() == run.trials.rows()
    # Not what it has read.
    assert len(bytes_of) < 1000


def test_processes_return_runs_and_tables(run: tcplab.Run) -> None:
    with ProcessPoolExecutor(1) as pool:
        (opened,) = pool.map(tcplab.Run.open, [run.directory])
        (table,) = pool.map(tcplab.Run.table, [run], ["metrics"])
    assert opened.json == run.json
    assert table.rows() == run.metrics.rows()


@pytest.mark.parametrize("name", ["client/segments", "samples", "path", "client/findings"])
def test_table_keeps_rows_columns_and_metadata(name: str, trial: tcplab.Trial) -> None:
    table = trial.table(name)
    for again in (pickle.loads(pickle.dumps(table)), copy.deepcopy(table)):
        assert again.name == name
        assert again.columns == table.columns
        assert again.metadata == table.metadata
        assert again.rows() == table.rows()
        assert again.to_arrow().equals(table.to_arrow(), check_metadata=True)


def test_trial_and_trace_say_what_to_return(trial: tcplab.Trial) -> None:
    with pytest.raises(TypeError, match=r"return its \.metrics, \.json or tables"):
        pickle.dumps(trial)
    with pytest.raises(TypeError, match="return its tables"):
        pickle.dumps(trial.trace())
    assert copy.copy(trial).metrics == trial.metrics

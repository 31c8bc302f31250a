"""The notebooks run, each in a minute at most, and are committed without outputs."""

from __future__ import annotations

import json
import time
from pathlib import Path

import facade  # noqa: F401 - skips where the compiled part is missing
import pytest

PLACE = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(PLACE.glob("*.ipynb"))
GENEROUS = 300
"""Seconds. Each takes less than 60 on two cores; a loaded machine may take longer."""


def test_there_are_five() -> None:
    if not PLACE.is_dir():
        pytest.skip("the notebooks are not beside the package")
    assert len(NOTEBOOKS) == 5


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_without_outputs(notebook: Path) -> None:
    for cell in json.loads(notebook.read_text())["cells"]:
        assert not cell.get("outputs"), f"{notebook.name}: clear all outputs before a commit"
        assert cell.get("execution_count") is None


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path, tmp_path: Path) -> None:
    client = pytest.importorskip("nbclient")
    formats = pytest.importorskip("nbformat")
    for package in ("ipykernel", "pandas", "polars", "pyarrow", "duckdb", "matplotlib"):
        pytest.importorskip(package)
    book = formats.read(notebook, as_version=4)
    began = time.monotonic()
    resources = {"metadata": {"path": str(tmp_path)}}
    executor = client.NotebookClient(
        book, timeout=GENEROUS, kernel_name="python3", resources=resources
    )
    executor.execute()
    print(f"{notebook.stem}: {time.monotonic() - began:.1f} s")
    for cell in book.cells:
        for output in cell.get("outputs", ()):
            assert output.output_type != "error"

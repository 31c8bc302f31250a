"""The notebooks run, each in a minute at most, and are committed without outputs."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from statistics import median
from typing import Any

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
    # It may have run here before.
    (tmp_path / "captures").mkdir()
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
    if notebook.stem == "a-thousand-captures":
        outputs = [str(cell.get("outputs", "")) for cell in book.cells]
        worst = [found for text in outputs for found in re.findall(r"trace \S*/(\S+) -c", text)][0]
        assert any(f"<Trace of {worst}:" in text for text in outputs)


def test_the_goodputs_that_a_notebook_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = next((it for it in NOTEBOOKS if it.stem.startswith("which-congestion")), None)
    if notebook is None:
        pytest.skip("the notebooks are not beside the package")
    cells = json.loads(notebook.read_text())["cells"]
    codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for code in codes:
        exec(code, names)
        if "run" in names:
            break
    line = 20.0  # Mbit/s
    for loss in ("0 %", "0.1 %"):
        rates: dict[str, list[float]] = {}
        for row in names["run"].trials:
            if row["path_loss_label"] == loss:
                control = row["client_socket_congestion"]
                rates.setdefault(control, []).append(row["goodput_mbit_per_second"] / line)
        assert set(rates) == {"reno", "cubic", "bbr", "westwood"}
        for control, shares in rates.items():
            expected = 0.5 if control == "westwood" else 0.75
            assert median(shares) == pytest.approx(expected, abs=0.05), (control, loss)
    prose = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    assert "Reno, CUBIC and BBR carry 2 MB at three quarters of this line's rate" in prose

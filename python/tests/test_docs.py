"""The examples in the guide, and how long an import takes. Pytest runs those in docstrings."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path

import facade  # noqa: F401 - skips where the compiled part is missing
import pytest

import tcplab

GUIDE = Path(__file__).parents[2] / "docs" / "python.md"


def test_examples_of_the_guide_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not GUIDE.is_file():
        pytest.skip("the guide is not beside the package")
    for package in ("pandas", "polars", "pyarrow", "duckdb", "matplotlib"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    sys.modules["matplotlib"].use("Agg")
    result = doctest.testfile(str(GUIDE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.attempted > 10
    assert result.failed == 0


def test_every_public_name_has_a_docstring() -> None:
    for name in tcplab.__all__:
        assert name == "__version__" or getattr(tcplab, name).__doc__, name


def test_an_import_takes_at_most_50_ms() -> None:
    code = "import time; at = time.perf_counter(); import tcplab; print(time.perf_counter() - at)"
    took = min(
        float(subprocess.check_output([sys.executable, "-c", code], text=True)) for _ in range(5)
    )
    print(f"import tcplab: {took * 1000:.1f} ms")
    assert took < 0.05


def test_an_import_brings_no_other_package() -> None:
    code = "import sys, tcplab; print(sorted(it.partition('.')[0] for it in sys.modules))"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True)
    for name in ("numpy", "pandas", "polars", "pyarrow", "matplotlib", "dask", "ray"):
        assert f"'{name}'" not in loaded

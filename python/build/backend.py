"""Builds the package: maturin's backend, with the `tcplab` command beside the library.

The wheel has the command as a program of its own, since trials on kernels start it. It is for Linux
alone: elsewhere the wheel is without it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import maturin

ROOT = Path(__file__).resolve().parents[2]
# `target/wheel-data/tcplab.data/scripts/tcplab` becomes a program on PATH.
SCRIPTS = ROOT / "target" / "wheel-data" / "tcplab.data" / "scripts"

get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
get_requires_for_build_sdist = maturin.get_requires_for_build_sdist
prepare_metadata_for_build_wheel = maturin.prepare_metadata_for_build_wheel


def _put_command() -> None:
    """Compiles the command, which only Linux has, and puts it where maturin takes it from."""
    if sys.platform != "linux":
        shutil.rmtree(SCRIPTS, ignore_errors=True)
        SCRIPTS.mkdir(parents=True)
        return
    # The same flags as maturin's, so that crates are compiled once.
    subprocess.run(
        ["cargo", "build", "--locked", "--release", "--package", "tcplab"], cwd=ROOT, check=True
    )
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    place = SCRIPTS / "tcplab"
    shutil.copy2(target / "release" / "tcplab", place)
    # Without what only a debugger reads; a machine without `strip` gets the larger program.
    if shutil.which("strip"):
        subprocess.run(["strip", "--strip-debug", str(place)], check=True)


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Builds the wheel; see PEP 517."""
    _put_command()
    name: str = maturin.build_wheel(wheel_directory, config_settings, metadata_directory)
    return name


def build_editable(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Builds what `pip install -e` installs; see PEP 660."""
    _put_command()
    name: str = maturin.build_editable(wheel_directory, config_settings, metadata_directory)
    return name


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """Builds the source package; see PEP 517."""
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    name: str = maturin.build_sdist(sdist_directory, config_settings)
    return name

"""Packages that tcplab uses and does not require."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_EXTRA_OF = {
    "dask": "dask",
    "distributed": "dask",
    "fsspec": "remote",
    "matplotlib": "plot",
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "arrow",
    "ray": "ray",
}


class MissingPackageError(ImportError):
    """A package is not installed that this call needs; the message says how to install it."""


def require(module: str, what: str) -> Any:
    """Imports a package that is not required by tcplab.

    Args:
        module: Its name, as in an import.
        what: What needs it, to begin the message with.

    Returns:
        The module.

    Raises:
        MissingPackageError: It is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        extra = _EXTRA_OF.get(package)
        wanted = package if extra is None else f"'tcplab[{extra}]'"
        message = f"{what} needs {package}, which cannot be imported ({error})."
        message += f" Install it: pip install {wanted}"
        raise MissingPackageError(message, name=package) from error

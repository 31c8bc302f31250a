"""A laboratory for TCP: experiments, captures and figures from Python.

From a scenario or a capture to a data frame:

>>> import tcplab
>>> trial = tcplab.simulate("interruption", case="reno_1550ms")
>>> len(trial.trace("client").connections)
1

The same compiled code runs below as in the command `tcplab`. Nothing is imported before it is
used: neither the compiled part nor pandas, polars, pyarrow, matplotlib or a cluster's library.
"""

from __future__ import annotations

TYPE_CHECKING = False
"""As in `typing`, whose import would take longer than all the rest."""

if TYPE_CHECKING:
    from typing import Any

    from tcplab import plot as plot
    from tcplab._archive import archive as archive
    from tcplab._archive import trace_many as trace_many
    from tcplab._commands import CommandResult as CommandResult
    from tcplab._commands import advise as advise
    from tcplab._commands import rfc6349 as rfc6349
    from tcplab._comparison import Comparison as Comparison
    from tcplab._core import ScenarioError as ScenarioError
    from tcplab._core import TcplabError as TcplabError
    from tcplab._core import __version__ as __version__
    from tcplab._dataset import Dataset as Dataset
    from tcplab._path import PathPicture as PathPicture
    from tcplab._path import path as path
    from tcplab._records import Records as Records
    from tcplab._run import Run as Run
    from tcplab._run import run as run
    from tcplab._scenario import Case as Case
    from tcplab._scenario import Scenario as Scenario
    from tcplab._scenario import scenarios as scenarios
    from tcplab._svg import Svg as Svg
    from tcplab._sweep import sweep as sweep
    from tcplab._table import Column as Column
    from tcplab._table import Table as Table
    from tcplab._trace import Trace as Trace
    from tcplab._trace import trace as trace
    from tcplab._trial import Trial as Trial
    from tcplab._trial import simulate as simulate

_HOME = {
    "Case": "_scenario",
    "Column": "_table",
    "CommandResult": "_commands",
    "Comparison": "_comparison",
    "Dataset": "_dataset",
    "PathPicture": "_path",
    "Records": "_records",
    "Run": "_run",
    "Scenario": "_scenario",
    "ScenarioError": "_core",
    "Svg": "_svg",
    "Table": "_table",
    "TcplabError": "_core",
    "Trace": "_trace",
    "Trial": "_trial",
    "__version__": "_core",
    "advise": "_commands",
    "archive": "_archive",
    "path": "_path",
    "rfc6349": "_commands",
    "run": "_run",
    "scenarios": "_scenario",
    "simulate": "_trial",
    "sweep": "_sweep",
    "trace": "_trace",
    "trace_many": "_archive",
}

__all__ = [
    "Case",
    "Column",
    "CommandResult",
    "Comparison",
    "Dataset",
    "PathPicture",
    "Records",
    "Run",
    "Scenario",
    "ScenarioError",
    "Svg",
    "Table",
    "TcplabError",
    "Trace",
    "Trial",
    "__version__",
    "advise",
    "archive",
    "path",
    "plot",
    "rfc6349",
    "run",
    "scenarios",
    "simulate",
    "sweep",
    "trace",
    "trace_many",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "plot":
        return import_module("tcplab.plot")
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'tcplab' has no attribute {name!r}")
    value = getattr(import_module(f"tcplab.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

"""The commands `tcplab sweep` and `tcplab archive`: `python -m tcplab.commands sweep …`.

Exit codes: 0 success, 2 the command could not do its work, a trial failed, or a task failed on
each attempt, 130 Ctrl-C stopped it (128 + N: signal N).
"""

from __future__ import annotations

import argparse
import io
import json
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tcplab import _core
from tcplab._core import TcplabError
from tcplab._dataset import Failure, trial_failures_of
from tcplab._html import visible
from tcplab._meter import counted

__all__ = ["main"]

ERROR = 2

SHOWN = 5
"""So many failures are told one by one."""


class Stopped(KeyboardInterrupt):
    """A signal stopped the command: as Ctrl-C, with another exit code."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command.

    Args:
        arguments: Those of the command line, by default of this process.

    Returns:
        The exit code.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    # As in all of tcplab, the file follows `=`, so that `--json` alone takes no argument.
    given = ["--json=-" if it == "--json" else it for it in given]
    try:
        options = _parser().parse_args(given)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else ERROR
    try:
        _hear_interrupts()
        _spare_inputs(options)
        code: int = options.run(options)
        return code
    except KeyboardInterrupt as stopped:
        place = options.output
        print(f"\nstopped; the same command continues in {place}", file=sys.stderr)
        return getattr(stopped, "code", 128 + signal.SIGINT)
    except (TcplabError, ImportError, OSError, ValueError, TypeError) as error:
        _tell(str(error))
        return ERROR


def _spare_inputs(options: argparse.Namespace) -> None:
    """Refuses to write JSON in place of a scenario or a capture."""
    file = Path(options.json or "-")
    if not file.is_file():
        return
    inputs = [getattr(options, "scenario", ""), *getattr(options, "captures", ())]
    if _core.may_be_capture(file) or any(_is_same(file, Path(it)) for it in inputs):
        raise TcplabError(f"--json would overwrite the input {file}: choose another file")


def _is_same(file: Path, other: Path) -> bool:
    return other.is_file() and file.samefile(other)


def _stop_on_signals() -> None:
    """Lets signals end the command as Ctrl-C does."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # What ignores a signal, such as nohup, wants it ignored.
        if number and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _stop)


def _hear_interrupts() -> None:
    """From here on Ctrl-C counts, also one that came since `tcplab` began: it held them back."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _stop(number: int, frame: object) -> None:
    """Ends the command once; a second signal ends it at once."""
    signal.signal(number, signal.SIG_DFL)
    raise Stopped(number)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tcplab", description="A laboratory for TCP, on clusters")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    sweep = commands.add_parser(
        "sweep",
        help="run an experiment's trials on many machines",
        description="Run an experiment's trials on many machines, and keep their rows as Parquet",
    )
    sweep.set_defaults(run=_sweep)
    sweep.add_argument("scenario", metavar="SCENARIO", help="a built-in experiment, or a file")
    _add_common(sweep, "trials,episodes")
    sweep.add_argument(
        "--world", choices=("auto", "kernel", "sim"), default="sim", help="the world to run in"
    )
    sweep.add_argument(
        "--kernel", metavar="NAME", default="newest", help="what `linux` is in virtual time"
    )
    sweep.add_argument("--trials", type=_count, metavar="N", help="trials of each case")
    sweep.add_argument("--seed", type=_seed, metavar="N", help="override the scenario's seed")
    sweep.add_argument(
        "--per-task",
        type=_count,
        metavar="N",
        help="trials of a task [default: as before, else for about a second]",
    )
    archive = commands.add_parser(
        "archive",
        help="explain many captures on many machines",
        description="Explain many captures on many machines, keep the results as Parquet, and sum "
        "them up",
    )
    archive.set_defaults(run=_archive)
    archive.add_argument(
        "captures", metavar="CAPTURE", nargs="+", help="files, directories, patterns or URLs"
    )
    _add_common(archive, "connections,findings,stalls,episodes")
    archive.add_argument("--filter", metavar="EXPRESSION", help="analyse only matching packets")
    archive.add_argument(
        "--shards", type=_count, metavar="N", help="tasks for each capture [default: by its size]"
    )
    return parser


def _add_common(parser: argparse.ArgumentParser, tables: str) -> None:
    parser.add_argument(
        "-o", "--output", metavar="PLACE", required=True, help="a directory, or a URL (s3://…)"
    )
    engine = parser.add_mutually_exclusive_group()
    engine.add_argument(
        "--dask", metavar="ADDRESS", help="a Dask scheduler, such as tcp://head:8786"
    )
    engine.add_argument("--ray", metavar="ADDRESS", help="a Ray cluster: ray://…, auto, or ray")
    engine.add_argument(
        "-j",
        "--jobs",
        type=_count,
        metavar="N",
        help="local processes [default: one per processor]",
    )
    parser.add_argument(
        "--tables", type=_names, metavar="NAMES", default=_names(tables), help="tables to keep"
    )
    parser.add_argument(
        "--attempts", type=_count, metavar="N", default=3, help="how often a task is tried"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    parser.add_argument("--json", metavar="FILE", help="print JSON instead of text, or write it")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: use a whole number of 1 or more")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r}: use a whole number of 0 or more")
    return int(text)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _engine(options: argparse.Namespace) -> object:
    """What is meant by `--dask`, `--ray` and `--jobs`."""
    return options.dask or options.ray or options.jobs


def _sweep(options: argparse.Namespace) -> int:
    from tcplab._sweep import sweep

    dataset = sweep(
        options.scenario,
        options.output,
        on=_engine(options),
        trials=options.trials,
        seed=options.seed,
        world=options.world,
        kernel=options.kernel,
        per_task=options.per_task,
        progress=not options.quiet,
        tables=options.tables,
        retries=options.attempts,
    )
    found: dict[str, Any] = {"schema": "tcplab.sweep", "version": 1, "place": dataset.place}
    found |= {"tasks": 0, "rows": dict.fromkeys(dataset.tables, 0), "seconds": 0.0}
    found |= {"attempts": 0, "failed_trials": 0}
    failed_of: dict[str, int] = {}
    trial_failures: list[Failure] = []
    for record in dataset.records:
        found["tasks"] += 1
        for name, rows in record["rows"].items():
            found["rows"][name] += rows
        found["seconds"] = round(found["seconds"] + record["seconds"], 3)
        found["attempts"] += record["attempts"]
        if failed := record.get("failed_trials", 0):
            found["failed_trials"] += failed
            failed_of[record["case"]] = failed_of.get(record["case"], 0) + failed
            trial_failures += trial_failures_of(record)
    failures = dataset.failures
    found["failures"] = [vars(failure) for failure in failures]
    found["trial_failures"] = [vars(failure) for failure in trial_failures]
    counts = found["rows"].items()
    rows = ", ".join(counted(count, name.removesuffix("s")) for name, count in counts)
    text = f"{dataset.place}: {rows} (Parquet, by case)"
    _answer(options, found, text)
    _tell_failures("task", failures)
    _tell_failed_trials(failed_of, trial_failures)
    return ERROR if failures or failed_of else 0


def _tell_failed_trials(failed_of: Mapping[str, int], failures: Sequence[Failure]) -> None:
    """Says how many trials of which cases failed, and of the first ones why."""
    if not failed_of:
        return
    shown = [f"{case}: {number:,}" for case, number in sorted(failed_of.items())]
    shown[SHOWN:] = [f"{len(shown) - SHOWN:,} more cases"] if len(shown) > SHOWN else []
    count = sum(failed_of.values())
    lines = [f"{counted(count, 'trial')} failed ({', '.join(shown)})", *_shown(failures)]
    if count > SHOWN:
        lines.append(f"  and {count - SHOWN:,} more")
    _tell("\n".join(lines))


def _archive(options: argparse.Namespace) -> int:
    from tcplab._archive import archive

    dataset = archive(
        options.captures,
        options.output,
        on=_engine(options),
        filter=options.filter,
        shards=options.shards,
        progress=not options.quiet,
        tables=options.tables,
        retries=options.attempts,
    )
    failures = dataset.failures
    try:
        found = dataset.summary()
    except TcplabError:
        if not failures:
            raise
        raise TcplabError(f"no capture could be read: {failures[0]}") from None
    shown = {
        **found.to_dict(),
        "other_files": len(dataset.passed_over),
        "failures": [vars(failure) for failure in failures],
    }
    _answer(options, shown, str(found))
    _tell_failures("capture", failures)
    return ERROR if failures else 0


def _tell_failures(unit: str, failures: Sequence[Failure]) -> None:
    """Says what failed on each attempt, however quiet the command is."""
    if not failures:
        return
    lines = [f"{counted(len(failures), unit)} failed on each attempt"]
    lines += _shown(failures)
    if len(failures) > SHOWN:
        lines.append(f"  and {len(failures) - SHOWN:,} more: see `_failed` in the place")
    _tell("\n".join(lines))


def _shown(failures: Sequence[Failure]) -> list[str]:
    """A line for each of the first failures."""
    return [f"  {visible(str(failure))}" for failure in failures[:SHOWN]]


def _tell(text: str) -> None:
    print(f"error: {visible(text, one_line=False)}", file=sys.stderr)


def _answer(options: argparse.Namespace, found: dict[str, Any], text: str) -> None:
    """Prints text or JSON, or writes JSON to a file beside the text."""
    document = json.dumps(found, indent=2, ensure_ascii=False)
    if options.json == "-":
        print(document)
        return
    if options.json:
        Path(options.json).write_bytes((document + "\n").encode(errors="backslashreplace"))
    if not options.quiet:
        print(text)


if __name__ == "__main__":
    _stop_on_signals()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A file name that is no UTF-8 has no other form in JSON.
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())

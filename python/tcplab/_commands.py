"""The command `tcplab`, run from Python."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from tcplab import _core, _html
from tcplab._settings import assignments, setting, span, whole


def find_command() -> str | None:
    """The installed command `tcplab`.

    It is looked for beside this interpreter, in the user's scripts, then on PATH; the environment
    variable TCPLAB names another one.

    Returns:
        Its path; none if there is none.
    """
    given = os.environ.get("TCPLAB")
    if given:
        return shutil.which(given) or given
    name = "tcplab.exe" if os.name == "nt" else "tcplab"
    places = [sysconfig.get_path("scripts")]
    user = f"{os.name}_user"
    if sys.platform == "darwin" and sysconfig.get_config_var("PYTHONFRAMEWORK"):
        user = "osx_framework_user"
    if user in sysconfig.get_scheme_names():
        places.append(sysconfig.get_path("scripts", user))
    for place in places:
        found = shutil.which(name, path=place)
        if found:
            return found
    return shutil.which(name)


def command() -> str:
    """The installed command `tcplab`; see `find_command`.

    Raises:
        TcplabError: There is none.
    """
    found = find_command()
    if found is None:
        message = "no command `tcplab` beside this interpreter or on PATH"
        raise _core.TcplabError(f"{message}; install the package, or set TCPLAB to its path")
    return found


class CommandResult(dict[str, Any]):
    """What a command found: its JSON as a dictionary; `str` is the text that it prints."""

    def __init__(self, values: Mapping[str, Any], text: str, title: str) -> None:
        super().__init__(values)
        self.text = text
        self.title = title

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{self.title}>\n{self.text}"

    def _repr_html_(self) -> str:
        return _html.block(_html.heading(self.title), _html.preformatted(self.text))


def run_command(arguments: Sequence[str]) -> str:
    """Runs the command, and ends it on Ctrl-C.

    Args:
        arguments: Its arguments.

    Returns:
        What it printed on its standard output.

    Raises:
        TcplabError: It could not do its work; with its message.
        KeyboardInterrupt: Ctrl-C; the command has ended.
    """
    try:
        process = subprocess.Popen(
            [command(), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise _core.TcplabError(f"cannot run {command()}: {error}") from error
    with process:
        try:
            output, complaint = process.communicate()
        except BaseException:
            _end(process)
            raise
    # 1 is a result, too: a claim or a check failed.
    if process.returncode not in (0, 1):
        raise _core.TcplabError(_message(complaint, process.returncode))
    return output


def _end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT if os.name != "nt" else signal.SIGTERM)
    try:
        process.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def _message(complaint: str, code: int) -> str:
    """The command's message, without the progress before it and the word `error:`."""
    lines = complaint.strip().splitlines()
    starts = [at for at, line in enumerate(lines) if line.startswith(("error: ", "  x "))]
    said = "\n".join(lines[starts[0] :] if starts else lines)
    return said.removeprefix("error: ") or f"tcplab ended with code {code}"


def advise(
    source: str | os.PathLike[str] | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    keys: Mapping[str, Any] | None = None,
    rtt: str | timedelta | None = None,
    rate: str | None = None,
    loss: str | float | None = None,
    queue: str | timedelta | None = None,
    goal: str = "both",
    payload: str | None = None,
    congestion: str | None = None,
    stack: str | None = None,
    trials: int | None = None,
    world: str = "auto",
    directory: str | os.PathLike[str] = "runs",
) -> CommandResult:
    """Recommends settings for a path, and measures their gain: `tcplab advise`.

    >>> import tcplab
    >>> advice = tcplab.advise(rtt="100 ms", rate="50 Mbit/s", loss=0.001, trials=0)
    >>> advice["bdp_bytes"]
    625000

    Args:
        source: A capture of the connection to improve, a run's directory, or a path.
        path: The path by its name or file, instead.
        keys: Keys of that path, such as `{"loss": 0.01}`.
        rtt: RTT of the idle path, such as `"100 ms"`, instead of a path.
        rate: Rate of the bottleneck, such as `"50 Mbit/s"`.
        loss: Random loss: `"0.1 %"`, or the share 0.001.
        queue: Queueing delay of the full queue; default: one RTT.
        goal: `"throughput"`, `"latency"` or `"both"`.
        payload: Payload of a transfer, such as `"20 MB"`.
        congestion: Congestion control of the sender today.
        stack: Also recommend settings for this embedded stack.
        trials: How many trials before and how many with the advice; default 10; 0: only formulas.
        world: `"auto"`, `"kernel"` or `"sim"`.
        directory: Where the trials' runs are stored.

    Returns:
        The advice, as `tcplab advise --json` has it.

    Raises:
        TcplabError: The command could not do its work; with its message.
    """
    arguments = ["--goal", goal, "--world", world, "--runs", os.fspath(directory)]
    arguments += _options(
        {
            "path": path,
            "rtt": rtt,
            "rate": rate,
            "loss": None if loss is None else setting("loss", loss),
            "queue": queue,
            "payload": payload,
            "congestion": congestion,
            "stack": stack,
        }
    )
    arguments += [f"--set={each}" for each in assignments(keys or {})]
    if trials is not None:
        count = whole("trials", trials)
        arguments += ["--trials", str(count)] if count > 0 else ["--no-trials"]
    if source is not None:
        arguments += ["--", os.fspath(source)]
    return _result("advise", arguments)


def rfc6349(
    path: str | os.PathLike[str] | None = None,
    *,
    keys: Mapping[str, Any] | None = None,
    target: str | None = None,
    download: bool = False,
    duration: str | timedelta | None = None,
    trials: int | None = None,
    connections: int | None = None,
    congestion: str | None = None,
    world: str = "auto",
    directory: str | os.PathLike[str] = "runs",
) -> CommandResult:
    """Tests a path by the procedure of RFC 6349: `tcplab rfc6349`.

    Args:
        path: The path by its name or file.
        keys: Keys of that path, such as `{"delay": "20 ms"}`.
        target: Instead, `"ADDRESS:PORT"` of a discard server; the path to it is tested.
        download: Test the direction from server to client.
        duration: Duration of a transfer that fills the path; default 10 s.
        trials: How often each transfer runs; default 1.
        connections: How many connections the last test opens; default 4.
        congestion: Congestion control of the sender.
        world: `"auto"`, `"kernel"` or `"sim"`; of a path, as a target is a real host.
        directory: Where the trials' runs are stored.

    Returns:
        What was measured, as `tcplab rfc6349 --json` has it.

    Raises:
        ValueError: `path`, `keys`, `download` or a `world` is given together with `target`.
        TcplabError: The command could not do its work; with its message.
    """
    arguments = ["--runs", os.fspath(directory)]
    if target is None:
        arguments += ["--world", world]
        if path is None and keys:
            path = "-"
    else:
        of_paths = {
            "path": path is not None,
            "keys": bool(keys),
            "download": download,
            "world": world != "auto",
        }
        for name, is_given in of_paths.items():
            if is_given:
                raise ValueError(f"{name} has no meaning with `target`; leave it out")
    arguments += _options(
        {
            "path": path,
            "target": target,
            "duration": duration,
            "trials": trials,
            "connections": connections,
            "congestion": congestion,
        }
    )
    arguments += [f"--set={each}" for each in assignments(keys or {})]
    if download:
        arguments.append("--download")
    return _result("rfc6349", arguments)


def _options(values: Mapping[str, object]) -> list[str]:
    arguments = []
    for name, value in values.items():
        if value is None:
            continue
        shown = span(value) if isinstance(value, timedelta) else str(value)
        arguments.append(f"--{name}={shown}")
    return arguments


def _result(name: str, arguments: list[str]) -> CommandResult:
    with tempfile.TemporaryDirectory(prefix="tcplab-") as place:
        document = Path(place, "result.json")
        text = run_command([name, f"--json={document}", *arguments])
        values = json.loads(document.read_text(encoding="utf-8"))
    return CommandResult(values, text, f"tcplab {name}")

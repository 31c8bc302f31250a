"""Python's values as the values of scenario files, and keys with dots."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from typing import Any, SupportsIndex

from tcplab import _core

_PROBABILITIES = {
    "bad",
    "ci",
    "corrupt",
    "correlation",
    "duplicate",
    "error",
    "good",
    "loss",
    "mark",
    "mark_threshold",
    "p",
    "probability",
    "r",
    "weight",
}
"""Keys whose values are probabilities or shares. There a number such as 0.01 means 1 %."""


def parse_key(key: str) -> list[str]:
    """The parts of a key with dots, as TOML has them.

    >>> parse_key('server.sysctl."net.ipv4.tcp_rmem"')
    ['server', 'sysctl', 'net.ipv4.tcp_rmem']

    Raises:
        ValueError: A quote is not closed, or a part is empty.
    """
    parts: list[str] = []
    rest = key.strip()
    while True:
        part, rest = _first_part(key, rest)
        parts.append(part)
        if not rest:
            return parts
        if not rest.startswith("."):
            raise ValueError(f"{key!r} is no key: expected a dot before {rest!r}")
        rest = rest[1:].lstrip()


def _first_part(key: str, rest: str) -> tuple[str, str]:
    if rest[:1] in ("'", '"'):
        end = rest.find(rest[0], 1)
        if end < 0:
            raise ValueError(f"{key!r} is no key: a quote is not closed")
        return rest[1:end], rest[end + 1 :].lstrip()
    part, dot, after = rest.partition(".")
    if not part.strip():
        raise ValueError(f"{key!r} is no key: a part of it is empty")
    return part.strip(), dot + after


def join_key(parts: Sequence[str]) -> str:
    """The parts as one key; parts that are no bare key of TOML are in quotes.

    >>> join_key(["server", "sysctl", "net.ipv4.tcp_rmem"])
    'server.sysctl."net.ipv4.tcp_rmem"'
    """
    return ".".join(part if _is_bare(part) else f'"{part}"' for part in parts)


def _is_bare(part: str) -> bool:
    letters = part.replace("_", "").replace("-", "")
    return part.isascii() and (letters.isalnum() or (letters == "" and part != ""))


def whole(name: str, value: SupportsIndex, least: int = 0, most: int = 2**64 - 1) -> int:
    """A whole number that an argument may have.

    >>> whole("jobs", 4, least=1)
    4

    Raises:
        TcplabError: It is out of range.
        TypeError: It is no whole number.
    """
    number = operator.index(value)
    if number < least:
        raise _core.TcplabError(f"{name}={number}: pass {least} or more")
    if number > most:
        raise _core.TcplabError(f"{name}={number}: pass {most} or less")
    return number


def several(name: str, given: Iterable[str]) -> list[str]:
    """The texts of a list; one text alone would be taken for its letters.

    Raises:
        TypeError: It is one text.
    """
    if isinstance(given, str):
        raise TypeError(f"{name}: pass a list, such as [{given!r}]")
    return list(given)


def paths(given: object) -> list[str]:
    """The path or URL that is given, or those of a list.

    >>> paths("a.pcap"), paths([b"a.pcap", "s3://bucket/b.pcap"])
    (['a.pcap'], ['a.pcap', 's3://bucket/b.pcap'])

    Raises:
        TypeError: Something else is given, such as an open file.
    """
    if isinstance(given, (str, bytes, os.PathLike)):
        return [os.fsdecode(given)]
    # An open file would be read as a list of its lines.
    if hasattr(given, "read") or not isinstance(given, Iterable):
        raise TypeError(f"{given!r} is no path: pass a path, or a list of paths")
    found: list[str] = []
    for path in given:
        if not isinstance(path, (str, bytes, os.PathLike)):
            raise TypeError(f"{path!r} is no path: pass paths")
        found.append(os.fsdecode(path))
    return found


def refusal(message: str, remedy: str, line: int = 1) -> _core.ScenarioError:
    """The error of a scenario whose mistake was found before its text was read."""
    error = _core.ScenarioError(message)
    error.line, error.remedy, error.others = line, remedy, []
    return error


def setting(name: str, value: Any) -> Any:
    """A value for a scenario file, from Python's.

    A `timedelta` becomes text such as `"200 ms"`, a path its text, a floating-point number for a
    probability a percentage, a value of numpy Python's own.

    >>> from datetime import timedelta
    >>> setting("loss", 0.003), setting("delay", timedelta(milliseconds=20)), setting("trials", 5)
    ('0.3 %', '20 ms', 5)

    Args:
        name: The last part of the key, which tells probabilities.
        value: A text, number, truth value, `timedelta`, path, list or dictionary.

    Raises:
        ScenarioError: A whole number is too large for a scenario.
        TypeError: A value of this type cannot stand in a scenario.
    """
    if type(value).__name__ == "timedelta64":
        return _nanoseconds(int(value.astype("timedelta64[ns]").astype(int)))
    if hasattr(value, "item") and not isinstance(value, (Mapping, str, bytes)):
        value = _plain(value)
    if isinstance(value, float):
        return _number(name, value)
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            most = 2**63 - 1
            raise refusal(f"{name} = {value} is out of range", f"whole numbers up to {most}")
        return value
    if isinstance(value, timedelta):
        return span(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {str(key): setting(_last(str(key)), each) for key, each in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [setting(name, each) for each in value]
    raise TypeError(f"{name}: a scenario has no value of type {type(value).__name__}")


def _plain(scalar: Any) -> Any:
    """Python's own value of a scalar of numpy."""
    plain = scalar.item()
    if isinstance(plain, float) and not isinstance(scalar, float):
        # One of 32 bits says by its shortest decimal what was meant.
        with suppress(ValueError):
            return float(str(scalar))
    return plain


def span(value: timedelta) -> str:
    """A time as text, exactly; a `Timedelta` of pandas to the nanosecond.

    >>> from datetime import timedelta
    >>> span(timedelta(seconds=2)), span(timedelta(microseconds=1500))
    ('2 s', '1500 us')
    """
    micros = value // timedelta(microseconds=1)
    return _nanoseconds(1000 * micros + getattr(value, "nanoseconds", 0))


def _nanoseconds(count: int) -> str:
    """A time in its largest unit without a fraction."""
    for size, unit in ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")):
        if count % size == 0:
            return f"{count // size} {unit}"
    return f"{count} ns"


def percentage(share: float) -> str:
    """A share as text: 0.001 is 0.1 %. Scenarios have percentages of at most ten decimals.

    >>> percentage(0.001), percentage(1.0), percentage(0.1 + 0.2), percentage(1 / 3000)
    ('0.1 %', '100 %', '30 %', '0.0333333333 %')
    """
    exact = Decimal(repr(float(share))) * 100
    return f"{exact.quantize(Decimal(10) ** -10).normalize():f} %"


def assignments(keys: Mapping[str, Any]) -> list[str]:
    """Keys and values as the command's `--set` has them.

    >>> assignments({"rate": "20 Mbit/s", "loss": 0.01, "forward.wifi": {"stations": 2}})
    ['rate=20 Mbit/s', 'loss=1 %', 'forward.wifi={ "stations" = 2 }']
    """
    made = []
    for key, value in keys.items():
        ready = setting(_last(key), value)
        made.append(f"{key}={ready if isinstance(ready, str) else _toml(ready)}")
    return made


def _toml(value: Any) -> str:
    """A value in TOML: a number, a truth value, a text, or a list or table of such."""
    if isinstance(value, dict):
        pairs = (f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(each) for each in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def _last(key: str) -> str:
    try:
        return parse_key(key)[-1]
    except ValueError:
        return key


def _number(name: str, value: float) -> Any:
    if value != value or value in (float("inf"), float("-inf")):
        raise TypeError(f"{name}: a scenario has no number {value}")
    return percentage(value) if name in _PROBABILITIES else value

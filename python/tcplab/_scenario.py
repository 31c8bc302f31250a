"""Scenarios: what an experiment is."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from tcplab import _core, _html
from tcplab._settings import join_key, parse_key, refusal, setting

if TYPE_CHECKING:
    from typing_extensions import Self


class Case(NamedTuple):
    """A combination of the matrix's levels."""

    name: str
    """Its name, such as `loss=1%_reno`."""
    levels: dict[str, str]
    """The level of each factor, by the factor's key."""
    hash: str
    """What tells it from all other cases, whatever its name is."""


class Scenario:
    """An experiment: two endpoints, the path, the applications, what varies, and claims.

    A scenario does not change; `with_` and `vary` return another one.

    >>> from tcplab import Scenario
    >>> scenario = Scenario.from_toml('''
    ... title = "An upload"
    ... path = { rate = "20 Mbit/s", delay = "20 ms" }
    ... client = { stack = "model:linux-6.18" }
    ... server = { stack = "model:linux-6.18" }
    ... workload = { upload = "1 MB" }
    ... ''', name="upload")
    >>> varied = scenario.vary({"path.loss": [0, 0.01]}).with_({"repeat.trials": 3})
    >>> [case.name for case in varied.cases]
    ['loss=0', 'loss=1%']
    >>> varied.trials
    3
    """

    __slots__ = ("_inner",)

    _inner: _core.Scenario

    def __init__(self, given: str | os.PathLike[str] | Scenario) -> None:
        """Reads a scenario.

        Args:
            given: The name of a built-in experiment, such as `"interruption"`, or a file. With a
                scenario, the new one equals it.

        Raises:
            ScenarioError: The file has a mistake; `.line` and `.remedy` say where and what to do.
            TcplabError: There is no such experiment or file.
        """
        if isinstance(given, Scenario):
            self._inner = given._inner
            return
        name = os.fspath(given)
        if "\n" in name:
            message = "this is the text of a scenario, not a name: use Scenario.from_toml"
            raise _core.TcplabError(message)
        self._inner = _core.Scenario.load(name)

    @classmethod
    def load(cls, name_or_file: str | os.PathLike[str]) -> Self:
        """Reads a scenario by the name of a built-in experiment, or from a file.

        Raises:
            ScenarioError: The file has a mistake.
            TcplabError: There is no such experiment or file.
        """
        return cls(name_or_file)

    @classmethod
    def from_toml(
        cls,
        text: str,
        name: str = "scenario",
        directory: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Reads a scenario from the text of a file.

        Args:
            text: The text, in TOML.
            name: The scenario's name; runs are stored under it.
            directory: Where files lie that the text names, such as rate traces; default: the
                working directory.

        Raises:
            ScenarioError: The text has a mistake; `.line` counts from 1.
        """
        return cls._of(_core.Scenario.parse(text, name, directory))

    @classmethod
    def from_dict(
        cls,
        sections: Mapping[str, Any],
        name: str = "scenario",
        directory: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Makes a scenario from its sections.

        Args:
            sections: The keys of a scenario file. Values may also be a `datetime.timedelta`, and
                a floating-point number for a probability: `{"loss": 0.01}` is 1 %.
            name: The scenario's name; runs are stored under it.
            directory: Where files lie that it names; default: the working directory.

        Raises:
            ScenarioError: A key or a value is wrong. `.line` is of the text that was made, which
                `tcplab.Scenario.toml` shows for a right one.
            TypeError: A value has a type that a scenario cannot have.
        """
        prepared = {key: setting(key, value) for key, value in sections.items()}
        text = _core.compose(json.dumps(prepared, ensure_ascii=False, allow_nan=False))
        return cls.from_toml(text, name, directory)

    @classmethod
    def _of(cls, inner: _core.Scenario) -> Self:
        scenario = cls.__new__(cls)
        scenario._inner = inner
        return scenario

    @property
    def name(self) -> str:
        """Its name; runs are stored under it."""
        return self._inner.name

    @property
    def title(self) -> str:
        """What the experiment tests, in a line."""
        return self._inner.title

    @property
    def reference(self) -> str | None:
        """The document it comes from."""
        return self._inner.reference

    @property
    def toml(self) -> str:
        """The text of its file. `with_` and `vary` write it anew, without comments."""
        return self._inner.source

    @property
    def directory(self) -> str | None:
        """Where files lie that it names."""
        given = self._inner.directory
        return None if given is None else os.fspath(given)

    @property
    def seed(self) -> int:
        """The seed of all randomness."""
        return self._inner.seed

    @property
    def trials(self) -> int:
        """How many trials each case has."""
        return self._inner.trials

    @property
    def cases(self) -> list[Case]:
        """The cases, in the order of the matrix."""
        return [Case(*each) for each in self._inner.cases()]

    @property
    def worlds(self) -> dict[str, str]:
        """Where each case runs if nothing else is asked for: `sim` or `kernel`, by its name."""
        return dict(self._inner.worlds())

    @property
    def factors(self) -> dict[str, list[str]]:
        """The levels of each factor of the matrix that are in a case."""
        found: dict[str, dict[str, None]] = {}
        for case in self.cases:
            for factor, level in case.levels.items():
                found.setdefault(factor, {})[level] = None
        return {factor: list(levels) for factor, levels in found.items()}

    def to_dict(self) -> dict[str, Any]:
        """The sections of its file."""
        sections: dict[str, Any] = json.loads(_core.decompose(self.toml))
        return sections

    def with_(self, settings: Mapping[str, Any]) -> Scenario:
        """Sets keys.

        Args:
            settings: Values by keys with dots, such as `{"path.loss": 0.01, "repeat.trials": 5}`.
                A part that has dots itself is in quotes, as in TOML:
                `'server.sysctl."net.ipv4.tcp_rmem"'`. `None` removes a key.

        Returns:
            The other scenario, with the same name.

        Raises:
            ScenarioError: A key or a value is wrong, also a key to remove that no scenario has;
                or the matrix varies the key.
            ValueError: A key cannot be read.
        """
        sections = self.to_dict()
        for key, value in settings.items():
            parts = parse_key(key)
            self._refuse_varied(sections, parts)
            if value is None and not _has(sections, parts):
                self._refuse_unknown(parts)
            _assign(sections, parts, None if value is None else setting(parts[-1], value))
        return self.from_dict(sections, self.name, self.directory)

    def vary(self, factors: Mapping[str, Iterable[Any] | Mapping[str, Any] | None]) -> Scenario:
        """Sets factors of the matrix; every combination of their levels is a case.

        Args:
            factors: Levels by keys with dots: `{"path.loss": [0, 0.01]}`. To change several keys
                together, a name of your choice with named levels: `{"variant": {"old":
                {"client.stack": "model:osx-10.7"}, "new": {}}}`. `None` removes a factor.

        Returns:
            The other scenario, with the same name.

        Raises:
            ScenarioError: A key or a value is wrong, also that of a factor to remove which is
                neither there nor a key; or a claim needs a factor that was removed.
            ValueError: A key cannot be read.
        """
        sections = self.to_dict()
        matrix: dict[str, Any] = sections.setdefault("matrix", {})
        for key, levels in factors.items():
            parts = parse_key(key)
            factor = join_key(parts)
            if levels is None:
                if factor not in matrix:
                    self._refuse_unknown(parts)
                matrix.pop(factor, None)
            elif isinstance(levels, Mapping):
                matrix[factor] = setting(parts[-1], levels)
            elif isinstance(levels, str):
                raise TypeError(f"{key}: the levels are a list, such as [{levels!r}]")
            else:
                matrix[factor] = setting(parts[-1], list(levels))
        if not matrix:
            del sections["matrix"]
        return self.from_dict(sections, self.name, self.directory)

    def _refuse_unknown(self, parts: list[str]) -> None:
        """Refuses a key to remove that no scenario has: it is mistyped."""
        sections = self.to_dict()
        _assign(sections, parts, 0)
        try:
            self.from_dict(sections, self.name, self.directory)
        except _core.ScenarioError as error:
            # Others are about the value.
            if "unknown key" in str(error):
                key = join_key(parts)
                remedy = error.remedy or "correct the key"
                message = f"unknown key `{key}`, which is to be removed\n  try: {remedy}"
                raise refusal(message, remedy) from None

    def _refuse_varied(self, sections: Mapping[str, Any], parts: list[str]) -> None:
        matrix = sections.get("matrix")
        if not isinstance(matrix, Mapping):
            return
        key = join_key(parts)
        for factor, levels in matrix.items():
            sets = [factor]
            if isinstance(levels, Mapping):
                sets = [each for keys in levels.values() for each in keys]
            if any(parse_key(each) == parts for each in sets):
                self._raise_varied(key, factor)

    def _raise_varied(self, key: str, factor: str) -> None:
        lines = enumerate(self.toml.splitlines(), start=1)
        line = next((number for number, text in lines if factor in text), 1)
        remedy = f"use vary({{{factor!r}: […]}}), or vary({{{factor!r}: None}}) before"
        what = f"the matrix varies `{key}`"
        if factor != key:
            what += f" in its factor `{factor}`"
        message = f"{what}: a value for all cases would have no effect; {remedy}"
        raise refusal(message, remedy, line)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.toml, self.name, self.directory)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[str, str, tuple[str, ...]]:
        """The hashes of the cases cover what is in the files that the text names."""
        return self.name, self.toml, tuple(case.hash for case in self.cases)

    def __repr__(self) -> str:
        count = _html.counted(len(self.cases), "case")
        trials = _html.counted(self.trials, "trial")
        return f"<Scenario {self.name!r}: {_html.visible(self.title)}; {count} × {trials}>"

    def _repr_html_(self) -> str:
        cases = self.cases
        worlds = self.worlds
        factors = list(self.factors)
        rows = [
            [case.name, *(case.levels.get(factor) for factor in factors), worlds.get(case.name)]
            for case in cases[:20]
        ]
        count = f"{_html.counted(len(cases), 'case')} × {_html.counted(self.trials, 'trial')}"
        more = f"<p>… {_html.counted(len(cases) - 20, 'more case')}</p>" if len(cases) > 20 else ""
        return _html.block(
            _html.heading(self.title, f"{self.name}: {count}, seed {self.seed}"),
            f"<p>{_html.text(self.reference)}</p>" if self.reference else "",
            _html.table(["case", *factors, "world"], rows),
            more,
            _html.folded("the file", _html.preformatted(self.toml)),
        )


def scenarios() -> dict[str, str]:
    """The built-in experiments: their titles by their names.

    >>> import tcplab
    >>> "interruption" in tcplab.scenarios()
    True
    """
    return dict(_core.scenarios())


def as_scenario(given: Scenario | str | os.PathLike[str]) -> Scenario:
    """A scenario, from itself, a name or a file."""
    return given if isinstance(given, Scenario) else Scenario(given)


def inner(scenario: Scenario) -> _core.Scenario:
    """What the compiled part knows the scenario as."""
    return scenario._inner


def _again(text: str, name: str, directory: str | None) -> Scenario:
    return Scenario.from_toml(text, name, directory)


def _has(sections: Mapping[str, Any], parts: list[str]) -> bool:
    """Whether a key of nested tables is set."""
    found: Any = sections
    for part in parts:
        if not isinstance(found, Mapping) or part not in found:
            return False
        found = found[part]
    return True


def _assign(sections: dict[str, Any], parts: list[str], value: Any) -> None:
    """Sets a key of nested tables; `None` removes it."""
    table = sections
    for at, part in enumerate(parts[:-1]):
        below = table.get(part)
        if below is None:
            if value is None:
                return
            below = table[part] = {}
        if not isinstance(below, dict):
            _refuse_below(parts[: at + 1], below)
        table = below
    if value is None:
        table.pop(parts[-1], None)
    else:
        table[parts[-1]] = value


def _refuse_below(parts: list[str], value: Any) -> NoReturn:
    remedy = f"set `{join_key(parts)}` itself"
    raise refusal(f"`{join_key(parts)}` is {value!r}, not a table: {remedy}", remedy)

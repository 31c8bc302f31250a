"""Paths: what the network does to packets."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from tcplab import _core, _html
from tcplab._settings import assignments
from tcplab._svg import Svg


class PathPicture(Svg):
    """A path: what it does in words (`description`), and its rate, delay and loss over time."""

    def __init__(self, description: str, text: str, title: str) -> None:
        super().__init__(text, title)
        self.description = description

    def __repr__(self) -> str:
        return _html.visible(self.description.rstrip(), one_line=False)

    def _repr_html_(self) -> str:
        words = _html.preformatted(self.description.rstrip())
        return _html.block(words) + super()._repr_html_()


def path(
    given: str | os.PathLike[str] | Mapping[str, Any], *, seconds: float | None = None
) -> PathPicture:
    """Describes and draws a path.

    >>> import tcplab
    >>> picture = tcplab.path({"rate": "20 Mbit/s", "delay": "20 ms", "loss": 0.01})
    >>> "20 Mbit/s" in picture.description
    True

    Args:
        given: A built-in path such as `"lte"`, a file, or the keys of `[path]` in a scenario.
        seconds: How much of its time to draw, in seconds; default: what shows it all.

    Returns:
        The description and picture; a notebook shows both.

    Raises:
        TcplabError: There is no such path, or a key or value is wrong.
    """
    if isinstance(given, Mapping):
        described, picture = _core.path_svg("", assignments(given), seconds)
        return PathPicture(described, picture, "path")
    name = os.fspath(given)
    described, picture = _core.path_svg(name, [], seconds)
    return PathPicture(described, picture, f"path {name}")

"""Pictures as SVG."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path

_WORDS = "font:12px system-ui,sans-serif;color:light-dark(#30363d,#ccd3da)"
_ENTITIES = re.compile(r"<\?xml[^>]*\?>\s*|<!DOCTYPE[^>]*>\s*")


class Svg:
    """A picture. A notebook shows it; `save` writes it to a file; `str` is its SVG text.

    >>> Svg("<svg xmlns='http://www.w3.org/2000/svg'/>", "nothing")
    <Svg: nothing, 41 characters>
    """

    def __init__(
        self, text: str, title: str = "picture", legend: Mapping[str, str] | None = None
    ) -> None:
        self.text = text
        self.title = title
        self.legend = dict(legend or {})
        """What the colours mean: words by colours of CSS, shown below the picture."""

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the picture to a file.

        Args:
            path: The file; by convention its name ends in .svg.

        Returns:
            The file's path.

        Raises:
            OSError: The file cannot be written.
        """
        target = Path(path)
        target.write_text(self.text, encoding="utf-8")
        return target

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Svg: {self.title}, {len(self.text):,} characters>"

    def _repr_svg_(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        # The surface follows the same scheme as the picture, whatever the notebook's theme is.
        surface = "color-scheme:light dark;background:light-dark(#fff,#171b20);padding:.5em"
        words = " ".join(
            f'<span style="color:{escape(colour)}">■</span> {escape(meaning)} '
            for colour, meaning in self.legend.items()
        )
        below = f'<div style="{_WORDS}">{words}</div>' if words else ""
        picture = _ENTITIES.sub("", self.text)
        return f'<div style="{surface};overflow-x:auto">{picture}{below}</div>'

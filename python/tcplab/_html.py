"""HTML for notebooks: escaped, and legible on light and dark pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

_STYLE = (
    "<style>"
    ".tcplab{font:13px/1.45 system-ui,sans-serif;color:inherit;max-width:100%}"
    ".tcplab h4{margin:.2em 0 .4em;font-size:1.05em}"
    ".tcplab .scroll{overflow-x:auto}"
    ".tcplab table{font-size:inherit;color:inherit;border-collapse:collapse;"
    "font-variant-numeric:tabular-nums;margin:.3em 0}"
    ".tcplab th,.tcplab td{padding:.15em .7em;border:0;background:none;vertical-align:top;"
    "text-align:left;border-bottom:1px solid rgb(128 128 128/.3);color:inherit}"
    ".tcplab th{font-weight:600;border-bottom:2px solid rgb(128 128 128/.5)}"
    ".tcplab .n{text-align:right;white-space:nowrap}"
    ".tcplab small,.tcplab .quiet{opacity:.7;font-weight:400}"
    ".tcplab pre{white-space:pre-wrap;background:none;color:inherit;margin:.3em 0}"
    ".tcplab .good{color:light-dark(#00795a,#3fcf9f)}"
    ".tcplab .harm{color:light-dark(#b34f00,#ff8a3d)}"
    "</style>"
)

_BIDIRECTIONAL = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}


def visible(text: str, *, one_line: bool = True) -> str:
    r"""Shows the control characters of foreign text, as the command line does.

    >>> print(visible("a\x1b[31m\nb"))
    a\x1b[31m\nb
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character, one_line) for character in text)


def _shown(character: str, one_line: bool) -> str:
    code = ord(character)
    if character in "\n\t":
        return {"\n": "\\n", "\t": "\\t"}[character] if one_line else character
    if code < 0x20 or 0x7F <= code < 0xA0:
        return f"\\x{code:02x}"
    if code in _BIDIRECTIONAL or 0xD800 <= code < 0xE000:
        return f"\\u{{{code:x}}}"
    return character


def text(value: Any) -> str:
    """Text for HTML: control characters shown, markup escaped."""
    return escape(visible(str(value)))


def block(*parts: str) -> str:
    """A piece of a page, with the style that its parts need."""
    return f'{_STYLE}<div class="tcplab">{"".join(parts)}</div>'


def heading(title: str, more: str = "") -> str:
    """A title, and quieter words behind it."""
    quiet = f' <span class="quiet">{text(more)}</span>' if more else ""
    return f"<h4>{text(title)}{quiet}</h4>"


def folded(summary: str, content: str) -> str:
    """Content behind a line that opens it."""
    return f"<details><summary>{text(summary)}</summary>{content}</details>"


def preformatted(content: str) -> str:
    """Text whose lines and columns stay."""
    return f"<pre>{escape(visible(content, one_line=False))}</pre>"


def table(
    names: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    units: Sequence[str] = (),
    titles: Sequence[str] = (),
) -> str:
    """A table; numbers stand right, units below the names, meanings in tooltips."""
    cells = [list(row) for row in rows]
    number = [
        any(_is_number(row[at]) for row in cells)
        and all(_is_number(row[at], True) for row in cells)
        for at in range(len(names))
    ]
    head = "".join(
        f"<th{_class(number[at])}{_title(titles, at)}>{text(name)}{_unit(units, at)}</th>"
        for at, name in enumerate(names)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{_class(number[at])}>{shown(value)}</td>" for at, value in enumerate(row))
        + "</tr>"
        for row in cells
    )
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def pairs(values: Mapping[str, Any]) -> str:
    """Names and values, one pair a row."""
    return table(["", ""], [[name, value] for name, value in values.items() if value is not None])


def shown(value: Any) -> str:
    """A value of a cell as HTML."""
    return text(plain(value))


def plain(value: Any) -> str:
    """A value of a cell as text: digits in groups, numbers rounded to six digits.

    >>> plain(1234567), plain(0.1234567), plain(None), plain(True), plain([1, 2])
    ('1,234,567', '0.1235', '–', 'yes', '1, 2')
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, (list, tuple)):
        return ", ".join(plain(each) for each in value)
    if isinstance(value, dict):
        return ", ".join(f"{name}: {plain(each)}" for name, each in value.items())
    return str(value)


def counted(count: int, thing: str) -> str:
    """How many there are of something whose plural ends in s.

    >>> counted(1, "case"), counted(2000, "trial")
    ('1 case', '2,000 trials')
    """
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


_NAMING = {"connection", "frame", "frames", "id", "number", "port", "seed", "trial"}
"""Last words of columns whose numbers name something."""


def of_column(name: str, value: Any) -> Any:
    """A value of a column for `table`: a number that names something is text, in one piece.

    >>> of_column("client_port", 52200), of_column("frames", [2, 1050]), of_column("bytes", 1500)
    ('52200', '2, 1050', 1500)
    """
    if name.rpartition("_")[2] not in _NAMING or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value)


def _is_number(value: Any, or_nothing: bool = False) -> bool:
    if value is None:
        return or_nothing
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _class(number: bool) -> str:
    return ' class="n"' if number else ""


def _title(titles: Sequence[str], at: int) -> str:
    return f' title="{text(titles[at])}"' if at < len(titles) and titles[at] else ""


def _unit(units: Sequence[str], at: int) -> str:
    return f"<br><small>{text(units[at])}</small>" if at < len(units) and units[at] else ""

"""The table of docs/api.md that says what can become of a request for data."""

import re
from collections.abc import Iterator
from pathlib import Path

_DOCUMENT = Path(__file__).parents[1] / "docs" / "api.md"
_CELL = re.compile(r"`(\w+)`")


def _rows() -> Iterator[tuple[list[str], str, dict[str, str]]]:
    text = _DOCUMENT.read_text(encoding="utf-8").partition("\n| state | who | may | then |\n")[2].partition("\n\n")[0]
    for line in text.splitlines()[1:]:
        states, side, actions, then = (cell.strip() for cell in line.strip("|").split("|"))
        yield _CELL.findall(states), side, dict(zip(_CELL.findall(actions), _CELL.findall(then), strict=True))


#: The states, who, and what each step leads to.
ROWS = list(_rows())

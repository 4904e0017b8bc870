"""Tables of cases that one assertion compares: its difference shows the cells that are wrong."""

from collections.abc import Callable
from typing import Any


def raised(kind: type[BaseException], function: Callable[..., Any], *given: Any, **named: Any) -> str | None:
    """What the error of this kind says that a call raises; None if it raises none."""
    try:
        function(*given, **named)
    except kind as error:
        return str(error)
    return None

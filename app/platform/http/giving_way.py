"""Which connection ends if there are too many: the one that has waited longest for its client."""

from typing import Protocol
from weakref import WeakKeyDictionary

from uvicorn.server import ServerState


class GivingWay(Protocol):
    """A connection that may have to end for another one."""

    def may_give_way(self) -> bool:
        """Whether it waits for its client, and not for the service."""

    def give_way(self) -> None:
        """End, so that another client can be served."""


class Line:
    """The connections of a server that wait for their clients, in the order in which they began to.

    There is one line for all kinds of waiting. If one kind came first, whoever held many connections of another would
    keep everybody else out, since a new connection is always of the first kind for a moment.
    """

    def __init__(self) -> None:
        self._waiting: dict[GivingWay, None] = {}

    @classmethod
    def of(cls, server: ServerState) -> "Line":
        """The line of a server."""
        return _LINES.setdefault(server, cls())

    def join(self, connection: GivingWay) -> None:
        """Begin to wait, behind all others."""
        self.leave(connection)
        self._waiting[connection] = None

    def leave(self, connection: GivingWay) -> None:
        """Wait no longer."""
        self._waiting.pop(connection, None)

    def end_longest(self) -> bool:
        """End the connection that has waited longest; False if none waits."""
        longest = next((one for one in self._waiting if one.may_give_way()), None)
        if longest is None:
            return False
        self.leave(longest)
        longest.give_way()
        return True


_LINES: WeakKeyDictionary[ServerState, Line] = WeakKeyDictionary()

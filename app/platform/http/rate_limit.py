"""Rate limits: requests by tenant, and wrong keys by address."""

import hashlib
import ipaddress
import math
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

import structlog
from starlette.requests import Request

from app.platform.errors import RateExceededError, TooManyGuessesError, UnknownKeyError
from app.platform.http.request_scope import answer_headers

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a name's rate.

    Attributes:
        wait: seconds until the next event is allowed; 0 if it is allowed now.
        remaining: the number of events allowed at once after that.
        full_in: seconds until the full amount is allowed.
    """

    wait: float
    remaining: int
    full_in: float


class Rate:
    """At most `amount` events in `seconds` per name, also all at once.

    This is the generic cell rate algorithm (ITU-T I.371, annex A) as a virtual schedule: one moment per name, no timer.

    Args:
        most_names: the most names remembered; the least recently used ones are dropped.
    """

    def __init__(
        self, amount: int, seconds: float, clock: Callable[[], float] = monotonic, most_names: int = 100_000
    ) -> None:
        self.amount, self.seconds = amount, seconds
        self._clock, self._most_names = clock, most_names
        self._interval = seconds / amount
        self._full_at: OrderedDict[str, float] = OrderedDict()

    def look(self, name: str) -> Standing:
        """The state of a name, without an event."""
        now = self._clock()
        return self._standing(max(self._full_at.get(name, now), now) - now)

    def take(self, name: str) -> Standing:
        """Count an event, unless it exceeds the rate: then `wait` is not 0."""
        now = self._clock()
        before = max(self._full_at.pop(name, now), now) - now
        standing = self._standing(before)
        after = before if standing.wait else before + self._interval
        self._full_at[name] = now + after
        if len(self._full_at) > self._most_names:
            self._full_at.popitem(last=False)
        return standing if standing.wait else self._standing(after, wait=0.0)

    def _standing(self, full_in: float, wait: float | None = None) -> Standing:
        free = self.seconds - full_in
        remaining = max(0, math.floor(free / self._interval + 1e-9))
        missing = 0.0 if remaining else self._interval - free
        return Standing(missing if wait is None else wait, remaining, full_in)


#: The number of right keys remembered, so that others behind the same address cannot lock their holders out.
MOST_KNOWN = 10_000

#: The length of an IPv6 prefix whose addresses can all belong to one client (RFC 6177).
_SITE_BITS = 64


class Guesses:
    """Wrong keys by address, limited by `rate`."""

    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._told = Rate(1, rate.seconds)
        self._right: OrderedDict[bytes, None] = OrderedDict()

    @contextmanager
    def attempt(self, address: str, key: str) -> Iterator[None]:
        """Guard a block that looks up a key and raises `UnknownKeyError` for a wrong one.

        Raises:
            TooManyGuessesError: too many wrong keys came from the address, and this key is not known to be right.
        """
        site, known = _site(address), hashlib.sha256(key.encode()).digest()
        standing = self._rate.look(site)
        if standing.wait and known not in self._right:
            raise TooManyGuessesError(
                "Too many wrong keys came from your address. Try again after Retry-After.", math.ceil(standing.wait)
            )
        try:
            yield
        except UnknownKeyError:
            self._right.pop(known, None)
            if self._rate.take(site).remaining == 0 and not self._told.take(site).wait:
                _log.warning("address locked out", address=site, seconds=self._rate.seconds)
            raise
        self._right[known] = None
        self._right.move_to_end(known)
        if len(self._right) > MOST_KNOWN:
            self._right.popitem(last=False)


def _site(address: str) -> str:
    """An IPv4 address, or the site prefix of an IPv6 address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is None:
            return str(ipaddress.ip_network((parsed, _SITE_BITS), strict=False))
        parsed = parsed.ipv4_mapped  # the form of IPv4 at a server that listens on all addresses
    return str(parsed)


def take_turn(request: Request, rate: Rate, tenant: str) -> None:
    """Count a request of a tenant, and add the rate limit headers to its response.

    Raises:
        RateExceededError: the tenant sends too many requests.
    """
    standing = rate.take(tenant)
    answer_headers(request).extend(
        [
            ("RateLimit-Policy", f'"tenant";q={rate.amount};w={rate.seconds:.0f}'),
            ("RateLimit", f'"tenant";r={standing.remaining};t={math.ceil(standing.full_in)}'),
        ]
    )
    _refuse(standing, rate, "requests")


def refuse_beyond(rate: Rate, tenant: str, what: str) -> None:
    """Count a request of a tenant; `what` names its kind.

    Raises:
        RateExceededError: the rate is exceeded.
    """
    _refuse(rate.take(tenant), rate, what)


def _refuse(standing: Standing, rate: Rate, what: str) -> None:
    if standing.wait:
        raise RateExceededError(
            f"Your tenant may send {rate.amount:,} {what} in {rate.seconds:,.0f} s. Try again after Retry-After.",
            math.ceil(standing.wait),
        )

"""Rate limits: requests by tenant, and wrong keys by address."""

import hashlib
import ipaddress
import math
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from starlette.requests import Request

from app.platform.errors import RateExceededError, TooManyGuessesError, UnknownKeyError
from app.platform.http.request_scope import answer_headers
from app.platform.rates import Rate, Standing

_log = structlog.get_logger(__name__)

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
        self._remember(known)

    def _remember(self, known: bytes) -> None:
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

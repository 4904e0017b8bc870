"""How many requests a tenant may send, and how many wrong keys an address, before it is not answered for a while."""

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

#: So many keys are remembered as right, so that nobody is locked out by others behind the same address.
MOST_KNOWN = 10_000

#: All addresses with this prefix can be one client's (RFC 6177).
_SITE_BITS = 64


class Guesses:
    """Wrong keys by address. `rate` says how many an address may send."""

    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._told = Rate(1, rate.seconds)
        self._right: OrderedDict[bytes, None] = OrderedDict()

    @contextmanager
    def attempt(self, address: str, key: str) -> Iterator[None]:
        """Look a key up in the block, which raises `UnknownKeyError` if it is wrong.

        Raises:
            TooManyGuessesError: too many wrong keys came from the address, and this one is not known to be right.
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
    """Whom an address belongs to: itself, or of IPv6 its site."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is None:
            return str(ipaddress.ip_network((parsed, _SITE_BITS), strict=False))
        parsed = parsed.ipv4_mapped  # as a server that listens on all addresses sees IPv4
    return str(parsed)


def take_turn(request: Request, rate: Rate, tenant: str) -> None:
    """Count a request of a tenant, and have its answer say how many are left.

    Raises:
        RateExceededError: the tenant sends too many.
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
    """Count what a tenant sends.

    Raises:
        RateExceededError: it is too much.
    """
    _refuse(rate.take(tenant), rate, what)


def _refuse(standing: Standing, rate: Rate, what: str) -> None:
    if standing.wait:
        raise RateExceededError(
            f"Your tenant may send {rate.amount:,} {what} in {rate.seconds:,.0f} s. Try again after Retry-After.",
            math.ceil(standing.wait),
        )

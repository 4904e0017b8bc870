"""How many requests a tenant may send, and what answers say of it (draft-ietf-httpapi-ratelimit-headers-10)."""

import math

from starlette.requests import Request

from app.platform.errors import RateExceededError
from app.platform.http.request_scope import answer_headers
from app.platform.rates import Rate, Standing


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

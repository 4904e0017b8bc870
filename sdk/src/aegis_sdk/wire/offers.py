"""What an offer is about in terms that other providers share, and what it costs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from aegis_sdk.wire.documents import LONG_LIST, LONG_OBJECT, Fault, Location, Request, within
from aegis_sdk.wire.values import COUNT_MAX, exact_integer

Uri = Annotated[str, Field(pattern=r'^[a-zA-Z][a-zA-Z0-9+.-]{1,30}:[^\s<>"{}|\\^`\x00-\x1f\x7f]+$', max_length=255)]
"""An absolute URI."""

Amount = Annotated[
    float,
    Field(ge=0, le=COUNT_MAX, allow_inf_nan=False),
    BeforeValidator(exact_integer),
    AfterValidator(lambda value: value + 0.0),
]
"""An amount of money, 0 or more."""

Currency = Annotated[str, Field(pattern="^[A-Z]{3}$")]
"""A currency by its code in ISO 4217, such as `EUR`."""


class Concept(Request):
    """What a column is about, so that searches find it under any name: equal concepts are equal tasks."""

    uri: Uri = Field(description="The concept, such as a term of a shared vocabulary")
    values: Annotated[dict[str, Uri], LONG_OBJECT] = Field(
        default_factory=dict, description="The meaning of values of `domain`, by value"
    )

    def faults_for(self, domain: Sequence[str]) -> Iterator[Fault]:
        """The faults of the concept of a column with these values."""
        known = frozenset(domain)
        yield from ((("values", value), "`domain` has no such value") for value in self.values if value not in known)


class Price(Request):
    """What a table costs."""

    amount: Amount = Field(description="The amount, 0 or more")
    currency: Currency = Field(description="The currency, by its code in ISO 4217: the same for the whole entry")


class PriceColumn(Request):
    """What many tables cost."""

    amounts: Annotated[list[Amount | None], LONG_LIST] = Field(description="A column of amounts; null: not stated")
    currency: Currency = Field(description="Their currency, by its code in ISO 4217")


def concept_faults(named: Iterable[tuple[Location, Concept | None, Sequence[str]]]) -> Iterator[Fault]:
    """The faults of the concepts of columns, each with its place and the column's values."""
    seen: set[str] = set()
    for location, concept, domain in named:
        if concept is None:
            continue
        yield from within(location, concept.faults_for(domain))
        if concept.uri in seen:
            yield (*location, "uri"), "Another column of the entry has the same concept"
        seen.add(concept.uri)


def price_faults(prices: Sequence[Price | None]) -> Iterator[Fault]:
    """The faults of the prices of configurations: two currencies in one entry."""
    first = next((price.currency for price in prices if price is not None), None)
    for index, price in enumerate(prices):
        if price is not None and price.currency != first:
            yield (
                ("configurations", index, "price", "currency"),
                f"Is {price.currency}, but another price is in {first}: use one currency in an entry",
            )

"""What masked tables cost, by the k that they promise: what a plan says, and the entry with these prices."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from aegis_provider.yaml_file import Element
from aegis_sdk.wire import Configuration, EntryDocument
from aegis_sdk.wire.configuration import ListedConfiguration
from aegis_sdk.wire.offers import Price
from aegis_sdk.wire.values import COUNT_MAX, FORMAT_OF_OFFERS


@dataclass(frozen=True)
class Prices:
    """The amounts in one currency, by the least k of the tables that cost them."""

    currency: str
    by_k: Mapping[int, float]

    def of(self, k: float) -> Price | None:
        """Return the price of a table with this k: that of the highest k that it reaches; `None` without one."""
        reached = [least for least in self.by_k if least <= k]
        return Price(amount=self.by_k[max(reached)], currency=self.currency) if reached else None


def read_prices(element: Element) -> Prices:
    """Read prices in the form `{currency: EUR, by_k: {2: 500, 5: 200}}`.

    Raises:
        PlanError: The currency is not one code of ISO 4217, a k is not a whole number, or an amount is below 0 or not
            a number; the message names the place.
    """
    fields = element.fields("currency", "by_k")
    currency = fields["currency"].value
    if not isinstance(currency, str) or not re.fullmatch("[A-Z]{3}", currency):
        fields["currency"].fail(f"expected one currency by its code in ISO 4217, such as EUR, not {currency!r}")
    amounts = {}
    for k, amount in fields["by_k"].items():
        if not re.fullmatch(r"[1-9]\d{0,8}", k, re.ASCII):
            amount.fail("expected prices by k, whole numbers of at least 1, such as {2: 500, 5: 200}")
        number = amount.decimal()
        if not 0 <= number <= COUNT_MAX:
            amount.fail(f"expected an amount of at least 0, not {amount.value}")
        amounts[int(k)] = float(number)
    if not amounts:
        fields["by_k"].fail("expected at least one price, such as {2: 500}")
    return Prices(currency, amounts)


def with_prices(entry: EntryDocument, prices: Prices | None) -> EntryDocument:
    """Return the entry with the price of each masked configuration, by the k that it states: then it has format 5."""
    if prices is None:
        return entry

    def priced(each: ListedConfiguration) -> ListedConfiguration:
        k = (each.privacy or {}).get("k") if isinstance(each, Configuration) else None
        price = None if k is None else prices.of(k)
        return each if price is None else each.model_copy(update={"price": price})

    listed = list(map(priced, entry.configurations or ()))
    if listed == entry.configurations:
        return entry
    return entry.model_copy(update={"format": FORMAT_OF_OFFERS, "configurations": listed})

"""Entries as catalogues elsewhere list them: what may be requested, and what everyone who sees an entry knows of it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.entries.model.configurations import GENERATED, MASKED, ConfigurationTable, unpack_configurations
from app.entries.model.documents import read_as, with_shares
from app.entries.model.entries import Head, PackedConfigurations
from app.entries.model.worth import Worth
from app.platform.errors import InvalidDocumentError
from app.tenants.model import NOTHING_REQUIRED, RequiredPrivacy

MOST_OFFERS: Final = 1_000
"""The most offers of an entry that are listed."""


@dataclass(frozen=True, slots=True)
class StoredOffers:
    """A version of an entry with its configurations, as stored.

    Attributes:
        configurations: as published, as compressed JSON.
        required: what a configuration must promise before it may be requested.
    """

    head: Head
    table: PackedConfigurations
    configurations: bytes
    worth: tuple[Worth, ...]
    required: RequiredPrivacy


@dataclass(frozen=True, slots=True)
class StoredPage:
    """Some entries in the order of their ids, and the last of these ids if there are more entries."""

    items: tuple[StoredOffers, ...]
    last_id: str | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """A configuration that may be requested.

    Attributes:
        privacy: the promised number by criterion.
        worth: what a model should reach on its table, for each label and k for which no other is better.
        measured: `model` and `share` of a model that the provider trained on it; None if it states none.
        price: what it costs, with the currency; None if that is not stated.
    """

    configuration: str
    is_generated: bool
    privacy: Mapping[str, float]
    worth: tuple[Worth, ...] = ()
    measured: Mapping[str, Any] | None = None
    price: tuple[float, str] | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry with its offers in the published order.

    Attributes:
        offered: the number of configurations that may be requested, listed or not.
    """

    head: Head
    offers: tuple[Offer, ...]
    offered: int


@dataclass(frozen=True, slots=True)
class _Configuration:
    id: str
    measured: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class _Configurations:
    configurations: Sequence[_Configuration] | None = field(default=())


def listed(stored: StoredOffers) -> Listed:
    """The entry with its offers, with nothing that depends on who reads it. Slow for large entries."""
    table = unpack_configurations(stored.table, ())
    worth = defaultdict(list)
    for one in stored.worth:
        if one.configuration is not None and one.expected is not None:
            worth[one.configuration].append(one)
    places = _requestable(table, stored.required)
    best = [place for place in places.tolist() if table.ids[place] in worth]
    shown = sorted([*dict.fromkeys([*best, *places[:MOST_OFFERS].tolist()])][:MOST_OFFERS])
    measured = _measured(stored.configurations, {table.ids[place] for place in shown})
    offers = tuple(_offer(table, place, tuple(worth[table.ids[place]]), measured) for place in shown)
    return Listed(stored.head, offers, int(places.size))


def _requestable(table: ConfigurationTable, required: RequiredPrivacy) -> NDArray[np.intp]:
    """The places of the configurations that a request may name."""
    try:
        return np.flatnonzero(table.meeting(NOTHING_REQUIRED, required, (MASKED, GENERATED)))
    except InvalidDocumentError:
        return np.zeros(0, dtype=np.intp)


def _measured(configurations: bytes, wanted: set[str]) -> Mapping[str, Mapping[str, Any]]:
    """The shares that trained models keep on these configurations, as those read them who do not read the counts."""
    stated = read_as(_Configurations, configurations).configurations or ()
    measured = [msgspec.to_builtins(one) for one in stated if one.measured is not None and one.id in wanted]
    shares = with_shares({"configurations": measured})["configurations"]
    return {one["id"]: one["measured"] for one in shares if one["measured"]["share"] is not None}


def _offer(
    table: ConfigurationTable, place: int, worth: tuple[Worth, ...], measured: Mapping[str, Mapping[str, Any]]
) -> Offer:
    name = table.ids[place]
    price = None if table.price is None or np.isnan(table.price[place]) else float(table.price[place])
    return Offer(
        configuration=name,
        is_generated=table.generated is not None and bool(table.generated[place]),
        privacy={
            criterion: float(numbers[place])
            for criterion, numbers in table.privacy.items()
            if not np.isnan(numbers[place])
        },
        worth=worth,
        measured=measured.get(name),
        price=None if price is None else (price, table.currency or ""),
    )

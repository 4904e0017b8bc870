"""Entries in DCAT-AP 3.0.1 with the Data Quality Vocabulary, and with the further terms of HealthDCAT-AP.

Values of authority tables are described in the same graph, since validators and harvesters do not fetch them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from aegis_sdk import wire
from aegis_sdk.reading import as_sentence, is_visible, percent, should_reach, title_of
from aegis_sdk.wire import PRIVACY_CRITERIA
from app.catalogues.api.rdf import Node, iri, is_web_address, json_ld, segment, turtle, typed
from app.catalogues.model import Listed, Offer, StoredOffers, listed
from app.entries.model.entries import Head
from app.entries.model.worth import Worth
from app.platform.http.operations import timestamp

_AUTHORITY: Final = "http://publications.europa.eu/resource/authority/"
_RESTRICTED: Final = f"{_AUTHORITY}access-right/RESTRICTED"
_CSV: Final = f"{_AUTHORITY}file-type/CSV"
_TEXT_CSV: Final = "https://www.iana.org/assignments/media-types/text/csv"
_HEALTH: Final = f"{_AUTHORITY}data-theme/HEAL"

Size = tuple[str, str, str]
"""The name of a measurement, its dimension, and what it is."""

_EXPECTED: Final[tuple[Size, ...]] = (
    ("auc", "expected", "AUC that a model should reach on the table, estimated from counts"),
    ("r2", "expected", "R2 that a model should reach on the table, estimated from counts"),
)
_KEPT: Final[Size] = ("kept", "measured", "Share of the distance from chance, or of R2, that a trained model keeps")
_DIMENSIONS: Final = {
    "privacy": "Privacy that the table promises",
    "expected": "What a model should reach",
    "measured": "What a model reached that the provider trained",
}


class Profile(StrEnum):
    """The terms of a description."""

    DCAT_AP = "dcat-ap"
    HEALTH = "healthdcat-ap"


class Form(StrEnum):
    """A serialization, by the ending of its addresses."""

    TURTLE = "ttl"
    JSON_LD = "jsonld"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the descriptions stand.

    Attributes:
        origin: the service's scheme and host, which all permanent addresses begin with.
    """

    origin: str
    profile: Profile
    form: Form

    @property
    def catalogue(self) -> str:
        """The address of the catalogue."""
        return f"{self.origin}/catalog"

    def dataset(self, entry_id: str) -> str:
        """The address of an entry as a dataset."""
        return f"{self.origin}/datasets/{entry_id}"

    def part(self, name: str) -> str:
        """The address of something that the catalogue describes."""
        return f"{self.catalogue}#{segment(name)}"


@dataclass(frozen=True, slots=True)
class Paging:
    """The addresses of a page, of the first one, and of the next one if there is any."""

    own: str
    first: str
    next: str | None


def catalogue_text(items: Sequence[StoredOffers], place: Place, paging: Paging) -> bytes:
    """A page of the catalogue. Slow for large entries."""
    entries = list(map(listed, items))
    return _written([*_catalogue(entries, place, paging), *_datasets(entries, place)], place)


def dataset_text(item: StoredOffers, place: Place) -> bytes:
    """An entry as a dataset. Slow for large entries."""
    entry = listed(item)
    return _written(_datasets([entry], place), place)


def _written(graph: Iterable[Node], place: Place) -> bytes:
    return turtle(graph) if place.form is Form.TURTLE else json_ld(graph)


def _catalogue(entries: Sequence[Listed], place: Place, paging: Paging) -> Iterator[Node]:
    host = urlsplit(place.origin).netloc
    operator = place.part("operator")
    yield {
        "@id": place.catalogue,
        "@type": ["dcat:Catalog"],
        "dct:title": f"Masked tables at {host}",
        "dct:description": "Masked tables that can be requested from their providers. The service has no record.",
        "dct:publisher": iri(operator),
        "dcat:service": iri(place.part("service")),
        "dcat:dataset": [iri(place.dataset(entry.head.id)) for entry in entries],
    }
    yield {"@id": operator, "@type": ["foaf:Agent"], "foaf:name": f"The operator of {host}"}
    following = {} if paging.next is None else {"hydra:next": iri(paging.next)}
    page = {"@id": paging.own, "@type": ["hydra:PartialCollectionView"], "hydra:first": iri(paging.first)}
    yield page | following


def _datasets(entries: Sequence[Listed], place: Place) -> Iterator[Node]:
    """The entries, and all that they refer to."""
    for entry in entries:
        yield _dataset(entry, place)
        for offer in entry.offers:
            yield _distribution(entry.head, offer, place)
    for tenant in sorted({entry.head.tenant for entry in entries}):
        yield {"@id": place.part(f"publisher-{tenant}"), "@type": ["foaf:Agent"], "foaf:name": tenant}
    yield {
        "@id": place.part("service"),
        "@type": ["dcat:DataService"],
        "dct:title": "Requests for masked tables",
        "dcat:endpointURL": iri(f"{place.origin}/v1"),
        "dcat:endpointDescription": iri(f"{place.origin}/openapi.json"),
    }
    yield from _authority_values(place.profile)
    yield from _metrics(entries, place)


def _dataset(entry: Listed, place: Place) -> Node:
    head = entry.head
    return {
        "@id": place.dataset(head.id),
        "@type": ["dcat:Dataset"],
        "dct:title": title_of(head.title, head.name),
        "dct:description": description_of(entry),
        "dct:identifier": head.id,
        "dct:publisher": iri(place.part(f"publisher-{head.tenant}")),
        "dct:issued": typed(timestamp(head.created_at), "xsd:dateTime"),
        "dct:modified": typed(timestamp(head.changed_at), "xsd:dateTime"),
        "dct:accessRights": iri(_RESTRICTED),
        "dcat:version": str(head.version),
        "dcat:keyword": [keyword for keyword in head.keywords if is_visible(keyword)],
        "dcat:distribution": [iri(_address(head, offer, place)) for offer in entry.offers],
        **(_health_terms(head) if place.profile is Profile.HEALTH else {}),
    }


def _health_terms(head: Head) -> Node:
    numbers = {"healthdcatap:numberOfRecords": head.records, "healthdcatap:numberOfUniqueIndividuals": head.people}
    stated = {name: typed(str(number), "xsd:nonNegativeInteger") for name, number in numbers.items() if number}
    return {"dcat:theme": iri(_HEALTH), **stated}


def description_of(entry: Listed) -> str:
    """The provider's description, and what may be requested in words, for readers that know no other terms."""
    head = entry.head
    size = [f"{number:,} {what}" for number, what in ((head.records, "records"), (head.people, "people")) if number]
    table = f"Masked tables for predicting {' or '.join(head.labels)}" + (f", of {' of '.join(size)}." if size else ".")
    promised = [offer.privacy["k"] for offer in entry.offers if "k" in offer.privacy]
    low, high = (f"{limit(promised, default=0):g}" for limit in (min, max))
    k = f", with k of at least {low}{'' if low == high else f' to {high}'}" if promised else ""
    if entry.offered > len(entry.offers):
        k = f"{k}; {len(entry.offers):,} of them are listed"
    offers = f"Configurations that can be requested: {entry.offered:,}{k}."
    return "\n\n".join([*([head.description] if is_visible(head.description) else []), f"{table} {offers}"])


def _address(head: Head, offer: Offer, place: Place) -> str:
    return f"{place.dataset(head.id)}#{segment(offer.configuration)}"


def _distribution(head: Head, offer: Offer, place: Place) -> Node:
    address = _address(head, offer, place)
    return {
        "@id": address,
        "@type": ["dcat:Distribution"],
        "dct:title": f"{title_of(head.title, head.name)}: {offer.configuration}",
        "dct:description": " ".join(sentences_of(head, offer)),
        "dct:identifier": offer.configuration,
        "dcat:accessURL": iri(f"{place.origin}/v1/entries/{head.id}"),
        "dcat:accessService": iri(place.part("service")),
        "dct:format": iri(_CSV),
        "dcat:mediaType": iri(_TEXT_CSV),
        "dct:license": _licence(head.license) or [],
        "dct:rights": {"@type": ["dct:RightsStatement"], "rdfs:label": f"The terms with the digest {head.terms}"},
        "dqv:hasQualityMeasurement": [
            {
                "@type": ["dqv:QualityMeasurement"],
                "dqv:computedOn": iri(address),
                "dqv:isMeasurementOf": iri(place.part(name)),
                "dqv:value": typed(repr(number), "xsd:double"),
            }
            for name, number in _measurements(head, offer)
        ],
    }


def _licence(text: str) -> Node | None:
    if not is_visible(text):
        return None
    kind = {"@type": ["dct:LicenseDocument"], "rdfs:label": text}
    return kind | ({"rdfs:seeAlso": iri(text)} if is_web_address(text) else {})


def sentences_of(head: Head, offer: Offer) -> Iterator[str]:
    """What an offer promises, is worth and costs, in sentences."""
    if offer.is_generated:
        yield "A table that a model generated."
    counted = {"k": "" if head.unit is None else " people"}
    promised = [
        f"{name} of at {'least' if better == 'higher' else 'most'} {offer.privacy[name]:g}{counted.get(name, '')}"
        for name, better in PRIVACY_CRITERIA.items()
        if name in offer.privacy
    ]
    yield f"Promises {', '.join(promised)}." if promised else "Promises no privacy."
    yield from dict.fromkeys(map(_reached, offer.worth))
    if offer.measured is not None:
        kept = percent(offer.measured["share"])
        yield f"{offer.measured['model']}, trained on it, keeps {kept} of what it reaches on the unmasked table."
    if offer.price is not None:
        yield f"Costs {offer.price[0]:g} {offer.price[1]}."


def _reached(worth: Worth) -> str:
    expected = wire.Expected.model_validate(worth.expected)
    return as_sentence(should_reach(expected, None, worth.label, worth.masking))


def _measurements(head: Head, offer: Offer) -> Iterator[tuple[str, float]]:
    """The measurements by name, of the default label as it is."""
    yield from offer.privacy.items()
    of_label = [one.expected for one in offer.worth if (one.label, one.masking) == (head.label, None)]
    for expected in filter(None, of_label[:1]):
        yield from ((name, number) for name, _, _ in _EXPECTED if (number := expected.get(name)) is not None)
    if offer.measured is not None:
        yield _KEPT[0], offer.measured["share"]


def _metrics(entries: Sequence[Listed], place: Place) -> Iterator[Node]:
    """The kinds of measurements that these entries have, and their dimensions."""
    used = {name for entry in entries for offer in entry.offers for name, _ in _measurements(entry.head, offer)}
    sizes = [(name, "privacy", f"The promised {name}") for name in PRIVACY_CRITERIA] + [*_EXPECTED, _KEPT]
    sizes = [size for size in sizes if size[0] in used]
    for name, dimension, what in sizes:
        yield {
            "@id": place.part(name),
            "@type": ["dqv:Metric"],
            "skos:prefLabel": name,
            "skos:definition": what,
            "dqv:expectedDataType": iri("http://www.w3.org/2001/XMLSchema#double"),
            "dqv:inDimension": iri(place.part(dimension)),
        }
    for dimension in sorted({dimension for _, dimension, _ in sizes}):
        label = _DIMENSIONS[dimension]
        yield {"@id": place.part(dimension), "@type": ["dqv:Dimension"], "skos:prefLabel": label}


def _authority_values(profile: Profile) -> Iterator[Node]:
    yield _concept(_RESTRICTED, "access-right", "restricted", "dct:RightsStatement")
    yield _concept(_CSV, "file-type", "CSV", "dct:MediaTypeOrExtent")
    yield {"@id": _TEXT_CSV, "@type": ["dct:MediaType"], "rdfs:label": "text/csv"}
    if profile is Profile.HEALTH:
        yield _concept(_HEALTH, "data-theme", "Health")


def _concept(address: str, scheme: str, label: str, *kinds: str) -> Node:
    return {
        "@id": address,
        "@type": ["skos:Concept", *kinds],
        "skos:prefLabel": label,
        "skos:inScheme": iri(f"{_AUTHORITY}{scheme}"),
    }

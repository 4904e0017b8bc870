"""The catalogue entry: a provider's summary of a table. None of its fields can carry a record."""

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, cast

from pydantic import ConfigDict, Field
from pydantic_core import from_json

from aegis_sdk.wire.attribute import (
    DROP,
    IDENTITY,
    Attribute,
    Discretization,
    Label,
    MaskingFunction,
)
from aegis_sdk.wire.configuration import (
    Configuration,
    ConfigurationTable,
    GeneratedConfiguration,
    ListedConfigurations,
    configurations_faults,
    format_faults,
    table_faults,
)
from aegis_sdk.wire.disclosure_control import (
    DisclosureControl,
    JointTrace,
    control_faults,
    person_faults,
    trace_faults,
)
from aegis_sdk.wire.documents import (
    LONG_LIST,
    LONG_OBJECT,
    CheckedRequest,
    Fault,
    Location,
    refuse,
    refuse_repeated_members,
    within,
)
from aegis_sdk.wire.examples import EXAMPLE_ENTRY
from aegis_sdk.wire.labels import LABELS, by_label_faults, label_counts_faults, members_of_labels, names_faults
from aegis_sdk.wire.offers import concept_faults, price_faults
from aegis_sdk.wire.pairs import Pair, pair_faults
from aegis_sdk.wire.transfer import Holdout, holdout_faults, transfer_faults
from aegis_sdk.wire.values import (
    COUNT_MAX,
    DEPTH,
    FORMAT_OF_LABELS,
    FORMAT_OF_OFFERS,
    FORMAT_OF_PEOPLE,
    ROWS_PER_PERSON,
    EntryFormat,
    EntryName,
    Identifier,
    Identifiers,
    JsonObject,
    Text,
    Unit,
    is_deeper,
    json_size,
    repeats,
)
from aegis_sdk.wire.visibility import Visibility, tenant_faults


class NotJsonError(ValueError):
    """The bytes are not JSON (RFC 8259) in UTF-8."""


class EntryDocument(CheckedRequest):
    """A catalogue entry: the summaries of a table and the masking configurations that may be shared.

    Validation covers the structure: types, names, lengths, and that every name refers to an existing part. A faulty
    part is not compared with the others. The only sum checked here is the label's: the service checks whether the
    tables agree with each other.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_ENTRY]})

    format: EntryFormat = Field(
        description="Version of this format: 5 if the entry has a `concept` or a `price`, else 4 if it has several "
        "`labels`, a member for them, `scores` or maskings of the label, else 3 if it has a `unit`, else 2 if it has "
        "generated configurations or transfer utilities, else 1"
    )
    name: EntryName = Field(description="Unique within its tenant")
    title: Text = Field(default="", description="Title, in one line")
    table: Identifier | None = Field(
        default=None,
        description="Name of the table that the entry is about. The same name in several entries of a tenant declares "
        "that their tables are about the same people or things, so that what a consumer has of one counts for all. "
        "null: the entry's name",
    )
    description: Text = Field(default="", description="Description of the table")
    keywords: Identifiers = Field(default_factory=list, description="Search terms")
    license: Text = Field(default="", description="Licence of the masked tables, preferably an SPDX identifier")
    terms: JsonObject | None = Field(
        default=None,
        description="Policy (ODRL, in JSON-LD) for the use of masked tables; a request for one accepts it with the "
        "licence. Stored unchanged",
    )
    visibility: Visibility = Field(
        default="private", description="Who can see the entry besides its own tenant; not part of the digest"
    )
    records: int = Field(ge=1, le=COUNT_MAX, description="Number of records in the table")
    unit: Unit | None = Field(
        default=None,
        description="What privacy counts. `person`: `k` and the other promises count people, and every count is of at "
        "most `rows_per_person` records of each; needs format 3. null: records",
    )
    people: Annotated[int, Field(ge=1, le=COUNT_MAX)] | None = Field(
        default=None, description="Number of people that the records are about; given with `unit`"
    )
    rows_per_person: Annotated[int, Field(ge=1, le=ROWS_PER_PERSON)] | None = Field(
        default=None, description="The most records of one person that are counted; given with `unit`"
    )
    disclosure_control: DisclosureControl | None = Field(
        default=None, description="Controls applied to all counts so that they reveal less; null: none"
    )
    label: Label = Field(description="The class label; of several, the default one")
    labels: Identifiers | None = Field(
        default=None,
        description=f"Names of all labels, 2 to {LABELS}, the default one first. Each other one is an attribute, "
        "too, and `pairs` has its joint counts, as it is, with each masking that a configuration shares with it. null: "
        "the default label only. Needs format 4",
    )
    attributes: Annotated[list[Attribute], Field(min_length=1), LONG_LIST] = Field(description="The attributes")
    quasi_identifiers: Identifiers | None = Field(
        default=None,
        description="The quasi-identifiers: attributes that an attacker is assumed to know. Promised privacy does "
        "not hold against anyone who knows more. null: all attributes, or not stated",
    )
    pairs: Annotated[list[Pair], LONG_LIST] = Field(
        default_factory=list,
        description="Counts of pairs of masked attributes, each pair at most once",
    )
    joint_trace: JointTrace | None = Field(
        default=None,
        description="The utility of the unmasked table by `joint` (`joint_scores` if the label has scores), from which "
        "deviations by that measure are measured; shown to the entry's provider only. null: deviations are measured "
        "from the known part of it",
    )
    joint_traces: Annotated[dict[str, JointTrace], LONG_OBJECT] = Field(
        default_factory=dict,
        exclude_if=lambda traces: not traces,
        description="The same as `joint_trace` for each other label; needs format 4",
    )
    holdout: Holdout | None = Field(
        default=None, description="The real records on which transfer utilities were evaluated; needs format 2"
    )
    configurations: ListedConfigurations | None = Field(
        default=None, description="The configurations as a list; give either this or `configuration_table`"
    )
    configuration_table: ConfigurationTable | None = Field(
        default=None, description="Masked configurations as columns; give either this or `configurations`"
    )

    @property
    def masked(self) -> list[Configuration]:
        """The masked configurations of the list, in order."""
        return [item for item in self.configurations or () if isinstance(item, Configuration)]

    @property
    def generated(self) -> list[GeneratedConfiguration]:
        """The generated configurations of the list, in order."""
        return [item for item in self.configurations or () if isinstance(item, GeneratedConfiguration)]

    def _faults(self) -> Iterator[Fault]:
        total = sum(self.label.histogram)
        if total != self.records:
            yield ("label", "histogram"), f"Sums to {total}, but the entry has {self.records} records"
        for location, detail in repeats([attribute.name for attribute in self.attributes]):
            yield ("attributes", *location, "name"), detail
        for index, attribute in enumerate(self.attributes):
            yield from within(("attributes", index), self._attribute_faults(attribute))
        names = {self.label.name, *(attribute.name for attribute in self.attributes)}
        for index, name in enumerate(self.quasi_identifiers or ()):
            if name not in names:
                yield ("quasi_identifiers", index), "The entry has no such attribute"
        yield from within(("pairs",), pair_faults(self.pairs, self.attributes, self.label))
        yield from self._label_faults()
        rows = self.rows_per_person or 1
        yield from self._unit_faults()
        yield from control_faults(
            self.disclosure_control, self.label, self.attributes, self.pairs, rows, self.labels or (self.label.name,)
        )
        if rows > 1:
            yield from person_faults(rows, self.disclosure_control, self.label, self.attributes, self.pairs)
        traces: dict[Location, JointTrace | None] = {("joint_trace",): self.joint_trace}
        traces |= {("joint_traces", name): trace for name, trace in self.joint_traces.items()}
        for location, trace in traces.items():
            yield from within(location, trace_faults(trace, self.disclosure_control))
        yield from within(("holdout",), holdout_faults(self.holdout, self.disclosure_control))
        yield from self._configuration_faults()

    def _label_faults(self) -> Iterator[Fault]:
        """The faults of several labels, and of members about a label that the entry does not have."""
        names, labels = [attribute.name for attribute in self.attributes], self.labels or ()
        wrong = [] if self.labels is None else list(names_faults(labels, self.label.name, names))
        if wrong:
            yield from within(("labels",), wrong)
            return
        yield from by_label_faults(labels, self.pairs, self.joint_traces, self.masked)
        for index, attribute in enumerate(self.attributes):
            if attribute.scores is not None and attribute.name not in labels:
                yield ("attributes", index, "scores"), "Only labels have scores: it is not one of `labels`"
        yield from label_counts_faults(labels, self.attributes, self.pairs, self.masked, self.configuration_table)

    def _unit_faults(self) -> Iterator[Fault]:
        """The faults of an incomplete unit, and of too many or too few people for the records."""
        people, rows = self.people, self.rows_per_person
        if self.unit is None or people is None or rows is None:
            if (self.unit, people, rows) != (None, None, None):
                yield ("unit",), "Give `unit`, `people` and `rows_per_person` together, or none of them"
            return
        if self.label.noise is not None:  # the label's counts then add up to any number
            return
        control = self.disclosure_control
        base = self.label.rounded_to or (control.rounded_to if control is not None else None) or 1
        slack = len(self.label.domain) * (base - 1)
        if not self.records - slack <= people * rows or people > self.records + slack:
            detail = f"{self.records} records, at most {rows} of each person, cannot be about {people} people"
            yield ("people",), detail

    def _attribute_faults(self, attribute: Attribute) -> Iterator[Fault]:
        """The faults of joint counts without exactly one column for each label value, and of too many records."""
        labels = len(self.label.domain)
        joints: list[tuple[Location, list[list[int]] | None]] = [(("joint",), attribute.joint)]
        joints += [(("maskings", place, "joint"), masking.joint) for place, masking in enumerate(attribute.maskings)]
        for location, joint in joints:  # all rows of one are of equal length here
            if joint is not None and len(joint) and len(joint[0]) != labels:
                yield location, f"Has {len(joint[0])} columns, but the label has {labels} values"
        # If the label's counts are inexact, so is their sum: the service decides what is plausible then.
        rounded = self.label.rounded_to or (self.disclosure_control and self.disclosure_control.rounded_to)
        for place, masking in enumerate(attribute.maskings if self.label.noise is None and not rounded else ()):
            if masking.records is not None and masking.records > self.records:
                detail = f"Is {masking.records}, but the entry has only {self.records} records"
                yield ("maskings", place, "records"), detail

    def _configuration_faults(self) -> Iterator[Fault]:
        known = {
            attribute.name: frozenset({IDENTITY, DROP, *(masking.id for masking in attribute.maskings)})
            for attribute in self.attributes
        }
        if self.label.maskings:
            if self.label.name in known:
                yield ("label", "maskings"), "An attribute has the label's name: give it another"
            known[self.label.name] = frozenset({IDENTITY, *(masking.id for masking in self.label.maskings)})
        listed, labels = self.configurations or [], len(self.label.domain)
        if self.holdout is not None and self.holdout.unmasked is not None:
            faults = transfer_faults(self.holdout.unmasked, self.holdout, known, labels, self.records)
            yield from within(("holdout", "unmasked"), faults)
        if (self.configurations is None) == (self.configuration_table is None):
            yield (), "Give exactly one of `configurations` and `configuration_table`"
        columns: list[tuple[Location, Label | Attribute]] = [(("label", "concept"), self.label)]
        columns += [(("attributes", place, "concept"), one) for place, one in enumerate(self.attributes)]
        concepts = [(location, column.concept, column.domain) for location, column in columns]
        yield from concept_faults(concepts)
        yield from price_faults([one.price if isinstance(one, Configuration) else None for one in listed])
        of_offers: list[Location] = [location for location, concept, _ in concepts if concept is not None]
        if self.configuration_table is not None and self.configuration_table.price is not None:
            of_offers.append(("configuration_table", "price"))
        of_labels = members_of_labels(self.labels, self.label, self.attributes, self.pairs, self.joint_traces)
        newer: dict[Location, int] = {("unit",): FORMAT_OF_PEOPLE} if self.unit is not None else {}
        newer |= dict.fromkeys(of_labels, FORMAT_OF_LABELS) | dict.fromkeys(of_offers, FORMAT_OF_OFFERS)
        yield from format_faults(self.format, listed, self.holdout, newer)
        faults = configurations_faults(listed, known, labels, self.records, self.holdout)
        yield from within(("configurations",), faults)
        for index, each in enumerate(listed):
            if self.label.scores is None and getattr(getattr(each, "measured", None), "r2", None) is not None:
                yield ("configurations", index, "measured", "r2"), "Only a label with `scores` has one: give `auc`"
        if self.configuration_table is not None:
            yield from within(("configuration_table",), table_faults(self.configuration_table, known))


def read_json(body: bytes | str) -> object:
    """Parse a body as JSON. A byte order mark, which some editors write, is skipped.

    Raises:
        NotJsonError: the body is not JSON.
    """
    mark = "\ufeff"
    try:
        body = body.removeprefix(mark) if isinstance(body, str) else body.removeprefix(mark.encode())
        return from_json(body, allow_inf_nan=False, cache_strings="keys")
    except ValueError as error:
        raise NotJsonError(str(error)) from None


def read_entry(
    body: bytes | str, parse: Callable[[bytes | str], object] = read_json
) -> tuple[dict[str, Any], EntryDocument]:
    """Read and validate an entry. Return the document as sent, and as a model.

    Args:
        body: the JSON document.
        parse: parses the body; in the document and in the model, counts may be int64 arrays instead of lists.

    Raises:
        NotJsonError: the body is not JSON.
        ValidationError: the entry breaks a rule of the contract; `faults_of` gives the faults with their pointers.
    """
    with _collector_paused():
        document = parse(body)
        if isinstance(document, dict):
            refuse_too_many(document.get("attributes"), document.get("pairs"))
        refuse_repeated_members(body, document)
        model = publishable(document)
        return cast("dict[str, Any]", document), model


def publishable(document: object) -> EntryDocument:
    """Validate an entry that is to be published, including its size.

    Raises:
        ValidationError: the entry breaks a rule of the contract, or is too large.
    """
    model = EntryDocument.model_validate(document)
    refuse("entry", size_faults(model))
    return model


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause garbage collection: parsing makes millions of lists and no garbage, and collection doubles its time."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


TITLE_LENGTH = 300
DESCRIPTION_LENGTH = 20_000
KEYWORDS = 50
KEYWORD_LENGTH = 100
VALUE_LENGTH = 1_000
ATTRIBUTES = 20_000
PAIRS = 50_000
CONFIGURATIONS = 1_000_000
TERMS_LENGTH = 65_536
"""The largest size of an entry's terms as JSON, in bytes."""


_MOST = {"keywords": KEYWORDS, "attributes": ATTRIBUTES, "pairs": PAIRS, "configurations": CONFIGURATIONS}


def size_faults(entry: EntryDocument) -> Iterator[Fault]:
    """The faults of an entry that exceeds a size limit."""
    texts = {"title": TITLE_LENGTH, "license": TITLE_LENGTH, "description": DESCRIPTION_LENGTH}
    for name, most in texts.items():
        if len(getattr(entry, name)) > most:
            yield (name,), f"Has {len(getattr(entry, name))} characters; at most {most} are accepted"
    yield from _too_many({name: getattr(entry, name) for name in _MOST})
    if entry.configuration_table is not None and len(entry.configuration_table.ids) > CONFIGURATIONS:
        given = len(entry.configuration_table.ids)
        yield ("configuration_table", "ids"), f"Has {given} items; at most {CONFIGURATIONS} are accepted"
    if entry.terms is not None and is_deeper(entry.terms, DEPTH):
        yield ("terms",), f"Is nested more than {DEPTH} levels deep"
    elif entry.terms is not None and (given := json_size(entry.terms)) > TERMS_LENGTH:
        yield ("terms",), f"Has {given} bytes as JSON; at most {TERMS_LENGTH} are accepted"
    yield from tenant_faults(entry.visibility)
    yield from _too_long(entry.keywords, KEYWORD_LENGTH, "keywords")
    yield from _too_long(entry.label.domain, VALUE_LENGTH, "label", "domain")
    for index, attribute in enumerate(entry.attributes):
        yield from within(("attributes", index), _size_faults(attribute))


def refuse_too_many(attributes: object, pairs: object) -> None:
    """Refuse an entry with too many attributes or pairs before any of them is parsed.

    Both are the document's values, which need not be lists.

    Raises:
        ValidationError: there are too many.
    """
    refuse("entry", _too_many({"attributes": attributes, "pairs": pairs}))


def _too_many(members: Mapping[str, object]) -> Iterator[Fault]:
    for name, items in members.items():
        if isinstance(items, list) and len(items) > _MOST[name]:
            yield (name,), f"Has {len(items)} items; at most {_MOST[name]} are accepted"


def _size_faults(attribute: Attribute) -> Iterator[Fault]:
    yield from _too_long(attribute.domain, VALUE_LENGTH, "domain")
    yield from _too_deep(attribute.discretization, "discretization", "parameters")
    for index, masking in enumerate(attribute.maskings):
        yield from _too_long(masking.domain, VALUE_LENGTH, "maskings", index, "domain")
        yield from _too_deep(masking.function, "maskings", index, "function", "parameters")


def _too_long(values: Iterable[str] | None, most: int, *location: str | int) -> Iterator[Fault]:
    values = values or ()
    if max(map(len, values), default=0) <= most:
        return
    for index, value in enumerate(values):
        if len(value) > most:
            yield (*location, index), f"Has {len(value)} characters; at most {most} are accepted"


def _too_deep(part: MaskingFunction | Discretization | None, *location: str | int) -> Iterator[Fault]:
    if part is not None and is_deeper(part.parameters, DEPTH):
        yield location, f"Is nested more than {DEPTH} levels deep"

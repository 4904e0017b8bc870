"""The catalogue entry: a provider's summary of a table. None of its fields can carry a record."""

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, Self, cast

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import from_json

from aegis_sdk.wire.attribute import DROP, IDENTITY, Attribute, Label
from aegis_sdk.wire.bounded import LONG_LIST
from aegis_sdk.wire.configuration import Configuration, ConfigurationTable, table_faults
from aegis_sdk.wire.disclosure_control import DisclosureControl, control_faults
from aegis_sdk.wire.documents import Request
from aegis_sdk.wire.examples import EXAMPLE_ENTRY
from aegis_sdk.wire.faults import Fault, Location, refuse
from aegis_sdk.wire.generated import GeneratedConfiguration
from aegis_sdk.wire.joint_trace import JointTrace, trace_faults
from aegis_sdk.wire.listed import ListedConfigurations, configurations_faults, format_faults
from aegis_sdk.wire.members import refuse_repeated_members
from aegis_sdk.wire.pair import Pair, pair_faults
from aegis_sdk.wire.sizes import refuse_too_many, size_faults
from aegis_sdk.wire.transfer import Holdout, holdout_faults, transfer_faults
from aegis_sdk.wire.values import COUNT_MAX, EntryFormat, EntryName, Identifiers, JsonObject, Text, repeats
from aegis_sdk.wire.visibility import Visibility


class NotJsonError(ValueError):
    """The bytes are not JSON (RFC 8259) in UTF-8."""


class EntryDocument(Request):
    """A catalogue entry: the summaries of a table and the masking configurations that may be shared.

    Validation covers the structure: types, names, lengths, and that every name refers to an existing part. A faulty
    part is not compared with the others. The only sum checked here is the label's: the service checks whether the
    tables agree with each other.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_ENTRY]})

    format: EntryFormat = Field(
        description="Version of this format: 2 if the entry has generated configurations or transfer utilities, else 1"
    )
    name: EntryName = Field(description="Unique within its tenant")
    title: Text = Field(default="", description="Title, in one line")
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
    disclosure_control: DisclosureControl | None = Field(
        default=None, description="Controls applied to all counts so that they reveal less; null: none"
    )
    label: Label = Field(description="The class label")
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
        description="The utility of the unmasked table by `joint`, from which deviations by that measure are "
        "measured; shown to the entry's provider only. null: deviations are measured from the known part of it",
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

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        refuse("entry", self._faults())
        return self

    def _faults(self) -> Iterator[Fault]:
        total = sum(self.label.histogram)
        if total != self.records:
            yield ("label", "histogram"), f"Sums to {total}, but the entry has {self.records} records"
        for location, detail in repeats([attribute.name for attribute in self.attributes]):
            yield ("attributes", *location, "name"), detail
        for index, attribute in enumerate(self.attributes):
            for location, detail in _joint_widths(attribute, len(self.label.domain)):
                yield ("attributes", index, *location), detail
            # If the label's counts are inexact, so is their sum: the service decides what is plausible then.
            if self._counts_the_label:
                for location, detail in _too_many_records(attribute, self.records):
                    yield ("attributes", index, *location), detail
        yield from self._unknown_quasi_identifiers()
        for location, detail in pair_faults(self.pairs, self.attributes):
            yield ("pairs", *location), detail
        yield from control_faults(self.disclosure_control, self.label, self.attributes, self.pairs)
        for location, detail in trace_faults(self.joint_trace, self.disclosure_control):
            yield ("joint_trace", *location), detail
        for location, detail in self._holdout_faults():
            yield ("holdout", *location), detail
        yield from self._configuration_faults()

    def _unknown_quasi_identifiers(self) -> Iterator[Fault]:
        known = {self.label.name, *(attribute.name for attribute in self.attributes)}
        for index, name in enumerate(self.quasi_identifiers or ()):
            if name not in known:
                yield ("quasi_identifiers", index), "The entry has no such attribute"

    @property
    def _counts_the_label(self) -> bool:
        """Whether the label's counts are exact."""
        rounded = self.label.rounded_to or (self.disclosure_control and self.disclosure_control.rounded_to)
        return self.label.noise is None and not rounded

    def _configuration_faults(self) -> Iterator[Fault]:
        known = _known_maskings(self.attributes)
        if (self.configurations is None) == (self.configuration_table is None):
            yield (), "Give exactly one of `configurations` and `configuration_table`"
        listed, labels = self.configurations or [], len(self.label.domain)
        yield from format_faults(self.format, listed, self.holdout)
        for location, detail in configurations_faults(listed, known, labels, self.records, self.holdout):
            yield ("configurations", *location), detail
        if self.configuration_table is not None:
            for location, detail in table_faults(self.configuration_table, known):
                yield ("configuration_table", *location), detail

    def _holdout_faults(self) -> Iterator[Fault]:
        yield from holdout_faults(self.holdout, self.disclosure_control)
        if self.holdout is not None and self.holdout.unmasked is not None:
            known, labels = _known_maskings(self.attributes), len(self.label.domain)
            for location, detail in transfer_faults(self.holdout.unmasked, self.holdout, known, labels, self.records):
                yield ("unmasked", *location), detail


def _known_maskings(attributes: list[Attribute]) -> Mapping[str, frozenset[str]]:
    """The masking ids that a configuration may name, for each attribute."""
    return {
        attribute.name: frozenset({IDENTITY, DROP, *(masking.id for masking in attribute.maskings)})
        for attribute in attributes
    }


def _joint_widths(attribute: Attribute, labels: int) -> Iterator[Fault]:
    """The faults of joint counts without exactly one column for each label value; all rows are of equal length here."""
    joints: list[tuple[Location, list[list[int]] | None]] = [(("joint",), attribute.joint)]
    joints += [(("maskings", i, "joint"), masking.joint) for i, masking in enumerate(attribute.maskings)]
    for location, joint in joints:
        if joint is not None and len(joint) and len(joint[0]) != labels:
            yield location, f"Has {len(joint[0])} columns, but the label has {labels} values"


def _too_many_records(attribute: Attribute, records: int) -> Iterator[Fault]:
    """The faults of maskings that claim more records than the entry has."""
    for index, masking in enumerate(attribute.maskings):
        if masking.records is not None and masking.records > records:
            yield ("maskings", index, "records"), f"Is {masking.records}, but the entry has only {records} records"


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

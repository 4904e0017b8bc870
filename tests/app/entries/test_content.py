"""The content of an entry beside the contract, whose members it has."""

from dataclasses import MISSING, fields, replace

import msgspec

from aegis_advisor.evidence import content
from aegis_provider.entry import content_of
from aegis_sdk import wire
from tests.for_each import for_each
from tests.generated import mixed_entry
from tests.pairs import associated_entry

#: The models of the contract that a part of the content stands for.
MODELS = {
    content.NoiseContent: [wire.Noise],
    content.LabelContent: [wire.Label],
    content.FunctionContent: [wire.MaskingFunction],
    content.MaskingContent: [wire.Masking],
    content.AttributeContent: [wire.Attribute],
    content.PairContent: [wire.Pair],
    content.ControlContent: [wire.DisclosureControl],
    content.PublishedTrace: [wire.JointTrace],
    content.HoldoutContent: [wire.Holdout],
    content.TransferContent: [wire.Transfer],
    content.ConfigurationContent: [wire.Configuration, wire.GeneratedConfiguration],
    content.TableContent: [wire.ConfigurationTable],
    content.EntryContent: [wire.EntryDocument],
}


@for_each(("part", "models"), MODELS.items())
def test_each_part_has_members_of_the_contract_and_demands_no_more(part, models):
    for member in fields(part):
        known = [model.model_fields[member.name] for model in models if member.name in model.model_fields]
        assert known, member.name
        if member.default is MISSING and member.default_factory is MISSING:
            assert all(field.is_required() for field in known), member.name


@for_each("document", [mixed_entry(), associated_entry()])
def test_provider_and_service_read_the_same_content(document):
    read = msgspec.convert(document, content.EntryContent)
    assert content_of(wire.EntryDocument.model_validate(document)) == replace(
        read, pairs=list(read.pairs), label=replace(read.label, maskings=list(read.label.maskings))
    )

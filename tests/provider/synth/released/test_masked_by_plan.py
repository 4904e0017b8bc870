"""What masked texts stand for by the plan, against the texts that the maskings give to every value."""

from aegis_provider.masking import MaskingFunction
from aegis_provider.records import read_records
from aegis_provider.synth.released.opening import meanings_by_plan
from aegis_provider.table import open_table


def test_masked_texts_stand_for_the_values_that_the_plan_masks_so(health_table, health_plan):
    configuration = health_plan.configuration("c04")
    with open_table(health_table) as table:
        records = read_records(table, health_plan.attributes, health_plan.label)
        found = meanings_by_plan(table, health_plan, configuration, records)
    assert set(found) == {each.name for each in health_plan.attributes}
    for attribute in health_plan.attributes:
        function = attribute.masking(configuration.maskings[attribute.name]).function
        assert isinstance(function, MaskingFunction)
        masked = function.mask(records.column(attribute.name).domain)
        expected = {text: [place for place, to in enumerate(masked) if to == text] for text in masked}
        assert {text: members.tolist() for text, members in found[attribute.name].items()} == expected

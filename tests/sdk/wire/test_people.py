"""Entries whose privacy counts people: what they must say, and what keeps a person rather than a record hidden."""

from aegis_sdk.wire import EXAMPLE_ENTRY, AdviceRequest, EntryDocument, PolicyDocument
from tests.for_each import for_each
from tests.sdk.wire.documents import assert_read_whole, assert_refused, changed, entry_pointers, pointers

PEOPLE = EXAMPLE_ENTRY | {"format": 3, "unit": "person", "people": 40, "rows_per_person": 3}
NOISE = {"kind": "laplace", "scale": 6.0}


def without(*names, **changes):
    return {name: value for name, value in PEOPLE.items() if name not in names} | changes


def test_an_entry_of_people_says_how_many_with_how_many_records():
    assert_read_whole(PEOPLE)
    assert_refused(["record", "people", 1, True, []], ("unit",), document=PEOPLE)
    assert_refused([0, -1, "3", 1.5, 1001], ("rows_per_person",), document=PEOPLE)
    assert_refused([0, "40", 33, 101], ("people",), document=PEOPLE)  # 100 records, at most 3 of each
    assert [entry_pointers(PEOPLE | {"people": people}) for people in (34, 100)] == [[], []]


@for_each(
    ("document", "faults"),
    [
        (without("unit", format=1), ["/unit"]),
        (without("people"), ["/unit"]),
        (without("rows_per_person"), ["/unit"]),
        (without("unit", "people", "rows_per_person"), ["/format"]),
        (PEOPLE | {"format": 2}, ["/unit"]),
        (PEOPLE | {"format": 1}, ["/unit"]),
        # What a service does that knows only older formats, or none of these members.
        (EXAMPLE_ENTRY | {"format": 6, "counts_of": "households"}, ["/format", "/counts_of"]),
    ],
)
def test_it_is_complete_and_has_the_third_format(document, faults):
    assert entry_pointers(document) == faults


def rounded(base):
    """The example with its label rounded to a base, and so with other sums."""
    label = {"name": "health", "domain": ["P", "G"], "histogram": [5 * base, 3 * base], "rounded_to": base}
    attribute = {"name": "age", "type": "integer", "domain": ["1", "2"]}
    control = {"rounded_to": base}
    return PEOPLE | {
        "records": 8 * base,
        "people": 4 * base,
        "label": label,
        "attributes": [attribute],
        "configurations": [{"id": "c", "maskings": {"age": "drop"}}],
        "disclosure_control": control,
    }


def test_rounding_and_noise_hide_all_records_of_a_person():
    assert entry_pointers(rounded(6)) == []
    assert entry_pointers(rounded(5)) == ["/disclosure_control/rounded_to", "/label/rounded_to"]
    assert entry_pointers(changed(("rows_per_person",), 2, rounded(5))) == []
    # Two label values, each off by at most 5: 48 records may be 38 to 58.
    told = [entry_pointers(rounded(6) | {"people": people}) for people in (12, 13, 58, 59)]
    assert told == [["/people"], [], [], ["/people"]]
    assert entry_pointers(PEOPLE | {"disclosure_control": {"min_cell": 5}}) == ["/disclosure_control/min_cell"]
    budgets = ({}, {"epsilon": 0.4}, {"epsilon": 0.5})
    noisy = [changed(("label", "noise"), NOISE | epsilon, PEOPLE) for epsilon in budgets]
    assert list(map(entry_pointers, noisy)) == [["/label/noise"], ["/label/noise"], []]
    assert entry_pointers(noisy[2] | {"people": 1}) == []  # noise leaves open how many records there are


def test_only_required_privacy_has_a_unit():
    asked = {"measure": "g3", "require": {"k": 5}, "unit": "person"}
    assert pointers(AdviceRequest, asked) == pointers(PolicyDocument, {"require": {"k": 5}, "unit": "person"}) == []
    assert pointers(AdviceRequest, asked | {"require": {}}) == pointers(PolicyDocument, {"unit": "person"}) == ["/unit"]
    assert pointers(AdviceRequest, asked | {"unit": "people"}) == ["/unit"]
    assert "unit" not in AdviceRequest(measure="g3").model_dump()  # so that questions stay as they were


def test_entries_without_stay_as_they_were():
    assert "unit" not in EntryDocument.model_validate(EXAMPLE_ENTRY).model_dump(exclude_unset=True)

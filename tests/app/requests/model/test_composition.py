"""Which configurations are nested, against all records that there can be."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.entries.model.documents import entry_in
from app.requests.model.composition import Comparison, Cutting, Relation, keeps
from app.tenants.model import Composed
from tests.service import example_entry

VALUES = ["a", "b", "c", "d"]
GROUPINGS = st.lists(st.integers(0, 2), min_size=4, max_size=4)


def masking(name, mapping, **others):
    return {"id": name, "domain": ["x", "y", "z"], "mapping": mapping} | others


def attribute(name, maskings, values=VALUES, **others):
    return {"name": name, "type": "string", "domain": values, "maskings": maskings} | others


def cutting(attributes, configurations, **changes):
    return Cutting(entry_in(example_entry(attributes=attributes, configurations=configurations, **changes)))


def related(cuts, one, other="before"):
    (had,), (asked,) = (cuts[0].of([other]), cuts[-1].of([one]))
    return Comparison([had]).relations(asked)[0]


@given(st.lists(st.tuples(GROUPINGS, GROUPINGS), min_size=1, max_size=3), st.data())
def test_the_relation_is_that_of_the_classes_of_all_possible_records(groupings, data):
    names = [f"q{place}" for place in range(len(groupings))]
    attributes = [
        attribute(name, [masking("m0", first), masking("m1", second)])
        for name, (first, second) in zip(names, groupings, strict=True)
    ]
    choice = st.sampled_from(["m0", "m1", "identity", "drop"])
    chosen = [{name: data.draw(choice) for name in names} for _ in range(2)]
    configurations = [{"id": str(place), "maskings": one} for place, one in enumerate(chosen)]

    def groups(maskings):
        for name, both in zip(names, groupings, strict=True):
            of = {"identity": range(4), "drop": [0] * 4, "m0": both[0], "m1": both[1]}
            yield of[maskings[name]]

    seen = [
        [tuple(of[value] for of, value in zip(groups(one), record, strict=True)) for one in chosen]
        for record in product(range(4), repeat=len(names))
    ]
    is_finer, is_coarser = (
        len({tuple(pair) for pair in seen}) == len({pair[side] for pair in seen}) for side in (0, 1)
    )
    expected = {(True, True): Relation.SAME, (True, False): Relation.FINER, (False, True): Relation.COARSER}
    listed = cutting(attributes, configurations)
    assert related([listed], "0", "1") is expected.get((is_finer, is_coarser), Relation.OTHER)


BANDS = {"name": "bucketize", "parameters": {"edges": [1, 2]}}


@pytest.mark.parametrize(
    ("values", "names", "function", "expected"),
    [
        (["d", "c", "b", "a"], ["x", "y", "z"], None, Relation.COARSER),  # in another order
        (["a", "b", "c", "e"], ["x", "y", "z"], BANDS, Relation.SAME),
        (["a", "b", "c", "e"], ["x", "y", "w"], BANDS, Relation.OTHER),
        (["a", "b", "c", "e"], ["x", "y", "z"], None, Relation.OTHER),
    ],
)
def test_versions_are_compared_by_their_values_or_else_by_equal_functions_and_masked_values(
    values, names, function, expected
):
    before = [attribute("q", [masking("m", [0, 0, 1, 2], function=function)])]
    mapping = [0, 0, 0, 0] if expected is Relation.COARSER else [0, 0, 1, 2]
    after = [attribute("q", [masking("m", mapping, function=function) | {"domain": names}], values)]
    versions = [
        cutting(before, [{"id": "before", "maskings": {"q": "m"}}]),
        cutting(after, [{"id": "asked", "maskings": {"q": "m"}}]),
    ]
    assert related(versions, "asked") is expected


def test_random_generated_and_unknown_ones_and_other_labels_are_nested_in_nothing():
    random = {"id": "r", "domain": ["x", "y"], "transition": [[0.9, 0.1]] * 2 + [[0.1, 0.9]] * 2}
    attributes = [attribute("q", [random]), attribute("p", [])]
    listed = [
        {"id": "before", "maskings": {"q": "r", "p": "identity"}},
        {"id": "coarser", "maskings": {"p": "identity"}},
        {"id": "drawn", "kind": "generated", "method": "tree", "records": 9, "histogram": [9]},
    ]
    version = cutting(attributes, listed)
    assert [related([version], one) for one in ("before", "drawn", "gone")] == [Relation.OTHER] * 3
    assert related([version], "coarser") is Relation.COARSER
    label = {"name": "other", "domain": ["l", "m"], "histogram": [50, 50]}
    assert related([version, cutting(attributes, listed, label=label)], "coarser") is Relation.OTHER


SAME, COARSER, FINER, OTHER = Relation


@pytest.mark.parametrize(
    ("policy", "relations", "expected"),
    [
        (Composed.NESTED, [], True),
        (Composed.NESTED, [FINER, FINER], True),
        (Composed.NESTED, [FINER, OTHER], False),
        (Composed.NESTED, [COARSER, OTHER], True),  # it can be made from the one that left
        (Composed.NESTED, [OTHER], False),
        (Composed.ONE, [], True),
        (Composed.ONE, [COARSER, FINER], False),
        (Composed.ONE, [SAME, OTHER], True),
        (Composed.ANY, [OTHER], True),
    ],
)
def test_what_a_policy_allows(policy, relations, expected):
    assert keeps(policy, relations) is expected

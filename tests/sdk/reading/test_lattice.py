"""The lattice of an attribute's maskings, checked against its definition on pairs of values."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_sdk.reading import lattice_of
from aegis_sdk.wire import DROP, IDENTITY, Attribute


def attribute_with(mappings, values):
    """An attribute with this many values and these mappings; None for a masking without a mapping."""
    maskings = []
    for place, mapping in enumerate(mappings):
        domain = [str(each) for each in range(values)]
        known = {"joint": [[1]] * values} if mapping is None else {"mapping": mapping}
        maskings.append({"id": f"m{place}", "domain": domain, **known})
    domain = [f"v{each}" for each in range(values)]
    return Attribute.model_validate({"name": "a", "type": "string", "domain": domain, "maskings": maskings})


@st.composite
def mapped(draw):
    values = draw(st.integers(1, 6))
    groups = st.integers(0, min(values, 3) - 1)
    return values, draw(st.lists(st.lists(groups, min_size=values, max_size=values), max_size=6))


def brute_force(values, mappings):
    """Nodes as sets of ids, and the covers between them, straight from the definitions."""
    groupings = {IDENTITY: list(range(values)), DROP: [0] * values}
    groupings |= {f"m{place}": mapping for place, mapping in enumerate(mappings)}

    def follows(coarser, finer):
        pairs = combinations(range(values), 2)
        one, other = groupings[coarser], groupings[finer]
        return all(one[a] == one[b] for a, b in pairs if other[a] == other[b])

    def alike(one, other):
        return follows(one, other) and follows(other, one)

    nodes = {frozenset(each for each in groupings if alike(each, name)) for name in groupings}
    below = {(a, b) for a in nodes for b in nodes if a != b and follows(min(b), min(a))}
    return nodes, {(a, b) for a, b in below if not any((a, c) in below and (c, b) in below for c in nodes)}


@given(mapped())
def test_nodes_and_covers_are_those_of_the_definition(drawn):
    values, mappings = drawn
    found = lattice_of(attribute_with(mappings, values))
    names = [frozenset(node.maskings) for node in found.nodes]
    assert (set(names), {(names[a], names[b]) for a, b in found.covers}) == brute_force(values, mappings)
    assert len(names) == len(set(names))
    assert len(found.covers) == len(set(found.covers))


@given(mapped())
def test_nodes_stand_finest_first_and_tell_how_many_groups_they_have(drawn):
    values, mappings = drawn
    found = lattice_of(attribute_with(mappings, values))
    groups = [node.groups for node in found.nodes]
    assert groups == sorted(groups, reverse=True)
    assert (groups[0], groups[-1]) == (values, 1)
    assert IDENTITY in found.nodes[0].maskings
    assert DROP in found.nodes[-1].maskings
    sizes = {name: node.groups for node in found.nodes for name in node.maskings}
    assert {f"m{place}": len(set(mapping)) for place, mapping in enumerate(mappings)}.items() <= sizes.items()


def test_what_has_no_mapping_lies_outside():
    found = lattice_of(attribute_with([[0, 0, 1], None], 3))
    assert found.outside == ("m1",)
    assert [node.maskings for node in found.nodes] == [(IDENTITY,), ("m0",), (DROP,)]
    assert found.finer_than("m1") == []


@pytest.mark.parametrize(
    ("masking", "finer", "alike"),
    [("m0", [IDENTITY], ()), ("m1", ["m0"], ("m2",)), (DROP, ["m1"], ()), (IDENTITY, [], ())],
)
def test_a_masking_tells_what_it_follows_from_and_what_is_the_same(masking, finer, alike):
    found = lattice_of(attribute_with([[0, 1, 2, 2], [0, 1, 1, 1], [1, 0, 0, 0]], 4))
    assert [node.maskings[0] for node in found.finer_than(masking)] == finer
    assert found.same_as(masking) == alike

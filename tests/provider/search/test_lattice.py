"""Lattices and their search, against predicates on every node; and the counts of classes."""

from functools import cache
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.counting.counted_table import DistinctRecords
from aegis_provider.counting.counts import Partition
from aegis_provider.plan.model import Roles
from aegis_provider.privacy import breaks, classes_of, left_out_people
from aegis_provider.search.configurations import preferred
from aegis_provider.search.evaluation import ClassCounter
from aegis_provider.search.lattice import Choices, Lattice, search
from aegis_provider.table.values import Domain


def partition(groups):
    """Return the partition with these groups of the values, which may have any names."""
    found, places = np.unique(list(groups), return_inverse=True)
    return Partition(places, len(found))


def choices_of(*groupings):
    return Choices.of("a", {grouping: partition(grouping) for grouping in groupings})


@cache
def numbers(size):
    return Domain.of(map(str, range(size)))


def is_finer(lattice, one, other):
    return all(each.follows[b, a] for each, a, b in zip(lattice.choices, one, other, strict=True))


def test_of_choices_that_group_alike_the_first_stands_and_the_finest_comes_first():
    choices = choices_of("abcd", "dcba", "aabb", "xxxx", "yyzz", "zzzz")
    assert choices.ids == ("abcd", "aabb", "xxxx")
    assert choices.is_chain
    assert choices.steps == ((0, 1), (1, 2))


def test_overlapping_buckets_are_not_compared():
    choices = choices_of("abcdef", "aaabbb", "aabbcc", "aaaabb", "cccccc")
    fives, sevens, edge = (choices.ids.index(each) for each in ("aabbcc", "aaabbb", "aaaabb"))
    assert not choices.is_chain
    assert not choices.follows[fives, sevens]
    assert not choices.follows[sevens, fives]
    assert choices.follows[edge, fives]
    assert set(choices.steps) == {(0, fives), (0, sevens), (fives, edge), (edge, 4), (sevens, 4)}


@st.composite
def lattices(draw):
    """Draw lattices of up to five attributes, with a bottom, a top, and anything between."""
    finest, coarsest = "abcde", "xxxxx"
    between = st.lists(st.text("ABC", min_size=5, max_size=5), max_size=3)
    several = draw(st.lists(between, min_size=1, max_size=5))
    return Lattice(tuple(choices_of(finest, *each, coarsest) for each in several))


@given(lattice=lattices(), data=st.data())
def test_pruning_decides_every_node_as_the_predicate_does(lattice, data):
    node = st.tuples(*(st.integers(0, size - 1) for size in lattice.shape))
    least = data.draw(st.lists(node, max_size=4))
    asked = []

    def holds(node):
        asked.append(node)
        return any(is_finer(lattice, each, node) for each in least)

    decision = search(lattice, holds)
    assert decision.evaluated == len(asked) == len(set(asked))
    nodes = list(product(*map(range, lattice.shape)))
    above = {node for node in nodes if any(is_finer(lattice, each, node) for each in least)}
    assert {tuple(each) for each in np.argwhere(decision.holds).tolist()} == above
    minimal = {node for node in above if not any(each != node and is_finer(lattice, each, node) for each in above)}
    assert {tuple(each) for each in lattice.minimal(decision.holds).tolist()} == minimal


def test_few_nodes_are_evaluated():
    """If one node of 15,625 and all above it hold, a search evaluates this node, its neighbours and a few others."""
    chain = choices_of("abcdef", "aacdef", "aaadef", "aaaaef", "aaaaaa")
    lattice = Lattice((chain,) * 6)
    assert lattice.nodes == 5**6
    decision = search(lattice, lambda node: all(place >= 2 for place in node))
    assert decision.holds.sum() == 3**6
    assert decision.evaluated < 60


@st.composite
def tables(draw):
    """Draw distinct records of wide or narrow attributes with counts, and a masking of each attribute."""
    rows, size = draw(st.integers(1, 60)), draw(st.sampled_from([2, 5, 40, 20_000]))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    attributes = draw(st.integers(1, 6))
    codes = random.integers(0, size, (rows, attributes))
    sensitive = random.integers(0, 3, (rows, 2))
    counts = random.integers(1, draw(st.sampled_from([2, 6])), rows)
    groups = [random.integers(0, draw(st.sampled_from([1, 2, size])), size) for _ in range(attributes)]
    return np.column_stack([codes, sensitive]), counts, groups


@given(table=tables(), k=st.integers(1, 9), distinct=st.integers(1, 3))
def test_the_fast_count_is_that_of_the_criteria(table, k, distinct):
    codes, counts, groups = table
    names = tuple(f"a{at}" for at in range(len(groups)))
    domains = [numbers(len(each)) for each in groups]
    small = numbers(3)
    records = DistinctRecords((*names, "s", "t"), (*domains, small, small), codes, counts)
    choices = tuple(Choices.of(name, {"m": partition(each)}) for name, each in zip(names, groups, strict=True))
    counter = ClassCounter.of(Lattice(choices), records, ("s", "t"), {})
    classes = classes_of(records, dict(zip(names, groups, strict=True)), names, ("s", "t"))
    expected = classes.sizes[breaks(classes, {"k": k, "l": distinct})].sum()
    assert counter.short((0,) * len(names), k, distinct) == expected


@given(table=tables(), people=st.sampled_from([1, 2, 9, 30, 60]), k=st.integers(1, 9), distinct=st.integers(1, 3))
def test_the_fast_count_of_people_is_that_of_the_criteria(table, people, k, distinct):
    codes, counts, groups = table
    names, roles = tuple(f"a{at}" for at in range(len(groups))), ("s", "t")
    domains = [*(numbers(len(each)) for each in groups), numbers(3), numbers(3)]
    whose = np.random.default_rng(people).integers(0, people, len(counts))  # some have more rows than are compared
    records = DistinctRecords((*names, *roles), tuple(domains), codes, counts, whose)
    choices = tuple(Choices.of(name, {"m": partition(each)}) for name, each in zip(names, groups, strict=True))
    counter, masks = ClassCounter.of(Lattice(choices), records, roles, {}), dict(zip(names, groups, strict=True))
    for least, promise in ((1, {"k": k}), (distinct, {"k": k, "l": distinct})):
        out, _ = left_out_people(records, masks, [Roles(names, roles)], promise)
        assert counter.short((0,) * len(names), k, least, told=True) == counts[out].sum()
        assert counter.short((0,) * len(names), k, least) <= counts[out].sum()


def test_the_preferred_ones_have_every_choice_and_then_the_best():
    shares = np.array([[1.0, 0.5, 0.0], [1.0, 0.25, 0.0]])

    def kept(most, *nodes):
        return preferred(np.array(nodes), np.array([shares[0][one] + shares[1][two] for one, two in nodes]), most)

    nodes = (0, 2), (1, 1), (2, 0), (0, 1), (1, 2)
    assert kept(5, *nodes).tolist() == [[0, 1], [0, 2], [2, 0], [1, 1], [1, 2]]
    assert kept(4, *nodes).tolist() == [[0, 1], [0, 2], [2, 0], [1, 1]]
    assert kept(4, (0, 0), (0, 1), (0, 2), (1, 1), (2, 2)).tolist() == [[0, 0], [0, 1], [0, 2], [1, 1]]
    one_choice_is_rare = (0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 2)
    assert kept(5, *one_choice_is_rare).tolist() == [[0, 0], [1, 0], [0, 1], [0, 2], [2, 2]]

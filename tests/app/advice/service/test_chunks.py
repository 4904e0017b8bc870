"""How the references of a version are split among jobs."""

from hypothesis import given
from hypothesis import strategies as st

from app.advice.service.questions import LIGHT, lane_of, reference_cost
from app.advice.service.work import MOST, SMALLEST, chunks
from app.entries.model.entries import AttributeOutline, MaskingOutline
from app.platform.queue.model import Lane


def attribute(values: int = 100, views: int = 4, groups: int = 10, labels: int = 4, **changes) -> AttributeOutline:
    masking = MaskingOutline("m", groups, mapped=True, counted=True, deterministic=True)
    known = {"name": "a", "cells": values * labels, "values": values, "labels": labels, "joint": False}
    return AttributeOutline(**(known | {"maskings": (masking,) * views} | changes))


attributes = st.builds(
    attribute,
    values=st.integers(1, 5_000),
    views=st.integers(0, 12),
    groups=st.integers(0, 400),
    labels=st.integers(1, 20),
    joint=st.booleans(),
)


@given(st.lists(attributes, max_size=200), st.data())
def test_every_attribute_is_in_one_chunk_and_chunks_are_worth_a_job_and_few(outline, data):
    places = data.draw(st.lists(st.sampled_from(range(len(outline))), unique=True)) if outline else []
    found = chunks(outline, places)
    assert [place for chunk in found for place in chunk] == places
    costs = [sum(reference_cost(outline[place]) for place in chunk) for chunk in found]
    assert len(found) <= MOST
    assert all(spent >= SMALLEST for spent in costs[:-1])
    share = max(2 * SMALLEST, sum(costs) / MOST)
    assert all(spent - reference_cost(outline[chunk[-1]]) < share for spent, chunk in zip(costs, found, strict=True))


def test_chunks_of_equal_attributes_are_equal():
    outline = [attribute(values=300, views=2, groups=12, labels=5)] * 50
    assert [len(chunk) for chunk in chunks(outline, range(50))] == [25, 25]


def test_a_small_version_is_one_job_and_a_large_one_keeps_eight_workers_busy():
    small, large = [attribute()] * 3, [attribute(values=300, views=10, groups=40, labels=5)] * 1_000
    assert list(chunks(small, range(3))) == [(0, 1, 2)]
    assert 24 <= len(chunks(large, range(1_000))) <= MOST


def test_a_few_heavy_attributes_are_shared_too():
    heavy = attribute(values=3_000, views=3, groups=300, labels=12)
    assert list(chunks([heavy, attribute(joint=True), heavy, heavy], range(4))) == [(0,), (1, 2), (3,)]


def test_what_has_a_closed_form_costs_next_to_nothing():
    assert (
        reference_cost(attribute(joint=True))
        == reference_cost(attribute(views=1))
        == reference_cost(attribute(views=0))
        == 1
    )


def test_values_that_no_view_tells_apart_cost_nothing():
    assert (
        reference_cost(attribute(values=10**6))
        == reference_cost(attribute(values=1_000))
        > reference_cost(attribute(values=10))
    )


def test_a_transition_matrix_costs_more_with_every_masked_value():
    def drawn(groups: int) -> AttributeOutline:
        masking = MaskingOutline("m", groups, mapped=False, counted=True, deterministic=False, drawn=True)
        return attribute(values=groups, labels=6, maskings=(masking,))

    assert reference_cost(drawn(8)) <= LIGHT < reference_cost(drawn(30)) < reference_cost(drawn(300))


def test_a_chunk_is_in_the_lane_of_all_its_attributes_together():
    half = attribute(values=300, views=2, groups=12, labels=5)
    assert chunks([half], range(1)) == {(0,): Lane.LIGHT}
    large = attribute(values=3_000, views=3, groups=300, labels=12)
    found = chunks([half, large], range(2))
    assert {lane_of(sum(reference_cost([half, large][place]) for place in chunk)) for chunk in found} >= {Lane.HEAVY}
    assert list(found.values())[-1] is Lane.HEAVY

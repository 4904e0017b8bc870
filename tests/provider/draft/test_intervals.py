"""Drafted intervals and bins: no edge tells a number of few records, and no single record's label moves one."""

from collections import Counter
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider import load_plan
from aegis_provider.counting.published_domain import LEAST
from aegis_provider.draft import start
from aegis_provider.draft.fitting import fit_intervals
from aegis_provider.draft.merges import blind_runs
from aegis_provider.table.values import Domain
from tests.provider.draft.made_up import write

SIZES = (8, 4, 2)


@given(records=st.lists(st.integers(0, 60), min_size=1, max_size=30), least=st.integers(1, 50))
def test_runs_have_the_least_and_end_as_soon_as_they_have(records, least):
    runs = blind_runs(np.array(records), least)
    assert list(runs) == sorted(runs)
    sizes = np.bincount(runs, records)
    assert len(sizes) == 1 or sizes.min() >= least
    for run in range(len(sizes) - 1):
        assert sum(np.array(records)[runs == run][:-1]) < least


@st.composite
def numbers(draw):
    """Numbers with up to three digits, their (numbers, labels) counts, and these with the labels in runs exchanged."""
    keys = sorted(draw(st.sets(st.integers(0, 999), min_size=2, max_size=25)))
    size = st.lists(st.integers(0, 30), min_size=2, max_size=2)
    joint = np.array([draw(size) for _ in keys]) + np.array([1, 0])
    runs, other = blind_runs(joint.sum(axis=1), LEAST), joint.copy()
    random = np.random.default_rng(draw(st.integers(0, 99)))
    for run in range(runs.max() + 1):
        records = np.repeat(np.flatnonzero(runs == run), joint[runs == run].sum(axis=1))
        labels = np.repeat([0, 1], joint[runs == run].sum(axis=0))
        other[runs == run] = 0
        np.add.at(other, (records, random.permutation(labels)), 1)
    return Domain.of([str(each) for each in keys]), joint, other


@given(numbers=numbers(), minimum=st.integers(1, 60))
def test_no_interval_depends_on_whose_the_labels_are_among_neighbours_of_few_records(numbers, minimum):
    domain, joint, other = numbers
    found = fit_intervals(domain, joint, minimum, SIZES)
    assert found == fit_intervals(domain, other, minimum, SIZES)
    assert all(Counter(sum(each.level.groups, ())) == Counter(range(len(domain))) for each in found)


@pytest.mark.parametrize("records", [600, 3_000])
def test_no_edge_tells_a_number_of_few_records(tmp_path, records):
    random = np.random.default_rng(records)
    paid = np.where(random.random(records) < 0.8, random.lognormal(8, 1, records).round(2), 1500.55)
    far = random.choice([7, 1_034, 1_035], records) + (random.random(records) < 0.01) * random.integers(
        10**5, size=records
    )
    label = np.where(random.random(records) < np.where(paid > 3_000, 0.6, 0.2), "ill", "well")
    columns = {"paid": paid, "far": far, "label": label}
    table = write(tmp_path / "table.csv", {name: [str(each) for each in column] for name, column in columns.items()})
    plan = load_plan(start(table, "label", tmp_path / "plan.yaml").plan, configurations_needed=False)
    for attribute, column in zip(plan.attributes, (paid, far), strict=True):
        held = Counter(Decimal(str(each)) for each in column)
        edges = {edge for masking in attribute.maskings for edge in masking.function.edges if edge.is_finite()}
        if attribute.discretization is not None:
            edges |= {edge for edge in attribute.discretization.edges if edge.is_finite()}
        assert len(edges) > 1
        assert [
            edge for edge in edges if held[edge] in range(1, LEAST) and len(edge.normalize().as_tuple().digits) > 3
        ] == []

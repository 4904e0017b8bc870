"""Traces of many configurations from one matrix, against least squares on the records, and the advisor's own traces."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_advisor.joint.indicators import Indicators
from aegis_advisor.measures.association import mean_square_contingency, trace_bias


def least_squares(values, labels, counts, maskings, codes):
    """Return the trace and the rank of a configuration from the indicators of its records."""
    rows = np.repeat(np.arange(len(labels)), counts)
    columns = [
        np.asarray(of[code])[values[rows, attribute]][:, None] == np.unique(of[code])
        for attribute, (of, code) in enumerate(zip(maskings, codes, strict=True))
    ]
    x = np.concatenate(columns, axis=1).astype(float)
    y = (labels[rows][:, None] == np.unique(labels[rows])).astype(float)
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    left, singular, _ = np.linalg.svd(y, full_matrices=False)
    basis = left[:, singular > 1e-9]
    trace = np.sum((x @ np.linalg.lstsq(x, basis, rcond=1e-9)[0]) * basis)
    return trace, np.linalg.matrix_rank(x, tol=1e-8)


@st.composite
def tables(draw):
    """Draw records of a few attributes, some of them functions of others, and nested maskings of each."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows, attributes = draw(st.integers(2, 40)), draw(st.integers(1, 4))
    values = random.integers(0, draw(st.integers(1, 7)), (rows, attributes))
    if attributes > 1 and draw(st.booleans()):
        values[:, 1] = values[:, 0] // 2
    maskings = [[np.arange(7) // width for width in (1, 2, 4, 7)] for _ in range(attributes)]
    counts = random.integers(1, 4, rows)
    return values, random.integers(0, draw(st.integers(1, 3)), rows), counts, maskings


@given(table=tables(), data=st.data())
def test_traces_are_those_of_least_squares(table, data):
    values, labels, counts, maskings = table
    codes = [data.draw(st.integers(0, 3)) for _ in maskings]
    indicators = Indicators.of(values, labels, counts, maskings)
    traces, ranks = indicators.traces(np.array([codes]))
    trace, rank = least_squares(values, labels, counts, maskings, codes)
    assert ranks.tolist() == [rank]
    assert traces[0] == pytest.approx(trace, abs=1e-9)
    classes, records = len(np.unique(labels)) - 1, int(counts.sum())
    expected = trace - trace_bias(trace, rank, classes, records)
    assert indicators.adjusted(traces, ranks)[0] == pytest.approx(expected, abs=1e-8)


@given(table=tables(), data=st.data())
def test_a_step_leads_to_the_trace_of_the_finer_configuration(table, data):
    values, labels, counts, maskings = table
    codes = [data.draw(st.integers(0, 3)) for _ in maskings]
    steps = [(attribute, finer) for attribute, code in enumerate(codes) for finer in range(code)]
    indicators = Indicators.of(values, labels, counts, maskings)
    traces, ranks = indicators.refined(codes, steps)
    assert len(traces) == len(ranks) == len(steps)
    for (attribute, finer), trace, rank in zip(steps, traces, ranks, strict=True):
        after = [*codes[:attribute], finer, *codes[attribute + 1 :]]
        expected, dimensions = indicators.traces(np.array([after]))
        assert rank == dimensions[0]
        assert trace == pytest.approx(expected[0], abs=1e-9)


def test_of_one_attribute_it_is_chi_square_over_the_records():
    table = np.array([[0, 0, 1, 7, 12], [15, 25, 29, 9, 2]])
    values, labels = np.nonzero(table)
    indicators = Indicators.of(values[:, None], labels, table[values, labels], [[np.arange(2), np.zeros(2, dtype=int)]])
    traces, ranks = indicators.traces(np.array([[0], [1]]))
    assert traces == pytest.approx([mean_square_contingency(table.astype(float), None), 0.0])
    assert ranks.tolist() == [1, 0]
    assert (indicators.classes, indicators.records) == (4, 100)

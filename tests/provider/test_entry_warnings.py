"""Counts that an entry publishes although a release leaves the records out."""

import pytest

from aegis_provider import load_plan, summarize
from aegis_provider.entry import counted_below_k

PLAN = """
label: y
attributes:
  a: {maskings: {gone: {suppress: {}}}}
  b: {}
configurations: {c: {}, d: {a: gone}}
"""


@pytest.fixture
def entry(write):
    def summarized(more="", **options):
        table = write("t.csv", "a,b,y\n" + "1,u,m\n1,u,n\n1,v,m\n1,v,n\n2,u,m\n3,v,n\n3,v,n\n")
        return summarize(table, load_plan(write("plan.yaml", PLAN + more)), name="t", **options)

    return summarized


def test_of_values_that_fewer_records_have_than_k(entry):
    promise = "privacy: {c: {k: 2}, d: {k: 9}}\nsuppressed: {c: 1}"
    assert counted_below_k(entry(promise)) == 1  # a = 2
    assert counted_below_k(entry(promise, pairs=True)) == 2  # and a = 2 with b = u


def test_nothing_is_said_where_nothing_is_left_out(entry):
    assert counted_below_k(entry("privacy: {c: {k: 2}}")) == 0


def test_nothing_that_no_such_release_shows_counts(entry):
    assert counted_below_k(entry("privacy: {d: {k: 3}}\nsuppressed: {d: 1}")) == 0

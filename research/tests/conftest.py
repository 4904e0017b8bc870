"""A small study, and all entrants."""

import pytest

from research import real_tables
from research.evaluation.rankers import entrants


@pytest.fixture(scope="module")
def wine():
    return real_tables.wine(configurations=8)


@pytest.fixture(scope="module")
def by_id():
    return {entrant.id: entrant for entrant in entrants()}

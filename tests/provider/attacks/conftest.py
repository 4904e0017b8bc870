import numpy as np
import pyarrow as pa
import pytest

from aegis_provider.attacks import Case, Released
from aegis_provider.records import Column, Records, sides_of


def made(records, seed, *, fresh=None):
    """Texts of people: two numbers, one with missing values, a category, and an answer that follows from the age."""
    rng = np.random.default_rng(seed if fresh is None else fresh)
    age, income = rng.integers(18, 90, records), np.round(rng.lognormal(3, 1, records), 1)
    town = rng.choice(["north", "south", "east", "west"], records, p=[0.4, 0.3, 0.2, 0.1])
    sick = np.where(rng.random(records) < 0.2 + 0.5 * (age > 60), "yes", "no")
    incomes = [None if rng.random() < 0.05 else f"{each}" for each in income]
    table = pa.table({"age": age.astype(str), "income": incomes, "town": town, "sick": sick})
    return table.set_column(1, "income", table["income"].fill_null(""))


def records_of(texts):
    return Records(tuple(Column.of(name, texts[name].combine_chunks()) for name in texts.column_names))


@pytest.fixture
def people():
    return made


@pytest.fixture
def as_records():
    return records_of


@pytest.fixture
def case_of():
    """Return a case for a table and a release of it; `release` gets the texts of the records that it may see."""

    def case(texts, release, *, holdout=0.5, seed=0, known=None):
        records = records_of(texts)
        sides = sides_of(records, holdout)
        shown = pa.table({each.name: np.array(each.domain.texts)[each.places] for each in sides.training.columns})
        released = Released.of(records, release(shown), known)
        secrets = [name for name in ("sick",) if name in released.names]
        known_of_people = [name for name in released.names if name not in secrets]
        return Case(released, sides.training, sides.held_out, known_of_people, secrets, seed)

    return case

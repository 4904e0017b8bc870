"""Tables of people whose releases are read."""

import numpy as np
import pyarrow as pa

from aegis_provider.records import Column, Records


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

"""What a release keeps of a column: the same of equal columns, whatever their order and which of them is shared."""

import pytest

from aegis_provider import load_plan
from aegis_provider.counting.kept import Kept, kept_in
from aegis_provider.table import open_table
from tests.for_each import for_each

#: Each value of `OTHER` has as many records of each label as one of `A`, but is with others: it is no copy.
A, OTHER = "xxxyyyzzz" * 20, "yzxzxyxyz" * 20
LABELS = ("1" * 9 + "111222112" * 9 + "222111211" * 10)[: len(A)]


@pytest.fixture
def kept(write):
    """Returns what is kept of columns in this order if the configuration masks them so."""

    def run(order, choices):
        columns = {"a": A, "b": A.translate(str.maketrans("xyz", "pqr")), "other": OTHER, "flat": "f" * len(A)}
        rows = zip(*(columns[name] for name in order), LABELS, strict=True)
        table = write("t.csv", "\n".join([",".join([*order, "label"]), *map(",".join, rows)]) + "\n")
        chosen = ", ".join(f"{name}: {choices.get(name, 'drop')}" for name in order)
        attributes = ", ".join(f"{name}: {{identity: true}}" for name in order)
        plan = write("p.yaml", f"label: label\nattributes: {{{attributes}}}\nconfigurations: {{c: {{{chosen}}}}}\n")
        with open_table(table, delimiter=",") as opened:
            return kept_in(opened, load_plan(plan), "c")

    return run


@for_each("order", [("a", "b", "other", "flat"), ("b", "flat", "other", "a")])
def test_equal_columns_keep_and_lose_equally_and_one_of_no_information_nothing(kept, order):
    for shared in ("a", "b"):
        told = kept(order, {shared: "identity"})
        assert (told["a"], told["b"]) == (Kept(1.0, 0.0), Kept(1.0, 0.0))
        assert (told["other"].kept, told["flat"]) == (0.0, Kept(None, 0.0))
    dropped = kept(order, {"other": "identity"})
    assert dropped["a"] == dropped["b"]
    assert (dropped["a"].kept, dropped["other"]) == (0.0, Kept(1.0, 0.0))

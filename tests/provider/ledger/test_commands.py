"""`aegis ledger`, and what other commands put there."""

import json

import pyarrow as pa
import pytest

from aegis_provider import load_plan
from aegis_provider.ledger import Leaving, leave

PLAN = (
    "label: y\nattributes: {a: {}}\nquasi_identifiers: [a]\nconfigurations: {c: {}}\nprivacy: {c: {k: 5}}\nperson: p\n"
)


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "plan.yaml").write_text(PLAN)
    return load_plan(tmp_path / "plan.yaml")


def test_a_person_is_erased_from_what_left_and_the_rest_stays_listed(aegis, plan):
    table = pa.table({"p": [f"p{n}" for n in range(20)], "a": [n % 2 for n in range(20)], "y": ["no", "yes"] * 10})
    leave(table, plan, "c", Leaving(name="visits", to="hospital-b"), {"delimiter": ","})
    code, out, _ = aegis("ledger", "forget", "visits", "--person", "p3", "--person", "nobody")
    assert (code, out) == (0, "visits: 1 rows of 1 releases erased; what left is still listed\n")
    [shown] = json.loads(aegis("ledger", "show", "--json")[1])["ledgers"]
    assert [(each["what"], each["to"], each["configuration"]) for each in shown["events"]] == [
        ("masked table", "hospital-b", "c")
    ]
    code, out, _ = aegis("ledger", "show", "visits")
    assert "rows erased" in out
    assert out.splitlines()[2].split()[:5] == ["1", "masked", "table", "c", "hospital-b"]
    assert "p3" not in out
    code, _, error = aegis("ledger", "show", "visit")
    assert (code, error) == (2, "aegis: visit: has no ledger; did you mean 'visits'?\n")


def test_each_noisy_entry_spends_epsilon(aegis, tmp_path):
    lines = [f"{n % 3},{'yes' if n % 2 else 'no'}" for n in range(600)]
    (tmp_path / "t.csv").write_text("\n".join(["a,y", *lines]) + "\n")
    (tmp_path / "plan.yaml").write_text("label: y\nattributes: {a: {}}\nconfigurations: {c: {}}\n")
    command = ("summarize", tmp_path / "t.csv", "--plan", tmp_path / "plan.yaml", "--name", "t", "--output")
    said = [aegis(*command, tmp_path / f"{e}.json", "--epsilon", e) for e in ("2", "1")]
    assert [code for code, *_ in said] == [0, 0]
    assert "epsilon spent on this table if you share all entries that were made of it: 2 + 1" in "".join(said[1][1:])
    assert aegis("ledger", "show", "t")[1].splitlines()[-1] == "epsilon spent: 2 + 1"

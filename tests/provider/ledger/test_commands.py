"""`aegis ledger`, and what other commands put there."""

import json
import shlex
from io import StringIO

import pyarrow as pa
import pytest

from aegis_provider import load_plan
from aegis_provider.ledger import Leaving, leave, ledgers

PLAN = (
    "label: y\nattributes: {a: {}}\nquasi_identifiers: [a]\nconfigurations: {c: {}}\nprivacy: {c: {k: 2}}\nperson: p\n"
)


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "plan.yaml").write_text(PLAN)
    return load_plan(tmp_path / "plan.yaml")


def test_a_person_is_erased_from_what_left_and_the_rest_stays_listed(aegis, plan, tmp_path, monkeypatch):
    table = pa.table({"p": [f"p{n}" for n in range(20)], "a": [n % 2 for n in range(20)], "y": ["no", "yes"] * 10})
    leave(table, plan, "c", Leaving(name="visits", to="hospital-b"), {"delimiter": ","})
    (tmp_path / "people.txt").write_text("p3\nnobody\n")
    code, out, _ = aegis("ledger", "forget", "visits", "--people", tmp_path / "people.txt")
    assert (code, out) == (0, "visits: 1 rows of 1 releases erased; what left is still listed\n")
    [shown] = json.loads(aegis("ledger", "show", "--json")[1])["ledgers"]
    assert [(each["what"], each["to"], each["configuration"]) for each in shown["events"]] == [
        ("masked table", "hospital-b", "c")
    ]
    code, out, _ = aegis("ledger", "show", "visits")
    assert "rows erased" in out
    assert out.splitlines()[2].split()[:5] == ["1", "masked", "table", "c", "hospital-b"]
    assert "p3" not in out
    monkeypatch.setattr("sys.stdin", StringIO("p4\n"))
    assert aegis("ledger", "forget", "visits", "--people", "-")[1].startswith("visits: 1 rows of 1 releases erased")
    (tmp_path / "people.txt").write_text("\n")
    assert "has no line" in aegis("ledger", "forget", "visits", "--people", tmp_path / "people.txt")[2]
    assert aegis("ledger", "forget", "visits", "--event", "1")[0] == 0
    assert aegis("ledger", "show", "visits")[1].splitlines()[2].endswith("not given away")
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


def test_a_damaged_ledger_is_named_and_the_others_are_listed(aegis, plan):
    table = {"p": ["p1", "p2"] * 5, "a": [1] * 10, "y": ["no", "yes"] * 5}
    leave(pa.table(table), plan, "c", Leaving(name="bad"), {"delimiter": ","})
    [ledger], _ = ledgers()
    (ledger.folder / "ledger.json").write_text("{}")
    leave(pa.table({**table, "b": [1] * 10}), plan, "c", Leaving(name="visits"), {"delimiter": ","})
    code, out, error = aegis("ledger", "show")
    assert (code, out.splitlines()[0].partition(":")[0]) == (1, "visits")
    assert error.startswith(f"aegis: {ledger.folder}/ledger.json: the ledger is damaged")


TWO = """
label: y
attributes:
  a: {type: integer, maskings: {half: {bucketize: {width: 2}}}}
  b: {type: integer, maskings: {half: {bucketize: {width: 2}}}}
quasi_identifiers: [a, b]
configurations: {c1: {b: half}, c2: {a: half}, c3: {a: half, b: half}}
privacy: {c1: {k: 4}, c2: {k: 4}, c3: {k: 8}}
"""


def test_what_apply_writes_leaves_unless_it_stays(aegis, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{n % 4},{n // 4 % 4},{'yes' if n // 16 % 2 else 'no'}" for n in range(32)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *lines]) + "\n")
    (tmp_path / "plan.yaml").write_text(TWO)
    command = ("apply", "t.csv", "--plan", "plan.yaml", "--accept-unique", "--name", "visits", "--output")
    here = command[:-3] + command[-1:]
    assert aegis(*here, "here.csv", "--configuration", "c2", "--stays")[0] == 0
    assert aegis(*command, "one.csv", "--configuration", "c1")[0] == 0
    status, _, errors = aegis(*command, "two.csv", "--configuration=c2", "--to", "hospital-b")
    assert status == 1
    assert "c2 promises k >= 4, but with c1, delivered on" in errors
    assert not (tmp_path / "two.csv").exists()
    copied = shlex.split(errors.partition("To share that one: ")[2])
    assert copied == ["aegis", *command, "two.csv", "--to", "hospital-b", "--configuration", "c1"]
    status, output, _ = aegis(*command, "two.csv", "--configuration", "c2", "--accept-composition", "--json")
    assert (status, len(json.loads(output)["together"])) == (0, 1)
    [ledger] = json.loads(aegis("ledger", "show", "--json")[1])["ledgers"]
    assert ledger["name"] == "visits"
    kept = [(each["configuration"], each["to"], each["place"].rpartition("/")[2]) for each in ledger["events"]]
    assert kept == [("c1", "anyone", "one.csv"), ("c2", "anyone", "two.csv")]
    status, _, errors = aegis(*here, "here.csv", "--configuration", "c2", "--stays", "--to", "hospital-b")
    assert (status, errors) == (2, "aegis: --to cannot be combined with --stays; omit one of them\n")

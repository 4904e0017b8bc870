"""A configuration that a refusal offers is shared by its id, by one command, without another search."""

import json
import shlex

import pytest

from aegis_provider import PlanError
from aegis_provider.ledger import CompositionError
from aegis_provider.workflow import release
from aegis_provider.workflow.refreshing import refresh

pytestmark = pytest.mark.long
PLAN = """
label: y
attributes:
  a: {type: integer, maskings: {half: {bucketize: {width: 2}}, third: {bucketize: {width: 3}}}}
  b: {type: integer, maskings: {half: {bucketize: {width: 2}}, third: {bucketize: {width: 3}}}}
quasi_identifiers: [a, b]
"""


@pytest.fixture
def table(tmp_path, monkeypatch):
    """a and b tell the same of y; one value of it is too rare to train models with."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    rows = [(n % 6, n // 6 % 6, "yes" if n % 6 + n // 6 % 6 + n % 5 > 6 else "no") for n in range(288)]
    lines = [",".join(map(str, row)) for row in [("a", "b", "y"), *rows, (0, 0, "rare")]]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "plan.yaml").write_text(PLAN)
    return tmp_path / "t.csv"


def test_the_printed_command_shares_it_and_a_refresh_keeps_it(aegis, table, monkeypatch):
    asked = ("release", "t.csv", "--label", "y", "--plan", "plan.yaml", "--require", "k=16", "--effort", "small")
    by = ("--measure", "mutual_information", "--weights")
    aegis(*asked, *by, "a=9,b=1", "--output", "one")
    status, _, errors = aegis(*asked, *by, "a=1,b=9", "--output", "two")
    assert (status, "It does not leave" in errors) == (1, True)
    command = shlex.split(errors.partition("To share that one: ")[2])
    assert command[:2] == ["aegis", "release"]
    monkeypatch.setenv("AEGIS_PROGRESS", "lines")
    _, output, errors = aegis(*command[1:], "--json")
    assert "searching" not in errors
    card = json.loads(output)["card"]
    assert (card["configuration"], card["chosen"]) == (command[-1], True)
    assert "chosen by its id" in (table.parent / "two" / "card.md").read_text()
    events = json.loads(aegis("ledger", "show", "--json")[1])["ledgers"][0]["events"]
    assert [each["configuration"] for each in events][1:] == [command[-1]]
    other = aegis(*command[1:], "--suppress-at-most", "0.02")
    assert (other[0], "by other options" in other[2]) == (2, True)
    assert (table.parent / "two" / "masked.csv").exists()
    assert refresh("two", table).released.card.configuration == command[-1]


def test_so_does_python_with_a_table_in_memory(table):
    import pandas as pd  # noqa: PLC0415 - slow to load

    frame = pd.read_csv(table)
    how = {"plan": "plan.yaml", "require": {"k": 16}, "measure": "mutual_information", "effort": "small"}
    release(frame, "y", output="one", name="t", weights={"a": 9}, **how)
    with pytest.raises(CompositionError) as refused:
        release(frame, "y", output="two", name="t", weights={"b": 9}, **how)
    with pytest.raises(PlanError, match=r"one/configurations.yaml: no configuration 'c9'"):
        release(frame, "y", output="one", name="t", configuration="c9", **how)
    with pytest.raises(PlanError, match="three: has no configurations yet"):
        release(frame, "y", output="three", name="t", configuration="c9", **how)
    again = release(frame, "y", output="two", name="t", weights={"b": 9}, configuration=refused.value.offered, **how)
    assert again.card.configuration == refused.value.offered
    assert again.table.shape == (289, 3)

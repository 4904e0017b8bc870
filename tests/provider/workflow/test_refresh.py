"""A release repeated on the table as it is today."""

import json
import random
import shutil

import pytest

from aegis_provider import NothingHoldsError
from aegis_provider.ledger import ledgers
from aegis_provider.processes import unseen
from aegis_provider.workflow.refreshing import refresh
from tests.provider.workflow.releases import FILES, HOURS, rows_of

pytestmark = pytest.mark.long


@pytest.fixture
def folder(released, tmp_path):
    return shutil.copytree(released.folder, tmp_path / "release")


def table_of_today(people, folder):
    table, lines = folder / "today.csv", people.read_text().splitlines()
    table.write_text("\n".join([*lines[:1000], "p9999,40,A,1000,yes"]) + "\n")
    return table


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_same_table_gives_the_same_entry_and_the_same_advice(released, people, folder):
    refreshed = refresh(folder, people, seconds=HOURS)
    for name in ("entry.json", "configurations.yaml"):
        assert (folder / name).read_bytes() == (released.folder / name).read_bytes()
    assert sorted(map(str, rows_of(folder / "masked.csv"))) == sorted(map(str, rows_of(released.folder / "masked.csv")))
    assert (refreshed.changed, refreshed.lost, refreshed.advice_holds) == (0, (), True)
    assert refreshed.counts > 10
    assert refreshed.released.card.for_consumers == released.card.for_consumers
    assert {path.name for path in folder.iterdir() if not path.name.startswith(".")} == FILES
    assert [path.name for path in folder.parent.iterdir()] == ["release"]


def test_a_changed_table_somewhere_else_keeps_the_ids_of_what_still_holds(aegis, released, people, folder, tmp_path):
    status, output, errors = aegis("refresh", folder, table_of_today(people, tmp_path), "--json", "--to", "university")
    assert status == 0, errors
    assert ledgers()[0][0].events[-1].to == "university"
    said = json.loads(output)
    assert said["records"] == [1200, 1000]
    assert 0 < said["changed"] <= said["counts"]
    entry = json.loads((folder / "entry.json").read_text())
    ids = {each["id"] for each in entry["configurations"]}
    offered = {each["id"] for each in json.loads((released.folder / "entry.json").read_text())["configurations"]}
    assert ids | {*said["lost"]} == offered
    assert not ids & {*said["lost"]}
    rows = rows_of(folder / "masked.csv")
    shown = [tuple(value for name, value in row.items() if name != "ill") for row in rows]
    assert min(map(shown.count, {*shown})) >= 5


def test_what_is_refused_or_stopped_leaves_the_release_before(people, folder, tmp_path):
    before = contents(folder)
    small = tmp_path / "small.csv"
    small.write_text("id,age,town,income,ill\np1,20,A,1000,no\np2,80,B,2000,yes\n")
    with pytest.raises(NothingHoldsError, match="no configuration of the earlier release still has k=5, l=2"):
        refresh(folder, small, seconds=HOURS)
    assert contents(folder) == before

    def stopped(step):
        if step.startswith("masking"):
            raise KeyboardInterrupt
        return unseen(step)

    with pytest.raises(KeyboardInterrupt):
        refresh(folder, table_of_today(people, tmp_path), accept_composition=True, seconds=HOURS, stage=stopped)
    assert contents(folder) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["release", "small.csv", "today.csv"]


def test_what_it_tells_with_the_release_before_is_refused_or_accepted_and_said(aegis, people, folder, tmp_path):
    refresh(folder, people, seconds=HOURS)  # left
    before, today = contents(folder), table_of_today(people, tmp_path)
    status, _, errors = aegis("refresh", folder, today)
    assert (status, "It does not leave" in errors, contents(folder)) == (1, True, before)
    status, output, errors = aegis("refresh", folder, today, "--accept-composition", "--json")
    assert status == 0, errors
    [said] = json.loads(output)["together"]
    assert "delivered on" in said


def test_who_came_and_left_is_held_back_with_numbers_for_the_provider_only(aegis, people, folder, tmp_path):
    refresh(folder, people, seconds=HOURS)  # left
    lines, draw = people.read_text().splitlines(), random.Random(5)
    new = [f"q{n}{line[line.index(',') :]}" for n, line in enumerate(draw.sample(lines[1:], 5))]
    today = tmp_path / "today.csv"
    today.write_text("\n".join([*lines[:-2], *new]) + "\n")
    status, output, errors = aegis("refresh", folder, today, "--json")
    assert status == 0, errors
    said, exact = json.loads(output), json.loads((folder / "provider-only.json").read_text())
    assert exact["holds_back"] in said["together"]
    number = int(exact["holds_back"].split()[0])
    assert 0 < number <= 0.1 * 1203
    assert exact["left_out"] >= number
    assert exact["records"] + exact["left_out"] == 1203 == said["records"][1]
    assert len(rows_of(folder / "masked.csv")) == exact["records"]
    card = json.loads((folder / "card.json").read_text())
    assert card["left_out"] is None
    assert card["holds_back"].startswith("some records are held back until")
    for ending in ("md", "html"):
        assert "Some records are held back until" in (folder / f"card.{ending}").read_text()

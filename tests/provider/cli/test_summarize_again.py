"""`aegis summarize` of a table that was summarised before: by the same key, the same entry."""

import json
from unittest.mock import Mock

import numpy as np
import pytest

from aegis_provider import state
from aegis_provider.errors import OutputError

PLAN = """label: ill
attributes:
  age: {maskings: {tens: {bucketize: {edges: [10, 20, 30, 40, 50]}}}}
  town: {}
configurations: {fine: {}, coarse: {age: tens}}
"""


@pytest.fixture
def summarized(aegis, tmp_path, monkeypatch):
    """Summarise a table of 400 records with options; return the entry's bytes and what was said."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    draw = np.random.default_rng(5)
    rows = [f"{draw.integers(60)},t{draw.integers(9)},{'ny'[draw.integers(2)]}" for _ in range(400)]

    def run(*options, change=lambda rows: rows, plan=PLAN, status=0):
        (tmp_path / "plan.yaml").write_text(plan)
        (tmp_path / "t.csv").write_text("\n".join(["age,town,ill", *change(rows)]) + "\n")
        table, output = tmp_path / "t.csv", tmp_path / "entry.json"
        code, _, error = aegis(
            "summarize", table, "--plan", tmp_path / "plan.yaml", "--name", "e", "--output", output, *options
        )
        assert code == status, error
        return output.read_bytes(), error

    return run


def test_the_same_table_is_the_same_entry_also_in_another_order_of_rows(summarized):
    first, said = summarized("--pairs")
    assert ("made a key" in said, "warning: " in said) == (True, False)
    again, said = summarized("--pairs", change=lambda rows: rows[::-1])
    assert (again == first, "key" in said) == (True, False)
    afresh, said = summarized("--pairs", "--new-randomness")
    assert (afresh != first, "sees each count twice" in said) == (True, True)
    assert summarized("--pairs")[0] == first
    assert summarized("--pairs", "--round-to", 3)[0] == first  # as by default


def test_the_order_of_attributes_changes_no_count(summarized):
    def pairs(plan, *options):
        entry = json.loads(summarized("--pairs", *options, plan=plan, change=lambda rows: rows * 8)[0])
        return [
            (np.array(each["joint"]).T if each["attributes"][0] == "town" else each["joint"], each["with_label"])
            for each in entry["pairs"]
            if each.get("rounded_to")
        ]

    age, town = PLAN.split("\n")[2:4]
    turned = PLAN.replace(f"{age}\n{town}", f"{town}\n{age}")
    for options in ([], ["--min-cell", 30]):
        [(joint, label)], [(other, other_label)] = pairs(PLAN, *options), pairs(turned, *options)
        assert (np.array_equal(joint, other), label) == (True, other_label)


def test_another_name_of_a_masking_without_a_mapping_changes_no_count(summarized, monkeypatch):
    monkeypatch.setenv("SALT", "grains of this salt")
    plan = PLAN.replace("town: {}", "town: {maskings: {digits: {token: {salt_variable: SALT}}}}")
    plan = plan.replace("fine: {}", "fine: {town: digits}").replace("coarse: {", "coarse: {town: digits, ")
    first = summarized(plan=plan)[0]
    assert b'"id": "digits"' in first
    assert summarized(plan=plan.replace("digits", "tokens"))[0] == first.replace(b"digits", b"tokens")


def test_another_key_is_another_entry_and_told(summarized, monkeypatch):
    first, _ = summarized()
    (state.state_folder() / "rounding.key").write_bytes(bytes(range(32)))
    with monkeypatch.context() as full:
        full.setattr("aegis_provider.prepare.write_entry", Mock(side_effect=OutputError("the disk is full")))
        assert "another key" in summarized(status=2)[1]
    other, said = summarized()  # told again, since no entry has it yet
    assert other != first
    assert "the last entry of this table was rounded by another key" in said
    assert "another key" not in summarized()[1]


def test_exact_counts_need_no_key_and_noise_only_that_of_the_ledger(summarized):
    summarized("--exact")
    assert not state.state_folder().exists()
    summarized("--epsilon", 1)
    assert {path.name for path in state.state_folder().iterdir()} == {"ledger", "rounding.key"}

"""`aegis summarize` of a table that was summarised before: by the same key, the same entry."""

import numpy as np
import pytest

from aegis_provider import state

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
    (tmp_path / "plan.yaml").write_text(PLAN)
    draw = np.random.default_rng(5)
    rows = [f"{draw.integers(60)},t{draw.integers(9)},{'ny'[draw.integers(2)]}" for _ in range(400)]

    def run(*options, change=lambda rows: rows):
        (tmp_path / "t.csv").write_text("\n".join(["age,town,ill", *change(rows)]) + "\n")
        table, output = tmp_path / "t.csv", tmp_path / "entry.json"
        code, _, error = aegis(
            "summarize", table, "--plan", tmp_path / "plan.yaml", "--name", "e", "--output", output, *options
        )
        assert code == 0, error
        return output.read_bytes(), error

    return run


def test_the_same_table_is_the_same_entry_also_in_another_order_of_rows(summarized):
    first, said = summarized("--pairs")
    assert "is a new key of rounding" in said
    again, said = summarized("--pairs", change=lambda rows: rows[::-1])
    assert (again == first, "key" in said) == (True, False)
    afresh, said = summarized("--pairs", "--new-randomness")
    assert (afresh != first, "sees each count twice" in said) == (True, True)
    assert summarized("--pairs")[0] == first
    assert summarized("--pairs", "--round-to", 3)[0] == first  # as by default


def test_another_key_is_another_entry_and_told(summarized):
    first, _ = summarized()
    (state.state_folder() / "rounding.key").write_bytes(bytes(range(32)))
    other, said = summarized()
    assert other != first
    assert "the last entry of this table was rounded by another key" in said
    assert "another key" not in summarized()[1]


def test_noise_and_exact_counts_need_no_key(summarized):
    summarized("--epsilon", 1)
    summarized("--exact")
    assert not state.state_folder().exists()

"""A release of court records: what exists since the second offence is not shared, or said first."""

import json

import pytest

from tests.provider.draft.court_records import KNOWN, LABEL, LEAKING, columns
from tests.provider.draft.made_up import write


@pytest.fixture
def release(tmp_path, aegis):
    """Returns what a release with these options says, and its card."""
    table = write(tmp_path / "court.csv", columns(2_000))

    def run(*options):
        output = tmp_path / "r"
        _, said, _ = aegis("release", table, "--label", LABEL, "--output", output, "--effort", "small", *options)
        return said.splitlines(), json.loads((output / "card.json").read_text()), (output / "card.md").read_text()

    return run


@pytest.mark.long
def test_what_leaks_is_left_out_and_named_in_terminal_plan_and_card(release):
    said, card, text = release()
    assert {name for name, why in card["never_shared"].items() if why.startswith("leaks the label")} == set(LEAKING)
    assert {column["name"] for column in card["columns"]} == {*KNOWN, LABEL}
    assert [line.split()[2] for line in said if " leaks the label: " in line] == list(LEAKING)
    assert card["never_shared"]["sex_code"] == "a copy of sex, which is enough"
    assert "Warning" not in text


@pytest.mark.long
def test_what_leaks_and_is_kept_by_name_is_a_warning_in_the_first_lines(release):
    said, card, text = release("--keep-leaks", "is_recid,r_charge")
    assert {"is_recid", "r_charge"} < {column["name"] for column in card["columns"]}
    assert card["telling_label"] == ["is_recid", "r_charge"]  # without figures: a card is a publication
    warning = f"are all columns known before {LABEL} is?"
    first = [line for line in text.splitlines() if line and not line.startswith("#")]
    for lines in (said, first):
        assert any("Warning: " in line and warning in line.replace("\\", "") for line in lines[:3])

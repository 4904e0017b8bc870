"""Blanks of the masked table that tell the label are a warning."""

import random

from aegis_provider.workflow import release
from tests.provider.workflow.releases import HOURS


def test_blanks_of_five_records_or_more_that_all_have_one_label_are_a_warning(tmp_path):
    """Those of `few` have one label, too, but of four records it is not told; those of `any` have both."""
    rng = random.Random(5)
    lines = ["seen,few,any,ill"]
    for number in range(400):
        ill = "yes" if number < 40 else rng.choice(["yes", "no"])
        seen, few = ("" if number < 40 else rng.choice("xy")), ("" if number < 4 else rng.choice("uv"))
        lines.append(f"{seen},{few},{'' if number % 3 == 0 else 'z'},{ill}")
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    kept = dict.fromkeys(["seen", "few", "any"], "identity")
    how = {"require": {"k": 2}, "keep": kept, "effort": "small", "seconds": HOURS}
    card = release(tmp_path / "people.csv", "ill", output=tmp_path / "r", **how).card
    assert [each for each in card.warnings if "is blank" in each] == ["where seen is blank, ill is always yes"]
    assert "Where seen is blank, ill is always yes." in (tmp_path / "r" / "card.md").read_text()

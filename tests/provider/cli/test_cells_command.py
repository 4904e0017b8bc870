"""`aegis plan cells`, and the commands that use the plan it writes."""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from aegis_provider import MinimumCell, document_of, load_plan, prepare_entry

EXAMPLE = Path(__file__).parents[3] / "examples" / "health"
TABLE, PLAN = EXAMPLE / "health.csv", EXAMPLE / "start.yaml"


@pytest.mark.long
def test_from_records_left_out_to_suppressed_cells_in_the_masked_table(aegis, tmp_path):
    found, plan, masked = (tmp_path / name for name in ("found.yaml", "cells.yaml", "masked.csv"))
    searched = ("--require", "k=5", "--suppress-at-most", "0.05", "--most", 2, "--output", found)
    assert aegis("plan", "configurations", TABLE, "--plan", PLAN, *searched)[0] == 0
    before = load_plan(found).configurations
    code, out, error = aegis("plan", "cells", TABLE, "--plan", found, "--output", plan)
    assert (code, error, out.splitlines()[0]) == (0, "", f"{plan}: 2 of 2 configurations suppress cells")
    for old, new in zip(before, load_plan(plan).configurations, strict=True):
        assert (new.id, new.maskings, new.privacy) == (old.id, old.maskings, old.privacy)
        assert new.suppressed < 5
        assert new.suppressed_cells >= old.suppressed - new.suppressed
    chosen = load_plan(plan).configurations[0]
    code, out, _ = aegis(
        "apply", TABLE, "--stays", "--plan", plan, "--configuration", chosen.id, "--output", masked, "--json"
    )
    applied = json.loads(out)
    assert (applied["suppressed"], applied["suppressed_cells"]) == (chosen.suppressed, chosen.suppressed_cells)
    with masked.open(newline="", encoding="utf-8") as file:
        rows = [tuple(row.values()) for row in csv.DictReader(file)]
    assert sum(row.count("*") for row in rows) == chosen.suppressed_cells
    assert min(Counter(row[:-1] for row in rows).values()) >= 5
    out = aegis("risk", TABLE, "--plan", plan, "--configuration", chosen.id, "--check")[1]
    assert f"{chosen.suppressed_cells:,} single cells are suppressed." in out


def test_the_entry_says_how_many_rounded_or_counted_again(write):
    rows = [f"{n % 12},{n % 7},{n % 2}" for n in range(90)]
    table = write("t.csv", "a,b,y\n" + "\n".join(rows) + "\n")
    stated = "privacy: {c: {k: 4}}\nsuppressed: {c: 0}\nsuppressed_cells: {c: 90}\n"
    attributes = "{a: {type: integer, maskings: {two: {bucketize: {width: 2}}}}, b: {}}"
    plan = load_plan(
        write("plan.yaml", f"label: y\nattributes: {attributes}\nconfigurations: {{c: {{a: two}}}}\n{stated}")
    )
    exact = prepare_entry(table, plan, name="t", exact=True).entry
    assert document_of(exact)["configurations"][0]["suppressed_cells"] == 90
    [rounded] = prepare_entry(table, plan, name="t").entry.configurations
    assert rounded.suppressed_cells % 3 == 0
    merged = prepare_entry(table, plan, [MinimumCell(5)], name="t")
    [published], [intended] = merged.entry.configurations, merged.plan.configurations
    assert published.suppressed_cells in {None, intended.suppressed_cells}


def test_a_plan_that_leaves_nothing_out_is_refused(aegis, write, tmp_path):
    table = write("t.csv", "a,y\n1,p\n2,q\n")
    plan = write("plan.yaml", "label: y\nattributes: {a: {}}\nconfigurations: {c: {}}\n")
    code, _, error = aegis("plan", "cells", table, "--plan", plan, "--output", tmp_path / "cells.yaml")
    assert (code, (tmp_path / "cells.yaml").exists()) == (2, False)
    assert "plan.yaml: no configuration leaves out records; state some under `suppressed`" in error

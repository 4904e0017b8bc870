"""The made-up stays, drawn again."""

import csv
from collections import Counter

from examples.visits import make_visits


def test_the_file_is_what_its_program_draws(monkeypatch, tmp_path):
    """Also on another machine, since the documents print what was made of it."""
    kept = make_visits.TABLE.read_bytes()
    monkeypatch.setattr(make_visits, "TABLE", tmp_path / "visits.csv")
    make_visits.main()
    assert make_visits.TABLE.read_bytes() == kept


def test_people_have_several_stays_and_keep_what_is_theirs():
    rows = list(csv.DictReader(make_visits.TABLE.read_text(encoding="utf-8").splitlines()))
    stays = Counter(row["patient_id"] for row in rows)
    assert (len(rows), len(stays), max(stays.values())) == (6_590, 2_600, 12)
    traits = ("patient_id", "age", "sex", "district", "insurance")
    assert len({tuple(row[name] for name in traits) for row in rows}) == 2_600

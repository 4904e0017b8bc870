"""The survey of the columns of a table that is too large to keep in memory."""

import random

from aegis_provider.identifiers.search import values_of
from aegis_provider.table import in_memory, open_table, table
from aegis_provider.table.engine import Engine


def test_few_values_of_many_columns_take_no_query_for_each(tmp_path, monkeypatch):
    chosen, path = random.Random(1), tmp_path / "t.csv"
    names = [f"c{place}" for place in range(9)]
    rows = [[chosen.choice(["", "x y", "1.50", "7"]) for _ in names[1:]] + [str(n)] for n in range(2_100)]
    path.write_text("\n".join(map(",".join, [names, *rows])) + "\n")
    with open_table(path) as opened:
        expected = values_of(opened, names)
    monkeypatch.setattr(in_memory, "SMALL", 0)
    asked, fetch = [], Engine.fetch
    monkeypatch.setattr(Engine, "fetch", lambda engine, of: asked.append(of) or fetch(engine, of))
    with open_table(path) as opened:
        assert values_of(opened, names) == expected
        assert len(asked) <= 5  # one for all columns, one for few values, and three for the one of many values
    asked.clear()
    with open_table(path) as opened:
        opened.keep_counts(names, "c0")
        assert values_of(opened, names) == expected
    assert len(asked) == 1


def test_counts_of_a_wide_table_are_kept_up_to_a_limit(tmp_path, monkeypatch):
    path, names = tmp_path / "t.csv", [f"c{place}" for place in range(6)]
    path.write_text(",".join(names) + "\n" + "".join(f"{n % 2}" + f",{n}" * 5 + "\n" for n in range(40)))
    monkeypatch.setattr(in_memory, "SMALL", 0)
    monkeypatch.setattr(table, "_MOST_KEPT_IN_ALL", 100)
    with open_table(path) as opened:
        opened.keep_counts(names[1:], "c0")
        assert [opened.known_counts(name) is not None for name in names] == [True] * 3 + [False] * 3
        assert sum(map(len, opened.kept.values())) == 80
        assert [each["n"].to_pylist() for each in opened.counts_with(names[1:], "c0")] == [[1] * 40] * 5

"""What `aegis summarize` makes by default is accepted, whatever is masked at random, by a secret or elsewhere."""

import random
import string

import orjson
import pytest

from aegis_provider import document_of, load_plan, prepare_entry
from app.entries.api.uploads import read_publication

PLAN = """
label: y
seed: 5
attributes:
  a:
    maskings:
      some: {mapping: {b: x, c: x, d: z}, other: z}
      shuffled: {shuffle: {}}
      answered: {randomised_response: {keep: 0.7}}
      elsewhere: {masked_table: {file: elsewhere.csv}}
  b:
    maskings:
      secret: {token: {salt_file: salt.txt}}
configurations:
  c1: {a: some, b: secret}
  c2: {a: shuffled, b: drop}
  c3: {a: answered, b: secret}
  c4: {a: elsewhere, b: secret}
"""


def written(folder, seed):
    """The table and the plan, in files; the table masked elsewhere lacks some of its records."""
    chance = random.Random(seed)
    records = chance.choice([12, 25, 60])
    rows = [[_text(chance), _text(chance), chance.choice("nnny")] for _ in range(records)]
    (folder / "table.csv").write_text("".join(",".join(row) + "\n" for row in [["a", "b", "y"], *rows]))
    left = [row for row in rows if chance.random() < chance.choice([0.7, 1])]
    masked = [["a", "y"], *([each[:1].upper(), label] for each, _, label in left)]
    (folder / "elsewhere.csv").write_text("".join(",".join(row) + "\n" for row in masked))
    (folder / "salt.txt").write_text("s" * 40)
    (folder / "plan.yaml").write_text(PLAN)
    return folder / "table.csv", load_plan(folder / "plan.yaml")


def _text(chance):
    return "" if chance.random() < 0.1 else chance.choice(string.ascii_lowercase[1 : chance.choice([3, 9])])


@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 25), marks=pytest.mark.long)], ids=["few", "many"])
def test_it_is_accepted(tmp_path, seeds):
    for seed in seeds:
        table, plan = written(tmp_path, seed)
        entry = prepare_entry(table, plan, name="honest").entry
        assert read_publication(orjson.dumps(document_of(entry))).content.outline, seed

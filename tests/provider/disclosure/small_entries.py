"""Small tables, the entries made from them, and what these determine, found by trying all tables."""

import csv
from collections import Counter, defaultdict
from itertools import product

from aegis_provider import load_plan
from aegis_sdk.wire import EntryDocument
from tests.provider.documents import summarize

AGES = {("1", "yes"): 6, ("1", "no"): 5, ("6", "yes"): 1, ("6", "no"): 6, ("8", "yes"): 6, ("8", "no"): 9}
"""The number of people by age and label value. Nobody is alone in a bin of 5 or 7 years, but one is in an overlap."""

PLAN = """
label: ill
attributes:
  age:
    type: integer
    maskings:
      five: {bucketize: {width: 5}}
      seven: {bucketize: {width: 7}}
configurations:
  fives: {age: five}
  sevens: {age: seven}
"""


def write_table(path, counts, names=("age", "ill")):
    """Write a CSV file with that many records of each value and label value."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for pair, count in counts.items():
            writer.writerows([pair] * count)
    return path


def written(folder, counts=AGES, plan=PLAN):
    """Return the paths of the table and of the plan, and the entry that `summarize` makes of them, as JSON values."""
    table = write_table(folder / "table.csv", counts)
    path = folder / "plan.yaml"
    path.write_text(plan)
    return table, path, summarize(table, load_plan(path), name="ages")


def document(entry, **changed):
    """Return the entry as a model, with these fields replaced."""
    return EntryDocument.model_validate({**entry, **changed})


def without_half_records():
    """An entry of seven people whose views leave `d` nobody or one person of `m`, or half of one, but not nobody.

    Of `m`: a + c = a + f = 1 and a + b = b + d + f = 2, so d = 2 a - 1, and a is a half or 1.
    """
    views = {"v": [1, 0, 1, 0, 1, 0], "w": [0, 0, 1, 1, 1, 1], "x": [0, 2, 2, 2, 1, 0]}
    counts = {"v": [[2, 2], [1, 2]], "w": [[2, 2], [1, 2]], "x": [[1, 2], [0, 1], [2, 1]]}
    maskings = [
        {"id": name, "domain": ["p", "q", "r"][: len(counts[name])], "mapping": mapping, "joint": counts[name]}
        for name, mapping in views.items()
    ]
    return {
        "format": 1,
        "name": "halves",
        "records": 7,
        "label": {"name": "y", "domain": ["m", "n"], "histogram": [3, 4]},
        "attributes": [{"name": "u", "type": "string", "domain": list("abcdef"), "maskings": maskings}],
        "configurations": [{"id": "c", "maskings": {"u": "v"}}],
    }


def possible_tables(attribute, label):
    """Return every table of whole counts with the sums of the entry, by group of values and label value.

    There are two label values: any number of a value's records may have the first.
    """
    views = [(each["mapping"], each["joint"]) for each in attribute["maskings"]]
    atoms = list(zip(*(mapping for mapping, _ in views), strict=True))
    tables = set()
    for first in product(*(range(count + 1) for count in attribute["histogram"])):
        rows = [(one, all_ - one) for one, all_ in zip(first, attribute["histogram"], strict=True)]
        if tuple(map(sum, zip(*rows, strict=True))) != tuple(label["histogram"]):
            continue
        if all(folded(rows, mapping, len(joint)) == joint for mapping, joint in views):
            table = defaultdict(Counter)
            for atom, row in zip(atoms, rows, strict=True):
                table[atom].update(dict(enumerate(row)))
            tables.add(tuple((atom, y, table[atom][y]) for atom in dict.fromkeys(atoms) for y in (0, 1)))
    return [{(atom, y): count for atom, y, count in one} for one in tables]


def folded(rows, mapping, size):
    sums = [[0, 0] for _ in range(size)]
    for row, group in zip(rows, mapping, strict=True):
        for y, count in enumerate(row):
            sums[group][y] += count
    return sums

"""A made-up table with a column of each kind, for drafts of plans."""

import csv
import datetime as dt
import random

RECORDS = 3_000
NUMBERED, BINNED, CATEGORY, CODE, DAY = "children", "income", "city", "postcode", "visited"


def columns(records=RECORDS, seed=5):
    """Columns of texts by name; the label is `outcome`."""
    chosen = random.Random(seed)
    children = [chosen.choice([0, 0, 0, 1, 1, 2, 3, 5]) for _ in range(records)]
    income = [0 if chosen.random() < 0.3 else int(chosen.lognormvariate(8, 1)) for _ in range(records)]
    cities = [chosen.choices("ABCDEFGHIJKLMNOPQRSTUVWX", range(1, 25))[0] for _ in range(records)]
    tells = [each / 5 + (wage == 0) + (city > "P") for each, wage, city in zip(children, income, cities, strict=True)]
    days = [dt.date(2019, 1, 1) + dt.timedelta(chosen.randrange(2_000)) for _ in range(records)]
    return {
        "patient_id": [f"P{chosen.randrange(10**9):09}" for _ in range(records)],
        "huge": [["1e+400", str(place)][place > 0] for place in range(records)],
        "row": list(map(str, range(1, records + 1))),
        "mail": [f"{place}@example.org" for place in range(records)],
        "contact": [f"+43 {chosen.randrange(10**7, 10**8)}" for _ in range(records)],
        "note": [
            " ".join(chosen.choices(["came", "late", "with", "a", "cough", "again"], k=7)) for _ in range(records)
        ],
        "stamp": [f"2024-01-{chosen.randrange(1, 29):02} 12:{chosen.randrange(60):02}" for _ in range(records)],
        "odd_dates": [f"{chosen.randrange(1, 29)}.{chosen.randrange(1, 13)}.24" for _ in range(records)],
        "nearly": [f"x{chosen.randrange(records)}y z" for _ in range(records)],
        "unclean": ["n/a" if place % 50 == 7 else str(chosen.random()) for place in range(records)],
        "constant": ["same"] * records,
        "nothing": [""] * records,
        NUMBERED: list(map(str, children)),
        BINNED: ["" if chosen.random() < 0.1 else str(wage) for wage in income],
        CATEGORY: cities,
        CODE: [f"{chosen.choice('1234')}{chosen.randrange(1000):03}A" for _ in range(records)],
        DAY: list(map(dt.date.isoformat, days)),
        "sex": [chosen.choice(["f", "m", "?"]) for _ in range(records)],
        "outcome": ["ill" if chosen.random() < each / 3 else "well" for each in tells],
    }


def write(path, table, delimiter=","):
    """Write columns as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    return path

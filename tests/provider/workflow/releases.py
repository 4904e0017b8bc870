"""What tests of releases share."""

import csv

HOURS = 3600.0 * 24
FILES = {
    "plan.yaml",
    "configurations.yaml",
    "entry.json",
    "masked.csv",
    "datapackage.json",
    "card.md",
    "card.html",
    "card.json",
    "provider-only.json",
}


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))

"""What mlcroissant reads: `croissant_records.py document.json RECORD_SET`, or why it does not."""

import json
import sys
from importlib.metadata import version

import mlcroissant


def plain(value):
    if isinstance(value, bytes):
        return value.decode()
    return None if value is None or value != value else value  # noqa: PLR0124 -- not a number


def read(path, record_set):
    dataset = mlcroissant.Dataset(path)
    issues = dataset.metadata.ctx.issues
    records = [{key: plain(value) for key, value in record.items()} for record in dataset.records(record_set)]
    return {
        "name": dataset.metadata.name,
        "license": dataset.metadata.license,
        "version": version("mlcroissant"),
        "issues": sorted([*issues.errors, *issues.warnings]),
        "records": records,
    }


try:
    result = read(*sys.argv[1:])
except Exception as error:  # noqa: BLE001 -- whatever it refuses
    causes = [error]
    while causes[-1].__cause__ is not None:
        causes.append(causes[-1].__cause__)
    result = {"error": "; ".join(map(str, causes))}
sys.stdout.write(json.dumps(result, default=str) + "\n")

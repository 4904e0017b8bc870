"""The tables of the figures: each with the records that releases are made of, those that are held out, and a plan."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aegis_provider import Plan, open_table
from aegis_provider.records import Records, read_records, sides_of
from research.suppression import HEALTH, plan_of
from tests import example

HELD_OUT: Final = 0.5
MOST: Final = 20_000
"""The most records of a table, drawn at random; about half of them are learnt from."""

SEED: Final = 1
EXAMPLE: Final = "example"
ADULT: Final = "Adult"

ADULT_PLAN: Final = """
label: income
sensitive: [race]
quasi_identifiers: [age, workclass, education_num, marital_status, occupation, relationship, sex, native_country]
attributes:
  age: {type: integer, maskings: NUMBERS[20, 25, 30, 35, 45, 55, 65]}
  workclass: {maskings: {w1: {mapping: {Private: Private}, other: other}}}
  education_num: {type: integer, maskings: NUMBERS[9, 10, 13, 14]}
  marital_status: {maskings: {m1: {mapping: {Married-civ-spouse: yes, Married-AF-spouse: yes}, other: no}}}
  occupation: {maskings: {o1: {mapping: {Exec-managerial: office, Prof-specialty: office}, other: other}}}
  relationship: {maskings: {r1: {mapping: {Husband: spouse, Wife: spouse}, other: other}}}
  sex: {}
  native_country: {maskings: {n1: {mapping: {United-States: United-States}, other: other}}}
  race: {}
  capital_gain: {type: integer}
  capital_loss: {type: integer}
  hours_per_week: {type: integer}
"""
"""The paper names no quasi-identifiers. `education` says what `education_num` says, and `fnlwgt` is a weight."""


@dataclass(frozen=True)
class SplitTable:
    """A table; its records with half of the combinations of attributes are held out.

    Attributes:
        name: What the page calls it.
        table: The file with all records.
        training: The file with the records that releases are made of.
        plan: Its plan, without configurations.
        records: How many records it has.
        learnt_from: How many of them are not held out.
    """

    name: str
    table: Path
    training: Path
    plan: Plan
    records: int
    learnt_from: int

    @property
    def weighted(self) -> tuple[str, ...]:
        """The attributes whose nearness to real records the privacy knob makes cost something."""
        return self.plan.quasi_identifiers

    @property
    def secret(self) -> str:
        """The attribute that nobody should learn."""
        return self.plan.sensitive[0]


def split(name: str, source: Path, plan_text: str, folder: Path, most: int = MOST) -> SplitTable:
    """Draw records of a table, and write them and those to learn from into the folder."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    plan = plan_of(plan_text, place, means=False)
    with open_table(source) as opened:
        records = read_records(opened, plan.attributes, plan.label, most=most)
    training = sides_of(records, HELD_OUT).training
    _write(records, place / "table.csv")
    _write(training, place / "training.csv")
    return SplitTable(name, place / "table.csv", place / "training.csv", plan, len(records), len(training))


def the_example(folder: Path, most: int = MOST) -> SplitTable:
    """Return the health example; its label is what nobody should learn, and all else may identify a person."""
    return split(EXAMPLE, example.TABLE, HEALTH, folder, most)


def adult(file: Path, folder: Path, most: int = MOST) -> SplitTable:
    """Return Adult with the label income; nobody should learn the race."""
    return split(ADULT, file, ADULT_PLAN, folder, most)


def _write(records: Records, file: Path) -> None:
    texts = [[each.domain.texts[place] for place in each.places] for each in records.columns]
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        writer.writerow(records.names)
        writer.writerows(zip(*texts, strict=True))

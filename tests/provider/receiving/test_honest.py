"""What is honestly released verifies, whatever controls its counts and whatever masks its values."""

import random
from dataclasses import replace

import pytest

from aegis_provider import load_plan
from aegis_provider.cli.receive import verify_delivery
from aegis_provider.control import LaplaceNoise, MinimumCell, RandomRounding
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.masking.registry import FUNCTIONS
from aegis_provider.privacy import PrivacyTable
from aegis_provider.privacy.privacy_table import suppress_cells
from aegis_provider.receiving.verification import verify
from aegis_provider.table import open_table
from tests.for_each import for_each
from tests.provider.receiving.delivering import Provider, delivery_of, evidence_on

CONTROLS = {
    "exact": {"exact": True},
    "default": {},
    "base 10": {"controls": (RandomRounding(10),)},
    "minimum 5": {"controls": (MinimumCell(5, merge_rare_labels=True),)},
    "minimum 3, base 5": {"controls": (MinimumCell(3, merge_rare_labels=True), RandomRounding(5))},
    "noise": {"controls": (LaplaceNoise(20.0, "cube_root"),)},
}
QUICK = {("exact", True), ("default", False), ("noise", True)}
SEED = 1234567890123456789012345678901234567890
ATTRIBUTES = """
  age:
    hierarchy: {intervals: [5, 10, 20]}
    maskings:
      fives: {bucketize: {width: 5}}
      life: {bucketize: {edges: [0, 30, 60, .inf]}}
      fifths: {bucketize: {equal_frequency: 5}}
      tens: {round: {to: 10}}
      means: {microaggregate: {size: 15}}
      limits: {top_bottom: {top: 60, bottom: 25}}
      noisy: {noise: {kind: laplace, scale: 2, step: 5, lower: 15, upper: 80}}
      looked-up: {hierarchy: {file: ages.csv, level: 1}}
  zip:
    type: string
    hierarchy: {prefixes: [2, 1]}
    maskings:
      first: {blur: {keep: 2}}
      inner: {blur: {positions: [2, -1]}}
      token: {token: {salt_file: salt.txt, length: 8}}
      gone: {suppress: {}}
  visit:
    type: date
    hierarchy: {dates: [month, quarter, year]}
  place:
    hierarchy: {tree: {Europe: {North: [SE, DK], South: [IT, GR]}, Asia: [JP], isle: [isle]}}
    maskings:
      shuffled: {shuffle: {}}
      answer: {randomised_response: {keep: 0.8}}
      pram: {pram: {transition: {SE: {SE: 0.7, DK: 0.3}, DK: {DK: 1}, IT: {IT: 1}, GR: {GR: 1}, JP: {JP: 1},
        isle: {SE: 1}}}}
      mapped: {mapping: {SE: cold, DK: cold, isle: isle}, other: warm}
  amount:
    maskings:
      wide: {bucketize: {width: 40}}
      means: {microaggregate: {size: 25}}
      halves: {round: {to: 2.5}}
"""
AT_RANDOM = ("noisy", "shuffled", "answer", "pram")
SECRET = ("token",)


def table_text(records, seed):
    draw = random.Random(seed)
    lines = ["age,zip,visit,place,amount,y"]
    places = ["SE"] * 30 + ["DK"] * 20 + ["IT"] * 20 + ["GR"] * 15 + ["JP"] * 10 + ["isle"] * 2
    for _ in range(records):
        age = draw.choice(["", *map(str, range(18, 78))])
        zipped = f"{draw.choice([1, 1, 2, 3])}{draw.choice([0, 0, 5])}{draw.randrange(20):03}"
        day = f"20{draw.choice([19, 20, 20])}-{draw.randrange(1, 13):02}-{draw.choice([1, 1, 15, 28]):02}"
        y = draw.choice(
            ["low", "mid", "high"]
            if age > "4"
            else ["low", "low", "mid", "mid", "rare" if draw.random() < 0.05 else "low"]
        )
        lines.append(f"{age},{zipped},{day},{draw.choice(places)},{draw.gauss(100, 30):.1f},{y}")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("receiving")
    (made / "t.csv").write_text(table_text(500, 1), encoding="utf-8")
    (made / "ages.csv").write_text(
        "\n".join(f"{age};{'young' if age < 40 else age if age < 44 else 'old'}" for age in range(18, 78))
        + "\n;unknown\n"
    )
    (made / "salt.txt").write_text("sixteen bytes or more")
    return made


def load(folder, configurations, attributes=ATTRIBUTES, more=""):
    path = folder / "plan.yaml"
    listed = "\n".join(f"  {name}: {{{text}}}" for name, text in configurations.items())
    path.write_text(
        f"label: y\nseed: {SEED}\nattributes:{attributes}\nconfigurations:\n{listed}\n{more}", encoding="utf-8"
    )
    return load_plan(path)


def every_masking(folder, without=()):
    """Return a plan with a configuration for each masking of each attribute, besides others, and for none."""
    plan = load(folder, {"all": ""})
    attributes = tuple(
        replace(each, maskings=tuple(one for one in each.maskings if one.id not in without)) for each in plan.attributes
    )
    dropped = dict.fromkeys([each.name for each in attributes], "drop")
    made = [replace(plan.configurations[0], id="all", maskings=dict.fromkeys(dropped, "identity"))]
    for attribute in attributes:
        for number, masking in enumerate(attribute.maskings):
            beside = {name: "identity" for name in ("place", "amount") if number % 2 and not without}
            chosen = {**dropped, **beside, attribute.name: masking.id}
            made.append(replace(plan.configurations[0], id=f"{attribute.name}.{masking.id}", maskings=chosen))
    return replace(plan, attributes=attributes, configurations=tuple(made))


def refused(verified):
    """Return what speaks against a table, for a message."""
    return [each.model_dump() for each in verified.compared.first[:3]], verified.faults


@pytest.mark.long
@for_each("control", CONTROLS)
def test_every_masking_function_verifies_under_every_control(folder, control):
    plan = every_masking(folder, AT_RANDOM if control == "noise" else ())
    provider = Provider(folder, folder / "t.csv", plan, **CONTROLS[control])
    for configuration in provider.plan.configurations:
        verified = provider.verified(configuration.id)
        assert verified.is_as_agreed, (configuration.id, refused(verified))
        assert verified.compared.cells > 3


def test_no_masking_function_is_left_out(folder):
    (folder / "hidden.csv").write_text("place,y\n")
    plan = every_masking(folder)
    used = {masking.function.name for each in plan.attributes for masking in each.maskings}
    assert set(FUNCTIONS) - used <= {"hierarchy", "masked_table"}, "add it to ATTRIBUTES"


@pytest.mark.long
@for_each("control", CONTROLS)
def test_pairs_verify_and_parquet_does(folder, control):
    without = (*AT_RANDOM, *SECRET)
    text = {
        "fine": "age: fives, zip: first, visit: visit-1, amount: wide",
        "some": "age: age-3, zip: zip-2, place: place-1, visit: drop, amount: drop",
        "plain": "age: drop, zip: gone, visit: drop, amount: halves",
    }
    plan = load(folder, text)
    attributes = tuple(
        replace(each, maskings=tuple(one for one in each.maskings if one.id not in without)) for each in plan.attributes
    )
    plan = replace(plan, attributes=attributes)
    provider = Provider(folder, folder / "t.csv", plan, pairs=True, **CONTROLS[control])
    for name in text:
        assert provider.evidence(name).pairs
        for ending in ("csv", "parquet"):
            verified = provider.verified(name, ending)
            assert verified.is_as_agreed, (name, ending, refused(verified))


def suppressing(folder, *, cells):
    """Return a plan with a configuration that leaves out the records, or cells of those, that break k = 4."""
    text = "age: age-3, zip: zip-2, visit: visit-3, place: place-1, amount: drop"
    plan = load(folder, {"c": text, "more": text}, more="privacy:\n  c: {k: 4}\nsuppressed:\n  c: 0\n")
    without = (*AT_RANDOM, *SECRET)
    attributes = tuple(
        replace(each, maskings=tuple(one for one in each.maskings if one.id not in without)) for each in plan.attributes
    )
    plan = replace(plan, attributes=attributes)
    if cells:
        return suppress_cells(folder / "t.csv", plan).plan
    with open_table(folder / "t.csv") as opened:
        privacy = PrivacyTable.of(CountedTable.of(opened, plan), plan)
    first, more = plan.configurations
    stated = replace(first, suppressed=privacy.suppressed(first).records)
    return replace(plan, configurations=(stated, more))


@pytest.mark.parametrize(
    ("control", "cells"),
    [
        pytest.param(control, cells, marks=[] if (control, cells) in QUICK else pytest.mark.long)
        for control in CONTROLS
        for cells in (False, True)
    ],
)
def test_suppressed_records_and_cells_are_accounted_for(folder, control, cells):
    plan = suppressing(folder, cells=cells)
    assert plan.configurations[0].suppressed > 5 or plan.configurations[0].suppressed_cells > 5
    provider = Provider(folder, folder / "t.csv", plan, pairs=True, **CONTROLS[control])
    verified = provider.verified("c")
    assert verified.is_as_agreed, refused(verified)
    assert verified.privacy.reached["k"] >= 4
    assert "k" in verified.privacy.kept


def test_the_records_that_are_left_out_are_as_many_as_declared(folder):
    plan = suppressing(folder, cells=False)
    provider = Provider(folder, folder / "t.csv", plan, exact=True)
    missing = provider.verified("c").comparison.missing
    assert missing.least == missing.most == plan.configurations[0].suppressed


def test_the_report_tells_rounded_numbers_and_promises_that_cannot_be_measured(folder):
    provider = Provider(folder, folder / "t.csv", suppressing(folder, cells=False))
    path, request = provider.delivered("c")
    promised = {"k": 4.0, "beta": 9.0, "epsilon": 1.0}
    told = delivery_of(path, "c", request.delivery.records, promised)
    evidence = provider.evidence("c")
    lines = verify_delivery(path, told, evidence, None).lines
    assert any(line.endswith(f", {evidence.suppressed} are declared, rounded to a multiple of 3") for line in lines)
    assert "promised, but not measured here: beta-likeness (beta = 9), differential privacy (epsilon = 1)" in lines


def test_a_delivery_in_several_files_is_counted_as_one_table(folder):
    provider = Provider(folder, folder / "t.csv", suppressing(folder, cells=False))
    path, request = provider.delivered("c")
    header, *records = path.read_text().splitlines(keepends=True)
    for place, part in enumerate((records[::2], records[1::2])):
        path.with_name(f"part-{place}.csv").write_text("".join((header, *part)))
    assert verify(folder / "part-*.csv", request, provider.evidence("c")).is_as_agreed


def test_of_people_only_what_follows_for_their_rows_is_checked(tmp_path):
    """A table of the rows of three people each: k = 3 people are at least three rows of a class."""
    path = tmp_path / "c.csv"
    path.write_text(
        "age,health\n" + "old,bad\nold,bad\nold,good\nyoung,bad\nyoung,good\nyoung,good\n", encoding="utf-8"
    )
    joint = [[2, 1], [1, 2]]
    masking = {"id": "two", "domain": ["old", "young"], "mapping": [0, 1], "joint": joint}
    entry = {
        "format": 3,
        "name": "visits",
        "records": 6,
        "unit": "person",
        "people": 6,
        "rows_per_person": 1,
        "label": {"name": "health", "domain": ["bad", "good"], "histogram": [3, 3]},
        "attributes": [{"name": "age", "type": "string", "domain": ["old", "young"], "maskings": [masking]}],
        "configurations": [{"id": "c", "maskings": {"age": "two"}, "privacy": {"k": 3, "l": 2, "alpha": 0.5}}],
    }
    card = {"columns": [{"name": "age", "role": "quasi-identifier"}, {"name": "health", "role": "sensitive"}]}
    request = delivery_of(path, "c", 6, card=card)
    told = verify(path, request, evidence_on(entry, "c")).privacy
    assert (told.unit, told.reached, told.broken) == ("person", {"k": 3, "l": 2}, ())
    entry["configurations"][0]["privacy"]["k"] = 4
    less = verify(path, request, evidence_on(entry, "c")).privacy
    assert less.broken == ("k",)

"""Noise is scaled for counts that one record moves by 1. Here without noise: what moves between neighbouring tables?"""

import random
import re
from collections import Counter

import numpy as np
import pytest

from aegis_provider import document_of, load_plan, prepare_entry
from aegis_provider.control import LaplaceNoise
from aegis_provider.disclosure import disclose
from tests.for_each import for_each
from tests.provider.receiving.delivering import Provider, verdict_beside

WITHOUT_NOISE = LaplaceNoise(1e6)
K50 = "label: y\nattributes: {a: {}, b: {}}\nquasi_identifiers: [b]\nconfigurations: {c1: {}}\nprivacy: {c1: {k: 50}}\n"
PLANS = {
    "records": "quasi_identifiers: [a, b, n]\nconfigurations: {c1: {n: tens}}\nprivacy: {c1: {k: SIZE}}\n"
    "suppressed: {c1: 9}",
    "two": "quasi_identifiers: [a, b, n]\nconfigurations: {c1: {n: tens}, c2: {n: tens, a: drop}}\n"
    "privacy: {c1: {k: 25}, c2: {k: SIZE}}\nsuppressed: {c1: 9, c2: 9}",
    "cells": "quasi_identifiers: [a, b]\nconfigurations: {c1: {}, c2: {b: cut}}\nprivacy: {c1: {k: 12}, c2: {l: 2}}\n"
    "suppressed: {c1: 2, c2: 3}\nsuppressed_cells: {c1: 5}",
    "all": "quasi_identifiers: [a]\nconfigurations: {c1: {n: drop}, c2: {n: tens, b: cut}, c3: {a: drop}}",
    "secret": "quasi_identifiers: [a]\nconfigurations: {c1: {n: tens}, c2: {n: top, b: cut}}",
}
ATTRIBUTES = (
    "label: y\nattributes:\n  a: {}\n  b: {maskings: {cut: {blur: {keep: 1}}}}\n"
    "  n: {type: integer, maskings: {tens: {bucketize: {width: 10}}, top: {bucketize: {edges: [20, 60]}}}}\n"
)


def rows_of(draw, records=300):
    for _ in range(records):
        a, b, n = draw.choice("pppqqr"), draw.choice(["xa", "xa", "xb", "ya"]), int(draw.gauss(40, 15))
        yield f"{a},{b},{n},{draw.choice('uuv')}"


def counts_of(entry):
    """Return each table of counts by its name, and the entry without them and without what is computed from them."""
    document = document_of(entry)
    tables = {"label": [document["label"].pop("histogram")]}
    holders = {(each["name"], one["id"]): one for each in document["attributes"] for one in each["maskings"]}
    pairs = {(*each["attributes"], *each["maskings"]): each for each in document.get("pairs", [])}
    tables |= {name: each.pop("joint") for name, each in (holders | pairs).items() if "joint" in each}
    for name, each in pairs.items():
        tables[*name, "combinations"] = [[each["with_label"].pop("combinations")]]
        del each["with_label"]["chi_square"]
    assert document.pop("records") == sum(tables["label"][0])
    for each in document["configurations"]:
        each.pop("privacy", None)
        del each["alone"]
    return tables, document


def counted(path, header, rows, plan):
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return counts_of(prepare_entry(path, plan, [WITHOUT_NOISE], name="e", pairs=True).entry)


def moved(one, other):
    """Return by how much each table's counts move together."""
    assert one.keys() == other.keys()
    return {name: int(np.abs(np.array(one[name]) - np.array(other[name])).sum()) for name in one}


def test_the_record_that_brings_a_class_to_its_k_moves_counts_by_one(tmp_path, write):
    """With 49 records of z, a release leaves all of them out; with 50 it shows them."""
    draw = random.Random(1)
    base = [f"{draw.choice('pqr')},{draw.choice('st')},{draw.choice('uv')}" for _ in range(400)]
    plan = load_plan(write("plan.yaml", K50 + "suppressed: {c1: 49}\n"))
    (few, rest), (more, others) = (counted(tmp_path / "t.csv", "a,b,y", base + ["p,z,u"] * k, plan) for k in (49, 50))
    assert sum(few["label"][0]) == 449
    assert set(moved(few, more).values()) == {1, 0}
    assert rest == others


@pytest.mark.long
@for_each("name", list(PLANS))
def test_one_record_moves_no_count_by_more_than_one(tmp_path, write, name):
    """All else is the same, too, but for privacy numbers and who is alone, unless values are merged otherwise."""
    draw, same, header = random.Random(name), 0, "a,b,n,y"
    rows = list(rows_of(draw))
    classes = [re.sub(r"\d,.$", "", row) for row in rows]  # a, b, and the tens of n
    chosen, size = Counter(classes).most_common(6)[-1]
    plan = load_plan(write("plan.yaml", (ATTRIBUTES + PLANS[name]).replace("SIZE", str(size))))
    one, rest = counted(tmp_path / "t.csv", header, rows, plan)
    for record in (classes.index(chosen), *draw.sample(range(len(rows)), 3)):
        other, others = counted(tmp_path / "t.csv", header, rows[:record] + rows[record + 1 :], plan)
        if rest == others:
            same += 1
            assert set(moved(one, other).values()) <= {0, 1}
            assert moved(one, other)["label"] == 1
    assert same >= 2


def test_deliveries_and_the_table_agree_with_an_entry_that_counts_suppressed_records(tmp_path, write):
    """z and its label value w are in no release, but in the entry."""
    rows = [f"{'pq'[n % 2]},{'st'[n % 3 == 0]},{'uv'[n % 5 == 0]}" for n in range(400)] + ["p,z,w"] * 30
    table = write("t.csv", "\n".join(["a,b,y", *rows]) + "\n")
    plan = load_plan(write("plan.yaml", K50 + "suppressed: {c1: 30}\n"))
    provider = Provider(tmp_path, table, plan, [LaplaceNoise(200.0)])
    entry = provider.prepared.entry
    assert entry.label.domain == ["u", "v", "w"]
    path, request = provider.delivered("c1")
    assert request.delivery.records == 400
    verified = provider.verified("c1")
    assert verified.is_as_agreed, (verified.compared.first, verified.faults)
    assert verified.compared.cells > 0
    assert verdict_beside(entry, "c1", path).passed
    compared = disclose(entry, table=table, plan=plan)
    assert all(each.compared is not None for each in compared.attributes)

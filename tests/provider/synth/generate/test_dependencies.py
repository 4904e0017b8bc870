"""Planted rules are found, kept by what is drawn, and counted where they are broken."""

import numpy as np
import pyarrow as pa
import pytest

from aegis_provider import load_plan
from aegis_provider.records import Column, Records
from aegis_provider.synth.fidelity.contradictions import BAR, contradictions_of
from aegis_provider.synth.generate.dependencies import Formula, rules_of
from aegis_provider.synth.generate.generating import generate
from aegis_provider.synth.generate.pairs import Pairs
from aegis_provider.synth.generate.prepared import Wish
from tests.provider.synth.generate.methods.tasks import task_of

RECORDS = 2_000
PLAN = "label: y\nattributes:\n" + "".join(
    f"  {name}: {{type: {kind}}}\n"
    for name, kind in {
        "net": "string",
        "extra": "string",
        "region": "string",
        "code": "integer",
        "months": "integer",
        "fee": "number",
        "total": "number",
        "tax": "number",
    }.items()
)


def planted(seed=0, records=RECORDS):
    """Return columns: `extra` needs a `net`, `code` follows from `region`, `total` from two, and `tax` from `total`."""
    rng = np.random.default_rng(seed)
    net = rng.choice(["none", "slow", "fast"], records, p=[0.3, 0.3, 0.4])
    extra = np.where(net == "none", "no net", rng.choice(["yes", "no"], records))
    region = rng.integers(0, 12, records)
    months = rng.integers(0, 60, records)
    fee = np.round(np.where(net == "none", 20, 60) + 20 * rng.random(records), 2)
    total = np.round(months * fee * rng.uniform(0.95, 1.05, records), 2)
    label = np.where(rng.random(records) < 0.2 + 0.6 * (net == "fast"), "yes", "no")
    texts = {
        "net": net,
        "extra": extra,
        "region": np.array([f"r{each}" for each in region]),
        "code": 100 + 7 * region,
        "months": months,
        "fee": [f"{each:.2f}" for each in fee],
        "total": [f"{each:.2f}" if each else "" for each in total],
        "tax": [f"{each:.2f}" if each else "" for each in np.round(0.2 * total, 2)],
        "y": label,
    }
    return {name: [str(each) for each in column] for name, column in texts.items()}


def columns_of(texts):
    return tuple(Column.of(name, pa.array(column)) for name, column in texts.items())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Records that the default method draws from a planted table."""
    folder = tmp_path_factory.mktemp("planted")
    (folder / "plan.yaml").write_text(PLAN)
    plan = load_plan(folder / "plan.yaml", configurations_needed=False)
    return generate(pa.table(planted()), plan, wish=Wish(seed=1)).table


def test_planted_rules_are_found_and_no_others():
    rules = rules_of(columns_of(planted())[:-1])
    assert {rule.words for rule in rules} == {
        "code follows from region",
        "total is about months x fee",
        "tax is about 0.2 x total",
    }
    shuffled = {
        name: list(np.random.default_rng(place).permutation(column))
        for place, (name, column) in enumerate(planted().items())
    }
    assert not rules_of(columns_of(shuffled)[:-1])


@pytest.mark.parametrize(("sign", "words"), [(1, "c is about a + b"), (2, "c is about 2 x (a + b)")])
def test_sums_are_found(sign, words):
    rng = np.random.default_rng(3)
    a, b = rng.integers(1, 1_000, (2, 1_000))
    [rule] = rules_of(columns_of({"a": a.astype(str), "b": b.astype(str), "c": (sign * (a + b)).astype(str)}))
    assert rule.words == words
    assert isinstance(rule, Formula)
    assert rule.tolerance == 0


def test_drawn_records_break_no_planted_rule(made):
    """Counted in plain Python, from the texts."""
    rows = made.to_pylist()
    codes = {f"r{each}": str(100 + 7 * each) for each in range(12)}
    assert all(row["code"] == codes[row["region"]] for row in rows)
    assert all((row["extra"] == "no net") == (row["net"] == "none") for row in rows)
    # A number may lie between those of two groups, where no real one does, but not in the other one.
    # A group has a tenth of the records at most, so it goes 3 above the gap, or 7 below it.
    assert all((float(row["fee"]) < 63) if row["net"] == "none" else (float(row["fee"]) > 33) for row in rows)
    months = [row for row in rows if int(row["months"])]
    off = [abs(float(row["total"]) / (int(row["months"]) * float(row["fee"])) - 1) for row in months]
    assert max(off) <= 0.051  # that of the planted ratios, and half a cent
    assert all(float(row["tax"]) == pytest.approx(0.2 * float(row["total"]), abs=0.0051) for row in months)
    assert all(row["total"] == row["tax"] == "" for row in rows if row not in months)


def test_columns_keep_their_shares(made):
    real = planted()
    for name in ("net", "extra", "y"):
        for value in set(real[name]):
            drawn = made[name].to_pylist().count(value) / made.num_rows
            assert drawn == pytest.approx(real[name].count(value) / RECORDS, abs=0.05)


def test_contradictions_are_counted(made):
    columns = columns_of(planted())
    sides = Records(columns).take(np.arange(RECORDS) % 2 == 0), Records(columns).take(np.arange(RECORDS) % 2 == 1)
    found = contradictions_of(made, *sides)
    assert max(found.unseen_pairs, found.broken_rules) <= BAR
    assert found.sentence.endswith("both are within 2 %")
    rows = made.to_pylist()
    for row in rows[: len(rows) // 10]:
        row["extra"] = "yes" if row["net"] == "none" else "no net"
    for row in rows[-len(rows) // 5 :]:
        row["code"] = str(100 + (int(row["code"]) - 93) % 84)
    broken = contradictions_of(pa.Table.from_pylist(rows, made.schema), *sides)
    assert broken.broken_rules == pytest.approx(0.2, abs=BAR)
    assert broken.unseen_pairs == pytest.approx(0.3, abs=BAR)
    assert "warning" in broken.sentence


def test_pairs_are_those_of_an_oracle():
    texts = planted(records=300)
    columns = columns_of({name: texts[name] for name in ("net", "extra", "region", "y")})
    real = set(zip(texts["net"], texts["extra"], strict=True))
    every = [(one, other) for one in set(texts["net"]) for other in set(texts["extra"])]
    two = dict(zip(("net", "extra"), map(list, zip(*every, strict=True)), strict=True))
    lacking = Pairs.of(columns).lacking({each.name: each for each in columns_of(two)})
    assert lacking.tolist() == [pair not in real for pair in every]
    assert not Pairs.of(columns).lacking({each.name: each for each in columns}).any()


def test_rare_values_exclude_nothing():
    """Of 40 towns and 40 trades, most of 900 records have a pair of their own: none is lacking for certain."""
    rng = np.random.default_rng(0)
    columns = columns_of({name: [f"{name}{each}" for each in rng.integers(0, 40, 900)] for name in ("town", "trade")})
    task = task_of({each.name: each.places for each in columns})
    assert not Pairs.of(columns, 5).supports(columns, task.levels, ())


def test_a_value_that_is_rare_beside_all_others_is_excluded_nowhere():
    """Of 2,000 records, 12 are of a town, one or two in each trade: absent or not, the pairs are no finding."""
    trade = np.arange(2_000) % 10
    town = np.where(np.arange(2_000) % 167 == 0, "rare", "usual")
    columns = columns_of({"town": town, "trade": trade.astype(str)})
    task = task_of({each.name: each.places for each in columns})
    assert not Pairs.of(columns, 5).supports(columns, task.levels, ())

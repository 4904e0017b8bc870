"""Records that are alone on all shared columns, against counting the rows of the written file."""

import csv
import json
import random
import re
from collections import Counter, defaultdict

import duckdb
import pytest

from aegis_provider import apply, load_plan, prepare_entry
from aegis_provider.counting import coded_table
from aegis_provider.errors import PromiseError
from aegis_provider.privacy.privacy_table import suppress_cells
from aegis_provider.release.alone import CountedAlone, alone_in_releases
from aegis_provider.table import in_memory
from tests.for_each import for_each

PLAN = """
label: churn
seed: 271828182845904523
quasi_identifiers: [gender, tenure]
attributes:
  gender: {}
  tenure: {type: integer, maskings: {years: {bucketize: {width: 12}}, gone: {suppress: {}}}}
  plan: {maskings: {kind: {blur: {keep: 1}}}}
  phone: {maskings: {any: {randomised_response: {keep: 0.7}}, mixed: {shuffle: {}}}}
  charge: {type: number, maskings: {tens: {bucketize: {width: 10}}}}
configurations:
  fine: {}
  years: {tenure: years}
  some: {tenure: years, charge: tens, plan: kind}
  less: {tenure: years, charge: drop}
  few: {tenure: gone, plan: kind, phone: drop, charge: drop}
  none: {gender: drop, tenure: drop, plan: drop, phone: drop, charge: drop}
  drawn: {tenure: years, phone: any, charge: tens}
  mixed: {tenure: gone, phone: mixed, charge: drop}
  left: {tenure: years, charge: tens}
  kept: {charge: drop}
privacy:
  years: {k: 2}
  left: {k: 60, l: 2}
  kept: {k: 3}
suppressed: {left: LEFT, kept: KEPT}
"""


def alone_in_file(path, label="churn"):
    """How many rows of a CSV file are alone on all of its columns but one, and how many rows it has."""
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    rows = [tuple(cell for name, cell in zip(header, row, strict=True) if name != label) for row in rows]
    return sum(number == 1 for number in Counter(rows).values()), len(rows)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng, path = random.Random(3), tmp_path_factory.mktemp("alone") / "telephone.csv"
    lines = ["gender,tenure,plan,phone,charge,churn"]
    for _ in range(700):
        known = f"{rng.choice('FM')},{int(rng.triangular(0, 36, 3))}"
        lines.append(f"{known},{rng.choice(['a1', 'a2', 'b1'])},{rng.choice('yn')},{rng.randint(180, 420) / 10},"
                     f"{rng.choice('nny')}")  # fmt: skip
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def plan(table, tmp_path_factory):
    """The plan, with as many records left out as break its promises, counted here."""
    with table.open(newline="") as file:
        records = list(csv.DictReader(file))

    def broken(key, k, least):
        classes = defaultdict(list)
        for each in records:
            classes[key(each)].append(each["churn"])
        return sum(len(one) for one in classes.values() if len(one) < k or len(set(one)) < least)

    left = broken(lambda each: (each["gender"], int(each["tenure"]) // 12), 60, 2)
    kept = broken(lambda each: (each["gender"], each["tenure"]), 3, 1)
    assert left
    assert kept
    path = tmp_path_factory.mktemp("plan") / "plan.yaml"
    path.write_text(PLAN.replace("LEFT", str(left)).replace("KEPT", str(kept)))
    return load_plan(path)


@pytest.mark.long
def test_every_release_has_as_many_records_alone_as_the_rows_of_its_file(table, plan, tmp_path):
    shares, stated, parquet = alone_in_releases(table, plan), {}, tmp_path / "telephone.parquet"
    duckdb.read_csv(str(table), all_varchar=True).write_parquet(str(parquet))
    for each in plan.configurations:
        applied = apply(table, plan, each.id, tmp_path / "masked.csv", accept_unique=True)
        stated[each.id] = alone_in_file(tmp_path / "masked.csv")
        assert (applied.checked.alone.alone, applied.checked.alone.records) == stated[each.id], each.id
        if each.id in {"fine", "drawn", "left"}:
            assert (
                apply(parquet, plan, each.id, tmp_path / "masked.parquet", accept_unique=True).checked.alone
                == applied.checked.alone
            ), each.id
    assert shares == {name: CountedAlone(*counted).share for name, counted in stated.items()}
    assert alone_in_releases(parquet, plan) == shares
    assert {name for name, share in shares.items() if not share} == {"less", "few", "none", "mixed"}
    assert shares["fine"] > 0.9 > shares["left"] > 0.01


def test_a_suppressed_cell_is_a_value_of_its_own(table, plan, tmp_path):
    starred = suppress_cells(table, plan).plan
    assert any(each.suppressed_cells for each in starred.configurations)
    shares = alone_in_releases(table, starred)
    for name in ("left", "kept"):
        apply(table, starred, name, tmp_path / "masked.csv", accept_unique=True)
        assert shares[name] == CountedAlone(*alone_in_file(tmp_path / "masked.csv")).share, name


def test_a_promise_of_k_leaves_nobody_alone_only_if_it_is_kept(tmp_path):
    (tmp_path / "plan.yaml").write_text(
        "label: y\nattributes: {a: {}, b: {}}\nquasi_identifiers: [a]\nconfigurations: {all: {}, one: {b: drop}}\n"
        "privacy: {all: {k: 2}, one: {k: 2}}\n"
    )
    plan = load_plan(tmp_path / "plan.yaml")
    (tmp_path / "t.csv").write_text("a,b,y\n1,5,n\n1,6,y\n")
    assert alone_in_releases(tmp_path / "t.csv", plan) == {"all": 1.0, "one": 0.0}
    (tmp_path / "t.csv").write_text("a,b,y\n1,5,n\n2,5,y\n")
    assert alone_in_releases(tmp_path / "t.csv", plan) == {"all": 1.0, "one": 1.0}


@for_each(
    ("alone", "records", "share"),
    [
        (0, 7043, 0.0),
        (1, 7043, 0.001),  # fewer than 0.1 %
        (7, 7000, 0.002),  # just as many
        (8, 7043, 0.002),
        (6372, 7043, 0.91),
        (700, 7000, 0.1),
        (1, 700, 0.01),
        (1, 100, 0.1),
        (3, 3, 1.0),
        (5, 10, 1.0),
        (7043, 7043, 1.0),
        (70, 7000, 0.01),
        (71, 7000, 0.011),
    ],
)
def test_a_share_is_rounded_up(alone, records, share):
    assert CountedAlone(alone, records).share == share


@for_each("records", [5, 37, 100, 499, 500, 733, 5000])
def test_no_share_tells_a_count_of_one_to_four(records):
    """Neither of those who are alone, nor of all others, nor of the difference from a release that is known."""
    counts = defaultdict(list)
    for alone in range(records + 1):
        share = CountedAlone(alone, records).share
        assert share * records >= alone - 1e-9
        counts[share].append(alone)
    assert counts.pop(0.0) == [0]
    assert all(len(each) >= 5 for each in counts.values())


@for_each("largest", [1 << 62, 60])
def test_a_large_table_has_as_many_alone_as_a_small_one(table, plan, monkeypatch, largest):
    """Values in two spellings are one; with few keys at once, combinations are numbered anew on the way."""
    spelled = table.with_name("spelled.csv")
    spelled.write_text(re.sub(r"(?m)(?<=,)(\d+)\.0(?=,[ny]$)", r"\1.00", table.read_text(), count=40))
    shares = alone_in_releases(spelled, plan)
    monkeypatch.setattr(in_memory, "SMALL", 0)
    monkeypatch.setattr(coded_table, "_LARGEST_KEY", largest)
    monkeypatch.setattr(coded_table, "_TOGETHER", 100)
    assert alone_in_releases(spelled, plan) == shares
    assert 0 < shares["some"] < shares["fine"]


def test_records_that_agree_are_counted_once(write, plan_of, monkeypatch):
    monkeypatch.setattr(in_memory, "SMALL", 0)
    plan = plan_of("{a: {maskings: {tens: {bucketize: {width: 10}}}}}", "{fine: {}, tens: {a: tens}}")
    rows = [f"{number},n\n" for number in (1, 2, 2, 2, 2, 2, 2, 15, 15, 15, 99)]
    for times, expected in ((1, {"fine": CountedAlone(2, 11).share, "tens": CountedAlone(1, 11).share}), (2, 0)):
        path = write("t.csv", "a,y\n" + "".join(rows * times))
        assert alone_in_releases(path, plan) == (expected or {"fine": 0.0, "tens": 0.0})


def test_nobody_is_alone_in_a_large_table_that_shares_the_label_only(write, plan_of, monkeypatch):
    monkeypatch.setattr(in_memory, "SMALL", 0)
    plan = plan_of("{a: {}}", "{none: {a: drop}}")
    assert [alone_in_releases(write("t.csv", "a,y\n" + "1,n\n" * rows), plan) for rows in (1, 2)] == [
        {"none": 1.0},
        {"none": 0.0},
    ]


def test_an_entry_states_it_and_whom_promises_hold_against(table, plan):
    shares = alone_in_releases(table, plan)
    for exact in (False, True):
        entry = prepare_entry(table, plan, name="t", exact=exact).entry
        assert {each.id: each.alone for each in entry.masked} == shares
        assert entry.quasi_identifiers == ["gender", "tenure"]


ONLY = "private only against attackers who know no more than: gender"
WITHOUT = (
    "label: churn\nattributes:\n  gender: {}\n  plan: {}\n  charge: {type: number}\nconfigurations: {as-it-is: {}}\n"
)


@pytest.mark.long
@for_each(
    ("known", "first"),
    [
        ("quasi_identifiers: [gender]\nprivacy: {as-it-is: {k: 300}}\n", f"{ONLY}: as-it-is holds k = 300"),
        ("", "NOT JUDGED: as-it-is promises nothing"),
    ],
)  # fmt: skip
def test_risk_says_it_below_the_verdict_and_passes_nothing_that_leaves_many_alone(known, first, aegis, table, tmp_path):
    (tmp_path / "plan.yaml").write_text(WITHOUT + known)
    code, out, error = aegis("risk", table, "--plan", tmp_path / "plan.yaml")
    assert (code, error) == (0, "")
    apply(table, load_plan(tmp_path / "plan.yaml"), "as-it-is", tmp_path / "masked.csv", accept_unique=True)
    share = 100 * CountedAlone(*alone_in_file(tmp_path / "masked.csv")).share
    assert out.splitlines()[0].startswith(first)
    assert out.splitlines()[1] == (
        f"{share:g} % of the records are alone on all shared columns in as-it-is, the worst configuration offered; "
        "as-it-is shares 3 columns besides churn, all as they are."
    )
    document = json.loads(aegis("risk", table, "--plan", tmp_path / "plan.yaml", "--json")[1])
    assert (document["verdict"]["passed"] is True, document["alone"]["most"]) == (False, share / 100)


def test_a_masked_table_without_a_plan_is_judged_on_all_of_its_columns(aegis, table):
    columns = ("--quasi-identifiers", "gender", "--sensitive", "churn", "--require", "k=5")
    code, out, _ = aegis("risk", table, *columns)
    assert code == 0
    assert out.startswith(
        "private only against attackers who know no more than: gender: the table as it is holds k = 5. To mend it"
    )
    said = "100 % of the records are alone on all shared columns in telephone.csv; telephone.csv shares 5 columns"
    assert out.splitlines()[1].startswith(said)
    assert aegis("risk", table, "--quasi-identifiers", "gender", "--sensitive", "churn")[1].startswith("NOT JUDGED: ")


def test_apply_and_configurations_say_it_in_their_second_line(aegis, table, tmp_path):
    (tmp_path / "plan.yaml").write_text(WITHOUT + "quasi_identifiers: [gender]\n")
    found, masked = tmp_path / "found.yaml", tmp_path / "masked.csv"
    searched = (
        "plan",
        "configurations",
        table,
        "--plan",
        tmp_path / "plan.yaml",
        "--require",
        "k=5",
        "--output",
        found,
    )
    _, out, _ = aegis(*searched)
    shares = {}
    for name in ("c0001", "c0002"):
        _, applied, _ = aegis(
            "apply", table, "--stays", "--plan", found, "--configuration", name, "--output", masked, "--accept-unique"
        )
        shares[name] = f"{100 * CountedAlone(*alone_in_file(masked)).share:g} % of the records are alone"
        assert shares[name] in applied.splitlines()[1]
    best, worst = (each.partition(" of ")[0] for each in shares.values())
    assert best != worst
    assert out.splitlines()[1] == (
        f"{ONLY}; {best} of the records are alone on all shared columns in c0001, and {worst} in c0002, the worst "
        "configuration offered; c0001 shares 2 columns besides churn, all as they are"
    )


def test_what_breaks_its_promise_is_still_refused(table, tmp_path):
    (tmp_path / "plan.yaml").write_text(WITHOUT + "privacy: {as-it-is: {k: 2}}\n")
    with pytest.raises(PromiseError, match="promises k"):
        apply(table, load_plan(tmp_path / "plan.yaml"), "as-it-is", tmp_path / "masked.csv")

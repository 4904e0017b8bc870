"""The draft of a plan: what it says of each kind of column, and that every word of it is true."""

import datetime as dt
import random
from bisect import bisect
from collections import Counter, defaultdict
from decimal import Decimal
from itertools import pairwise
from math import log2

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aegis_provider import PlanError, TableError, apply, find_configurations, load_plan, open_table
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.draft import start
from aegis_provider.draft.attributes import Column
from aegis_provider.draft.drafting import MOST_DRAFTED
from aegis_provider.search import Requirement
from aegis_provider.table.arithmetic import interval_name
from aegis_provider.table.values import ValueType
from tests.for_each import for_each
from tests.provider.documents import summarize
from tests.provider.draft.made_up import BINNED, CATEGORY, CODE, DAY, NUMBERED, RECORDS, columns, write

LABEL = "outcome"
TABLE = columns()
LEFT_OUT = {
    "patient_id": "contains codes that hardly any two records share",
    "huge": "contains numbers that are infinite or too large; remove them to share it",
    "row": "numbers the records",
    "mail": "contains e-mail addresses",
    "contact": "contains telephone numbers",
    "note": "free text",
    "stamp": "contains times of day; keep only the dates to share it",
    "odd_dates": "contains dates that are not written as 2024-12-31; rewrite them to share it",
    "nearly": "too many different texts",
    "unclean": "numbers, except 'n/a' (60 of 3,000 records), more than one in a hundred; write these like the "
    "others, or leave them empty, to share it",
    "constant": "every record has the same value",
    "nothing": "no record has a value",
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write(tmp_path_factory.mktemp("made-up") / "made-up.csv", TABLE)


@pytest.fixture(scope="module")
def started(table):
    return start(table, LABEL, table.with_name("plan.yaml"))


@pytest.fixture(scope="module")
def masked(table, started):
    """For each attribute: for each masking, the masked text of each value, the finest masking first."""
    plan = load_plan(started.plan, configurations_needed=False)
    with open_table(table) as opened:
        counted = CountedTable.of(opened, plan)
        return {
            each.attribute.name: {
                masking.id: dict(zip(each.domain.texts, counted.masked(each, masking), strict=True))
                for masking in each.attribute.maskings
            }
            for each in counted.attributes
        }


def values(name, started):
    """The values of a column as the plan shares it unmasked, one for each record."""
    [rule] = [each.attribute.discretization for each in started.attributes if each.column.name == name]
    if rule is None:
        return TABLE[name]
    names = [interval_name(*ends) for ends in pairwise(rule.edges)]
    return [text and names[bisect(rule.edges, int(text)) - 1] for text in TABLE[name]]


def information(texts):
    """The mutual information of texts and the label, in bits."""
    labels, total = TABLE[LABEL], len(texts)
    joint, ones, others = Counter(zip(texts, labels, strict=True)), Counter(texts), Counter(labels)
    return sum(n / total * log2(n * total / (ones[text] * others[label])) for (text, label), n in joint.items())


@for_each(("odd", "what"), [("45123,5", "numbers"), ("4E4", "numbers"), ("1995/03/02", "dates")])
def test_an_odd_text_is_named_wherever_it_stands_among_many_values(tmp_path, odd, what):
    first = dt.date(1990, 1, 1)
    values = [
        str(20_000 + n * 7_919 % 4_500 * 7) if what == "numbers" else str(first + dt.timedelta(n)) for n in range(4_500)
    ]
    lines = [f'"{value}",{"mff"[n % 3]},{"ab"[n % 2]}' for n, value in enumerate([*values, odd])]
    (tmp_path / "t.csv").write_text("\n".join(["income,sex,y", *lines]) + "\n")
    said = f"line 4502: 'income' has {what}, except '{odd}' .1 of 4,501 records.*--odd-as-missing"
    with pytest.raises(TableError, match=said):
        start(tmp_path / "t.csv", "y", tmp_path / "plan.yaml")


def test_columns_that_should_not_be_shared_are_left_out_with_the_reason(started):
    assert dict(started.left_out) == LEFT_OUT
    assert load_plan(started.plan, configurations_needed=False).left_out == started.left_out


def test_the_profile_counts_the_columns(started):
    assert started.records == RECORDS
    assert dict(started.labels) == Counter(TABLE[LABEL])
    for each in started.attributes:
        known = [text for text in TABLE[each.column.name] if text]
        assert (each.column.known, each.column.distinct) == (len(known), len(set(known)))
    assert [each.column.name for each in started.attributes if each.column.is_likely_known] == [
        NUMBERED,
        CATEGORY,
        CODE,
        "sex",
    ]
    [sex] = [each.column for each in started.attributes if each.column.name == "sex"]
    assert sex.missing_codes == ("?",)


def test_every_kind_of_column_gets_its_maskings(started):
    drafted = {each.column.name: each.attribute for each in started.attributes}
    kinds = {name: {type(each.function).__name__ for each in attribute.maskings} for name, attribute in drafted.items()}
    assert kinds == {
        NUMBERED: {"EdgeBuckets"},
        BINNED: {"EdgeBuckets"},
        CATEGORY: {"TreeHierarchy"},
        CODE: {"PrefixHierarchy"},
        DAY: {"DateHierarchy"},
        "sex": {"TreeHierarchy"},
    }
    assert {name for name, each in drafted.items() if each.fitted_to_label} == {NUMBERED, BINNED, CATEGORY}
    assert drafted[DAY].maskings[0].function.dates[0] == "month"
    assert drafted[CODE].maskings[0].function.prefixes == (2, 1)


def test_a_frequent_number_has_a_bin_of_its_own(started):
    frequent = values(BINNED, started)[TABLE[BINNED].index("0")]
    assert values(BINNED, started).count(frequent) == TABLE[BINNED].count("0") > RECORDS / 4


def test_the_plan_says_what_was_drafted(started):
    plan = load_plan(started.plan, configurations_needed=False)
    for read, each in zip(plan.attributes, started.attributes, strict=True):
        assert (read.name, read.fitted_to_label) == (each.attribute.name, each.attribute.fitted_to_label)
        assert read.discretization == each.attribute.discretization
        assert [(m.id, m.function) for m in read.maskings] == [(m.id, m.function) for m in each.attribute.maskings]


def test_each_level_merges_values_of_the_one_before(masked):
    for name, levels in masked.items():
        assert levels, name
        for finer, coarser in pairwise(levels.values()):
            becomes = defaultdict(set)
            for value, text in finer.items():
                becomes[text].add(coarser[value])
            assert all(len(texts) == 1 for texts in becomes.values())
            assert len(set(coarser.values())) < len(set(finer.values())) < len(finer) + 1


def test_each_level_says_how_many_values_and_which_share_it_keeps(started, masked):
    for each in started.attributes:
        unmasked = values(each.column.name, started)
        whole = information(unmasked)
        assert each.information == pytest.approx(whole)
        for level in each.levels:
            texts = [masked[each.column.name][level.id][value] for value in unmasked]
            counts = Counter(texts)
            assert (level.groups + level.blank, level.smallest) == (len(counts), min(counts.values()))
            assert level.blank == ("" in counts)
            assert level.kept == pytest.approx(information(texts) / whole)


def test_merged_groups_have_the_minimum(started, masked):
    assert started.minimum == 15
    for each in started.attributes:
        unmasked = values(each.column.name, started)
        for level in each.levels:
            counts = Counter(masked[each.column.name][level.id][value] for value in unmasked)
            few = sum(n for n in counts.values() if n < started.minimum)
            assert few <= (0 if each.attribute.fitted_to_label else 0.01 * RECORDS)


def test_a_larger_minimum_makes_larger_groups(tmp_path):
    table = write(tmp_path / "t.csv", {name: TABLE[name] for name in (NUMBERED, CATEGORY, LABEL)})
    drafted = start(table, LABEL, tmp_path / "plan.yaml", minimum=500).attributes
    smallest = {each.column.name: min((level.smallest for level in each.levels), default=None) for each in drafted}
    assert smallest[NUMBERED] >= 500
    assert smallest[CATEGORY] >= 500


@pytest.mark.long
def test_from_the_draft_to_the_masked_table(table, started, tmp_path):
    plan = load_plan(started.plan, configurations_needed=False)
    found = find_configurations(table, plan, Requirement({"k": 5}, 0.01))
    complete = tmp_path / "found.yaml"
    complete.write_text(
        started.plan.read_text(encoding="utf-8") + f"configurations: {{c: {dict(found.configurations[0].maskings)}}}\n"
    )
    entry = summarize(table, load_plan(complete), name="made-up")
    assert entry["records"] == RECORDS
    assert [each["name"] for each in entry["attributes"]] == [each.name for each in plan.attributes]
    assert apply(table, load_plan(complete), "c", tmp_path / "masked.csv").records == RECORDS


def test_a_second_run_leaves_the_plan_as_it_is(table, started, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_bytes(started.plan.read_bytes().replace(b"sensitive:", b"# mine\nsensitive:"))
    before = plan.read_bytes()
    again = start(table, LABEL, plan)
    assert plan.read_bytes() == before
    assert (again.attributes, again.left_out, again.new) == ((), {}, ())
    assert again.kept == tuple(each.column.name for each in started.attributes)


def test_a_column_can_be_added_and_every_other_word_stays(table, started, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text(started.plan.read_text(encoding="utf-8") + "\n# the end\n", encoding="utf-8")
    before = plan.read_text(encoding="utf-8").splitlines()
    added = start(table, LABEL, plan, add=["odd_dates"])
    after = plan.read_text(encoding="utf-8").splitlines()
    assert [each.column.name for each in added.attributes] == ["odd_dates"]
    [gone] = [line for line in before if line not in after]
    assert gone.startswith("  odd_dates: ")
    rest = iter(after)
    assert all(line in rest for line in before if line != gone)
    read = load_plan(plan, configurations_needed=False)
    assert "odd_dates" in [each.name for each in read.attributes]
    assert "odd_dates" not in read.left_out


def test_of_many_columns_those_that_tell_most_are_drafted_and_the_others_named(tmp_path):
    chosen = random.Random(3)
    labels = [chosen.choice("ab") for _ in range(400)]
    # Codes of 80 values seem to tell more by chance than any other column, which tells a little.
    codes = {f"noise{n}": [str(chosen.randrange(80)) for _ in labels] for n in range(8)}
    telling = {
        f"t{n}": [label if chosen.random() < 0.3 else chosen.choice("ab") for label in labels] for n in range(60)
    }
    table = write(tmp_path / "wide.csv", {**codes, **telling, "y": labels})
    plan = tmp_path / "plan.yaml"
    started = start(table, "y", plan)
    drafted = [each.column.name for each in started.attributes]
    assert len(drafted) == MOST_DRAFTED
    assert {*started.left_out, *drafted} == {*codes, *telling}
    assert len(set(telling) - set(drafted)) < 5 < len(set(codes) - set(drafted))
    assert set(started.left_out.values()) == {"tells less about 'y' than 60 others; --add NAME drafts it"}
    assert load_plan(plan, configurations_needed=False).left_out == started.left_out
    [name, *_] = started.left_out
    named = start(table, "y", tmp_path / "other.yaml", add=[name])
    assert {each.column.name for each in named.attributes} == {*drafted, name}


def test_a_new_column_of_the_table_is_named(started, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_bytes(started.plan.read_bytes())
    more = write(tmp_path / "more.csv", {**TABLE, "new": TABLE[CATEGORY]})
    assert start(more, LABEL, plan).new == ("new",)


@for_each(
    ("change", "said"),
    [
        ({"add": [CATEGORY]}, f"has '{CATEGORY}' already; remove it there to draft it again"),
        ({"label": "sex"}, "is a plan for the label 'outcome', not 'sex'; name another --output"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(table, started, change, said):
    with pytest.raises(PlanError, match=said):
        start(table, **{"label": LABEL, **change}, output=started.plan)


@for_each("delimiter", [";", "\t", "|", ":", ","])
def test_the_delimiter_is_found_in_the_header(tmp_path, delimiter):
    path = write(tmp_path / "t.csv", {"a": ["1", "2"] * 9, "b": ["x"] * 9 + ["z"] * 9}, delimiter)
    started = start(path, "b", tmp_path / "plan.yaml")
    assert started.delimiter == delimiter
    with pytest.raises(TableError, match="did you mean 'b'" if delimiter == "," else "no column 'bb'"):
        start(path, "bb", tmp_path / "other.yaml")


def test_texts_with_line_breaks_and_marks_of_yaml_survive(tmp_path):
    awkward = [
        "one\ntwo",
        "#",
        ": ",
        "'",
        '"',
        "yes",
        "null",
        "- a",
        "\\",
        "ä\x85",
        "[",
        "{",
        "&a",
        "*a",
        "!",
        "%",
        "@",
        "`",
    ]
    table = {"a: #": awkward * 20, "y": ["n", "m"] * 180}
    started = start(write(tmp_path / "t.csv", table), "y", tmp_path / "plan.yaml", minimum=30)
    [attribute] = load_plan(started.plan, configurations_needed=False).attributes
    assert attribute.name == "a: #"
    assert set(attribute.maskings[0].function._table()) == set(awkward)


def test_typed_columns_are_drafted_by_their_types_whatever_holds_them(tmp_path):
    days = [dt.date(2020, 1, 1) + dt.timedelta(place % 900) for place in range(200)]
    table = pa.table(
        {
            "flag": [place % 3 == 0 for place in range(200)],
            "share": [float("nan") if place % 10 == 0 else place / 7 for place in range(200)],
            "day": days,
            "seen": [dt.datetime.combine(day, dt.time(12)) for day in days],
            "amount": pa.array([Decimal(place).scaleb(-2) for place in range(200)], pa.decimal128(12, 2)),
            "none": pa.array([None] * 200, pa.int32()),
            "y": [place % 2 for place in range(200)],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    for source in (table, table.to_pandas(), tmp_path / "t.parquet"):
        plan = tmp_path / "plan.yaml"
        plan.unlink(missing_ok=True)
        started = start(source, "y", plan)
        assert {each.column.name: each.column.type for each in started.attributes} == {
            "flag": ValueType.BOOLEAN,
            "share": ValueType.NUMBER,
            "day": ValueType.DATE,
            "amount": ValueType.NUMBER,
        }
        assert [each.column.missing for each in started.attributes] == [0, 20, 0, 0]
        assert set(started.left_out) == {"seen", "none"}
        assert started.delimiter is None


def test_what_others_know_is_found_by_its_name_in_other_languages():
    known = [
        "PLZ",
        "Geschlecht",
        "Geburtsdatum",
        "Staatsangehörigkeit",
        "Alter",
        "Code postal",
        "Sexe",
        "date_naissance",
    ]
    known += [
        "sexo",
        "Código Postal",
        "fechaNacimiento",
        "Città",
        "Stato civile",
        "età",
        "Geslacht",
        "Leeftijd",
        "Płeć",
    ]
    known += ["Kod pocztowy", "Wykształcenie", "Profissão", "Estado-civil", "idade", "ZIP", "birthDate"]
    unknown = [
        "kapital",
        "eta_minutes",
        "market_cap",
        "movie genre",
        "landing page",
        "cohort",
        "cp_level",
        "sortierung",
    ]
    columns = [Column(name, 1, 1, 1, 0, None, ("x",)) for name in [*known, *unknown]]
    assert [each.name for each in columns if each.is_likely_known] == known


VALUES = {
    "sex": [["m", "f", "d"], ["M", "W"], ["K", "M"], ["Homme", "Femme"], ["hombre", "mujer"], ["kobieta", "mężczyzna"]],
    "dates of birth": [[f"{year}-05-17" for year in range(1940, 2005)]],
    "dates of events": [["2023-01-05", "2024-12-31"]],
    "years of birth": [[str(year) for year in range(1940, 2005)]],
    "postal codes": [
        [form.format(n) for n in range(10, 30)]
        for form in ("010{}", "750{}", "{}-150", "1{}5 AB", "110 {}", "SW{} 1AA", "D-101{}")
    ],
    None: [
        ["yes", "no"],
        ["m", "f", "k"],
        ["high", "medium"],
        [str(year) for year in range(1990, 2025)],
        [f"A{n}" for n in range(10, 30)],
        [str(n) for n in range(80, 120)],
        [str(17 * n) for n in range(100, 900)],
    ],
}


def test_what_others_may_know_is_guessed_by_values_where_the_name_does_not_say_it():
    columns = [(what, Column("v", 1, 1, len(of), 0, None, tuple(of))) for what, lists in VALUES.items() for of in lists]
    assert [each.perhaps_known for _, each in columns] == [what for what, _ in columns]
    named = [Column(name, 1, 1, 20, 0, None, tuple(VALUES["postal codes"][1])) for name in ("income", "PLZ")]
    assert [(each.is_likely_known, each.perhaps_known) for each in named] == [(False, None), (True, None)]


def test_what_others_may_know_is_listed_and_marked_with_the_line_to_change(started):
    lines = started.plan.read_text().splitlines()
    listed = f"# quasi_identifiers: [{NUMBERED}, {CATEGORY}, {CODE}, {DAY}, sex]"
    [marked] = [line for line in lines if "others may know it" in line]
    assert (listed in lines, lines[lines.index(marked) + 1]) == (True, f"  {DAY}:")
    started.plan.write_text(started.plan.read_text().replace(listed, listed.removeprefix("# ")))
    plan = load_plan(started.plan, configurations_needed=False)
    assert plan.quasi_identifiers == (NUMBERED, CATEGORY, CODE, DAY, "sex")


def test_a_notebook_shows_no_values_of_a_column_that_is_drafted_in_bins(tmp_path):
    pay = [f"{1000 + 7 * place}.25" for place in range(600)]
    table = pa.table({"pay": pay, "y": ["a", "b"] * 300})
    shown = repr(start(table, "y", tmp_path / "plan.yaml"))
    assert not [text for text in pay if text in shown]


def test_a_draft_says_whose_a_record_is_and_never_shares_the_column(tmp_path):
    rows = [(f"p{n // 3}", n % 2, n % 5, n // 5 % 2) for n in range(300)]
    table = pa.table(dict(zip(("who", "ward", "visits", LABEL), map(list, zip(*rows, strict=True)), strict=True)))
    named = start(table, LABEL, tmp_path / "named.yaml", person="ward", rows_per_person=4)  # no identifier, so drafted
    plan = load_plan(named.plan, configurations_needed=False)
    assert (plan.person, plan.rows_per_person, plan.left_out["ward"]) == ("ward", 4, "says whose a record is")
    assert "ward" not in plan.columns
    assert named.people.number == 2
    asked = start(table, LABEL, tmp_path / "asked.yaml")
    assert (asked.repeating, asked.people) == ({"who": 100}, None)
    assert load_plan(asked.plan, configurations_needed=False).person is None
    for output, options, said in (
        (asked.plan, {"person": "who"}, "not changed; write `person: who` into it"),
        (named.plan, {"add": ["ward"]}, "person: 'ward' is never shared"),
        (tmp_path / "x.yaml", {"person": LABEL}, "is the label"),
        (tmp_path / "x.yaml", {"rows_per_person": 2}, "of no column"),
        (tmp_path / "x.yaml", {"person": "whom"}, "no column 'whom'"),
    ):
        with pytest.raises((PlanError, TableError), match=said):
            start(table, LABEL, output, **options)

"""A release from a bare table, and what its card says, against the files and counting in plain Python."""

import json
import math
import re
import shutil
from collections import Counter
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
import scipy

from aegis_provider import load_plan
from aegis_provider.check import Interval
from aegis_provider.counting.telling_names import TellingNames
from aegis_provider.draft import start
from aegis_provider.errors import NothingHoldsError, PlanError
from aegis_provider.plan.limits import with_demands
from aegis_provider.search import LimitsCost
from aegis_provider.workflow import release
from aegis_provider.workflow.aim import Aim
from aegis_provider.workflow.card import HIGHEST_SAID
from aegis_provider.workflow.card_making import card_of
from aegis_provider.workflow.card_report import card_report
from aegis_provider.workflow.public_card import is_public, public
from aegis_provider.workflow.releasing import name_of
from aegis_sdk.cli.terminal import explained
from aegis_sdk.reading import Share
from tests.for_each import for_each
from tests.provider.workflow.releases import FILES, rows_of


def test_one_call_leaves_every_file(released):
    assert {each.name for each in released.folder.iterdir()} == FILES | {".aegis-release.json"}
    assert json.loads((released.folder / "card.json").read_text())["passed"] is True


def test_the_package_says_what_entry_card_and_masked_table_say(released):
    package = json.loads((released.folder / "datapackage.json").read_text())
    masked, entry = (released.folder / name for name in ("masked.csv", "entry.json"))
    [resource] = package["resources"]
    assert resource["hash"] == f"sha256:{sha256(masked.read_bytes()).hexdigest()}"
    digest = f"sha256:{sha256(entry.read_bytes()).hexdigest()}"
    assert package["aegis:entry"] == {"name": released.entry.name, "digest": digest}
    assert package["aegis:configuration"] == released.card.configuration
    assert package["aegis:privacy"] == dict(released.card.reached)
    rows, written = rows_of(masked), entry.read_text()
    for field in resource["schema"]["fields"]:
        values = {row[field["name"]] for row in rows}
        assert values <= set(field["constraints"]["enum"])
        assert all(json.dumps(value) in written for value in field["constraints"]["enum"])
    assert [field["name"] for field in resource["schema"]["fields"]] == list(rows[0])


def test_the_masked_table_has_what_was_required(released, people):
    masked = rows_of(released.folder / "masked.csv")
    known = [name for name in masked[0] if name != "ill"]
    classes = {}
    for row in masked:
        classes.setdefault(tuple(row[name] for name in known), []).append(row["ill"])
    assert min(map(len, classes.values())) == released.card.reached["k"] >= 5
    assert min(len(set(labels)) for labels in classes.values()) == released.card.reached["l"] >= 2
    assert len(masked) == released.card.records >= 0.99 * 1200
    reached = released.card.reached
    said = (f"{name}: {n} asked, .+ promised, {reached[name]:g} measured .+" for name, n in (("k", 5), ("l", 2)))
    assert re.fullmatch("; ".join(said), released.card.privacy_line)
    only = json.loads((released.folder / "provider-only.json").read_text())
    assert only["left_out"] == 1200 - len(masked)
    before, after = (Counter(row["ill"] for row in rows) for rows in (rows_of(people), masked))
    told = {label: (each["records"], each["released"]) for label, each in only["labels"].items()}
    assert told == {label: (before[label], after[label]) for label in before}
    assert "id" not in masked[0]
    assert "id" in released.card.never_shared


def numbers_in(value):
    """Every number in a JSON value, with the path to it."""
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {(key, *path): number for key, each in items for path, number in numbers_in(each).items()}
    return {(): value} if isinstance(value, (int, float)) and not isinstance(value, bool) else {}


def certain_in(rows):
    """The share of the records of a masked table in whose class all have one label, by sets of rows."""
    classes = {}
    for row in rows:
        classes.setdefault(tuple(row[name] for name in row if name != "ill"), []).append(row["ill"])
    return sum(len(labels) for labels in classes.values() if len(set(labels)) == 1) / len(rows)


def assert_made_up(rows, entry, configuration):
    """Check that made-up rows have only values that the entry counts, and only the columns of the release."""
    counted = {"ill": dict(zip(entry["label"]["domain"], entry["label"]["histogram"], strict=True))}
    for attribute in entry["attributes"]:
        chosen = configuration["maskings"][attribute["name"]]
        for one in (each for each in attribute["maskings"] if each["id"] == chosen):
            counted[attribute["name"]] = dict(zip(one["domain"], map(sum, one["joint"]), strict=True))
        if chosen == "identity":
            counted[attribute["name"]] = dict(zip(attribute["domain"], map(sum, attribute["joint"]), strict=True))
    assert rows.keys() == counted.keys()
    assert all(len(values) == 5 for values in rows.values())
    assert not [value for name, values in rows.items() for value in values if not counted[name][value]]


def test_the_card_tells_no_number_that_entry_and_masked_table_do_not_but_rounded_shares(released):
    card, entry, exact = (
        json.loads((released.folder / name).read_text()) for name in ("card.json", "entry.json", "provider-only.json")
    )
    published = dict(zip(entry["label"]["domain"], entry["label"]["histogram"], strict=True))
    assert {label: each["records"] for label, each in card["labels"].items()} == published
    [own] = [each for each in entry["configurations"] if each["id"] == card["configuration"]]
    assert (card["left_out"] or 0) == own.get("suppressed", 0)
    assert card["records"] == len(rows_of(released.folder / "masked.csv"))
    numbers = numbers_in(card)
    of_masked_table = {("highest_risk", 0), *(("reached", name) for name in ("k", "l", "entropy_l", "alpha"))}
    assert {path for path, number in numbers.items() if round(number, 3) != number} <= of_masked_table
    counts = {path for path, number in numbers.items() if isinstance(number, int) and number > 2}
    assert {path[0] for path in counts} <= {
        "records",
        "left_out",
        "labels",
        "considered",
        "frontier",
        "rounded_to",
        "reached",
        "certain",
    }
    certain = certain_in(rows_of(released.folder / "masked.csv"))
    assert (card["certain"], exact["certain"]) == (round(certain, 2), certain)
    assert_made_up(card["made_up"], entry, own)
    assert card["plan_digest"] is None
    assert card["table"] == "people.csv"
    assert any(round(number, 3) != number for number in numbers_in(exact).values())


def test_the_share_of_the_table_as_it_is_tells_no_size_of_its_rarest_combination(released):
    assert released.card.highest_risk[1] == HIGHEST_SAID
    assert "In the table as it is, it may be up to 100 %;" in (released.folder / "card.md").read_text()


def test_what_only_the_provider_may_read_is_said_and_only_its_owner_can(released):
    modes = {each.name: each.stat().st_mode & 0o777 for each in released.folder.iterdir()}
    assert {name for name, mode in modes.items() if mode == 0o600} == {
        "provider-only.json",
        ".aegis-release.json",
        "plan.yaml",
        "configurations.yaml",
    }


def test_the_card_of_the_provider_and_one_of_an_older_version_are_no_public_cards(released):
    card, exact = (json.loads((released.folder / name).read_text()) for name in ("card.json", "provider-only.json"))
    assert is_public(card)
    assert not is_public(exact)
    assert not is_public({**card, "labels": {"yes": [302, 300]}})
    assert is_public({"configuration": "c1", "columns": []})


def test_the_configuration_is_the_best_of_the_advice(released):
    assert released.card.configuration == released.advice.best.id
    utilities = [each.utility for each in released.advice.ranking]
    assert utilities == sorted(utilities, reverse=True)
    plan = load_plan(released.folder / "configurations.yaml")
    assert {each.id for each in plan.configurations} == {each.id for each in released.advice.ranking}
    assert all(each.privacy["k"] >= 5 and each.privacy["l"] >= 2 for each in plan.configurations)


def test_the_card_says_it_in_one_line(released):
    card = released.card
    raw, own = (card.auc_of(name) for name in ("(as it is)", card.configuration))
    kept = f"{card.configuration} keeps {100 * card.kept:.0f} % of what the table tells about ill"
    assert card.headline == f"{kept} (AUC {own.auc:.3f} of {raw.auc:.3f}, measured here)"
    assert 0.5 < own.auc <= raw.auc + 0.02
    markdown = (released.folder / "card.md").read_text()
    page = (released.folder / "card.html").read_text()
    assert card.headline in markdown.replace("\\", "")
    assert card.headline in page
    assert card.verdict in page
    assert "1 to 4 records for certain" not in card.verdict  # the draft merges rare values
    [published] = [each.privacy for each in released.findings.entry.masked if each.id == card.configuration]
    assert card.promised.items() <= published.items()
    assert card.privacy_verdict in page
    assert "the search was repeated in each fold, without the labels of the records tested" in page
    held = ", ".join(f"{name} = {number:g}" for name, number in card.promised.items())
    assert card.privacy_verdict.startswith(f"PASS: {card.configuration} holds {held}")
    assert released._repr_html_().count("<section>") == page.count("<section>")


def with_a_better_rival(check, low):
    """The check as if the second configuration had a higher AUC than the first."""
    rival = check.configurations[1]
    better = Interval(0.02, low, 0.03)
    return replace(
        check,
        performances=[replace(each, to_winner=better) if each.table == rival else each for each in check.performances],
    )


@for_each(("low", "warnings"), [(0.01, 1), (-0.01, 0)])
def test_advice_that_did_not_hold_is_a_warning(released, low, warnings):
    findings = replace(released.findings, check=with_a_better_rival(released.findings.check, low))
    plan = load_plan(released.folder / "configurations.yaml")
    card = card_of(Aim("ill", {"k": 5, "l": 2}), "people.csv", plan, "0", findings, "aegis summarize", None)
    assert len(card.warnings) == warnings
    for warning in card.warnings:
        assert warning.startswith("the advice did not hold: ")
        assert f"{warning[0].upper()}{warning[1:]}." in card_report(card).sections[0].parts


def test_the_card_says_what_limits_cost_and_what_weights_there_were(released):
    cost = LimitsCost("keeping town", 0.8512, 0.8849, proven=False)
    search = replace(released.findings.search, limits=cost)
    plan = with_demands(load_plan(released.folder / "configurations.yaml"), {}, {"age": 2})
    findings = replace(released.findings, search=search)
    card = card_of(Aim("ill", {"k": 5, "l": 2}), "people.csv", plan, "0", findings, "aegis summarize", None)
    told = public(card, released.entry, ())
    assert (card.limits, told.limits) == (cost, replace(cost, kept=0.85, without=0.88))
    text = str(card_report(told))
    assert "Keeping town costs about 3 points: without that, 88 % could be kept." in text
    assert "In that measure, columns count: age 2; every other one counts 1." in text


@pytest.mark.long
def test_a_release_shares_what_is_kept(people, tmp_path):
    made = release(people, "ill", output=tmp_path / "r", keep=["town"], weights={"town": 3}, measure="chi_square")
    assert "town" in rows_of(made.folder / "masked.csv")[0]
    assert all(
        each.maskings["town"] != "drop" for each in load_plan(made.folder / "configurations.yaml").configurations
    )
    assert made.card.limits.limits == "keeping town"
    assert made.advice.best.id == made.frontier[0].configuration.id
    with pytest.raises(PlanError, match="the measure 'joint' takes attributes together"):
        release(people, "ill", output=tmp_path / "s", plan=made.folder / "plan.yaml", weights={"town": 3})


def test_a_card_that_fails_says_how_many_names_tell_and_not_which(released):
    telling = (TellingNames("job", "job-1", ("bishop | nurse", "pope")),)
    findings = replace(released.findings, summarised=replace(released.findings.summarised, telling=telling))
    plan = load_plan(released.folder / "configurations.yaml")
    about = (Aim("ill", {"k": 5, "l": 2}), "people.csv", plan, "0", findings, "aegis summarize", None)
    own, published = card_of(*about), card_of(*about, published=True)
    assert (own.passed, published.passed, "bishop | nurse" in own.verdict) == (False, False, True)
    assert published.verdict.startswith("FAIL: job, job-1 has 2 names that tell values of fewer than 20 records; write")
    assert "bishop" not in str(public(published, findings.entry, ()))


def test_a_card_says_why_it_does_not_tell_how_many_records_are_left_out(released):
    entry = released.entry
    uncounted = [each.model_copy(update={"suppressed": None}) for each in entry.configurations]
    exact = replace(
        released.card, left_out=3, frontier=tuple(replace(each, suppressed=3) for each in released.card.frontier)
    )
    card = public(exact, entry.model_copy(update={"configurations": uncounted}), ())
    reason = "some records are left out, but the entry counts none of them"
    assert (card.left_out, card.left_out_reason) == (None, reason)
    assert {(each.suppressed, each.suppressed_reason) for each in card.frontier} == {(None, reason)}
    assert public(replace(exact, left_out=0), entry, ()).left_out_reason == ""


def test_summarising_its_table_gives_its_entry(released, people, tmp_path, aegis):
    plan, entry = released.folder / "configurations.yaml", tmp_path / "entry.json"
    named = ("--name", released.entry.name, "--output", entry)
    assert aegis("summarize", people, "--plan", plan, "--pairs", *named)[0] == 0
    assert entry.read_bytes() == (released.folder / "entry.json").read_bytes()


def test_a_refusal_says_that_it_removed_an_earlier_release(released, people, tmp_path):
    shutil.copytree(released.folder, tmp_path / "r")
    with pytest.raises(NothingHoldsError) as refused:
        release(people, "ill", require={"l": 9}, output=tmp_path / "r")
    assert refused.value.__notes__ == [f"The release of an earlier run that was in {tmp_path / 'r'} is removed"]
    assert explained(refused.value) == f"{refused.value}. {refused.value.__notes__[0]}"
    assert {each.name for each in (tmp_path / "r").iterdir()} == {
        "plan.yaml",
        "configurations.yaml",
        ".aegis-release.json",
    }


def test_the_frontier_on_the_card_is_measured_by_the_model_that_is_best_on_the_table(released):
    card = released.card
    raw, own = (card.auc_of(name) for name in ("(as it is)", card.configuration))
    [aim] = [each for each in card.frontier if each.is_aim]
    assert (aim.require, aim.configuration) == ({"k": 5, "l": 2}, card.configuration)
    assert aim.predicted.value == pytest.approx((own.auc - 0.5) / (raw.auc - 0.5), abs=0.01)  # of rounded numbers
    kept = [each for each in card.frontier if each.kept is not None]
    assert len(kept) > 1
    assert all(each.predicted.low < each.predicted.value < each.predicted.high for each in kept)
    assert all(each.at_most == pytest.approx(each.kept) for each in kept if each.proven)
    assert len({each.table for each in card.measured}) <= 4  # no more than before


def bits(pairs):
    """The mutual information of pairs, by counting."""
    both, one, two = Counter(pairs), Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    n = len(pairs)
    return sum(count / n * math.log2(count * n / (one[a] * two[b])) for (a, b), count in both.items())


def test_a_masking_keeps_the_same_on_the_card_in_the_plan_and_by_counting(released, people, tmp_path):
    started = {each.column.name: each for each in start(people, "ill", tmp_path / "plan.yaml").attributes}
    plan = load_plan(released.folder / "configurations.yaml")
    chosen = plan.configuration(released.card.configuration).maskings
    columns = json.loads((released.folder / "provider-only.json").read_text())["columns"]
    kept = {each["name"]: each["kept"] for each in columns}
    rows = rows_of(people)
    for name, masking in chosen.items():
        levels = {level.id: level.kept for level in started[name].levels} | {"drop": 0.0, "identity": 1.0}
        assert kept[name] == levels[masking]
        told = f"keeps {Share(kept[name]).whole}"
        assert masking in {"drop", "identity"} or told in (released.folder / "plan.yaml").read_text()
    labels = bits([(row["ill"], row["ill"]) for row in rows])
    lost = {each["name"]: each["lost"] for each in columns}
    ages = bits([(row["age"], row["ill"]) for row in rows]) - started["age"].by_chance
    assert lost["age"] == pytest.approx((1 - kept["age"]) * ages / labels)


def certain_counts(sums, cells):
    """Which counts have one possible value, by linear programs: sums of cells with their least and most.

    Args:
        sums: (indices of cells, least, most) each.
        cells: How many cells there are; each is 0 or more.
    """
    matrix = np.zeros((len(sums), cells))
    for row, (places, _, _) in enumerate(sums):
        matrix[row, places] = 1
    least, most = (np.array([each[side] for each in sums], dtype=float) for side in (1, 2))
    both = np.concatenate([matrix, -matrix]), np.concatenate([most, -least])
    found = {}
    for row, (places, _, _) in enumerate(sums):
        ends = [scipy.optimize.linprog(sign * matrix[row], *both, method="highs").fun for sign in (1, -1)]
        low, high = math.ceil(ends[0] - 1e-6), math.floor(-ends[1] + 1e-6)
        if low == high:
            found[tuple(places)] = low
    return found


def sums_of_entry(entry, places):
    """What the entry says of one label value: each sum of cells, with its least and most."""
    off = entry["disclosure_control"]["rounded_to"] - 1
    for attribute in entry["attributes"]:
        mine = places[attribute["name"]]
        views = [(range(len(mine)), attribute["joint"])] if "joint" in attribute else []
        views += [(one["mapping"], one["joint"]) for one in attribute["maskings"]]
        for mapping, joint in views:
            for group, counts in enumerate(joint):
                yield [mine[value] for value, own in enumerate(mapping) if own == group], counts, off


# Who reads the table, too, knows more, so who does not is tried rarely.
@pytest.mark.parametrize("masked_too", [pytest.param(False, marks=pytest.mark.long), True])
def test_no_reader_of_the_files_is_certain_of_a_small_count_that_the_table_does_not_show(released, masked_too):
    entry = json.loads((released.folder / "entry.json").read_text())
    rows, card = rows_of(released.folder / "masked.csv"), released.card
    configuration = next(each for each in entry["configurations"] if each["id"] == card.configuration)
    chosen, suppressed = configuration["maskings"], configuration.get("suppressed", 0)
    suppressed += entry["disclosure_control"]["rounded_to"] - 1 if "suppressed" in configuration else 0
    names = {each["name"]: range(len(each["domain"])) for each in entry["attributes"]}
    starts = dict(zip(names, np.cumsum([0, *map(len, names.values())])[:-1].tolist(), strict=True))
    places = {name: [starts[name] + value for value in values] for name, values in names.items()}
    for label, text in enumerate(entry["label"]["domain"]):
        sums = [
            (cells, max(0, counts[label] - off), counts[label] + off)
            for cells, counts, off in sums_of_entry(entry, places)
        ]
        shown = set()
        for attribute in entry["attributes"] if masked_too else ():
            masking = next((one for one in attribute["maskings"] if one["id"] == chosen[attribute["name"]]), None)
            if masking is None:
                continue
            for group, value in enumerate(masking["domain"]):
                cells = [places[attribute["name"]][own] for own, at in enumerate(masking["mapping"]) if at == group]
                count = sum(row[attribute["name"]] == value and row["ill"] == text for row in rows)
                sums.append((cells, count, count + suppressed))
                shown.add(tuple(cells))
        certain = certain_counts(sums, sum(map(len, names.values())))
        assert not {cells: count for cells, count in certain.items() if 1 <= count <= 4 and cells not in shown}


@for_each(
    ("table", "name"),
    [
        ("Behandlungsfälle 2024 (Auszug).csv", "behandlungsfalle-2024-auszug"),
        ("data/Größe#1.v2.csv", "grosse-1.v2"),
        ("duckdb://shop.duckdb#main.Orders", "orders"),
        ("duckdb://shop.duckdb#orders", "orders"),
        ("Ж.csv", "table"),
    ],
)
def test_the_name_of_an_entry_is_that_of_its_table(table, name):
    assert name_of(table) == name

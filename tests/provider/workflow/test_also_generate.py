"""A release beside generated tables: the files, what the plan and the entry say of them, and the card."""

import csv
import hashlib
import json
import random
from collections import Counter
from dataclasses import replace

import pytest

from aegis_provider import load_plan
from aegis_provider.errors import PlanError
from aegis_provider.files import digest_of
from aegis_provider.synth import offer
from aegis_provider.synth.attacks.attack import open_case
from aegis_provider.synth.attacks.judging import declared_attacks
from aegis_provider.synth.generate.generating import generate
from aegis_provider.synth.offer import compare
from aegis_provider.workflow import release
from aegis_provider.workflow.aim import Aim
from aegis_provider.workflow.card_making import card_of
from aegis_provider.workflow.generating import compared_in_words, rows_of
from aegis_sdk.wire import publishable, read_json

TABLES = ("trees-5", "trees-20", "trees-50")
HOURS = 3600.0 * 24


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A table in which age tells much of the label."""
    rng = random.Random(7)
    path = tmp_path_factory.mktemp("people") / "people.csv"
    lines = ["age,town,children,ill"]
    for _ in range(600):
        age, town = rng.randint(18, 60), rng.choice("ABCD")
        ill = "yes" if rng.random() < (age - 10) / 60 else "no"
        lines.append(f"{age},{town},{rng.randint(0, 5)},{ill}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def released(people, tmp_path_factory):
    output = tmp_path_factory.mktemp("people-release") / "release"
    return release(people, "ill", output=output, seconds=HOURS, also_generate=True)


def plan_of(released):
    return load_plan(released.folder / "configurations.yaml")


def test_each_table_is_in_the_folder_and_stated_in_the_plan(released):
    plan = plan_of(released)
    assert [each.id for each in plan.generated] == list(TABLES)
    for each in plan.generated:
        assert each.file == released.folder / f"generated-{each.id}.csv"
        assert each.sha256 == hashlib.sha256(each.file.read_bytes()).hexdigest()
        assert each.stated["weights"]["privacy"] == float(each.id.rpartition("-")[2])
    assert plan.holdout == 0.2


def test_the_plan_vouches_for_what_attacks_achieve(released, people):
    plan = plan_of(released)
    stated = plan.generated_table("trees-5")
    again = declared_attacks(open_case(stated.file, people, plan=plan, holdout=0.2).case)
    assert stated.stated["attacks"] == {name: each.as_json() for name, each in again.items()}
    assert set(stated.privacy) == {"membership", "reidentification", "attribute_disclosure"}
    for name, limit in stated.privacy.items():
        assert again[name].high <= limit < again[name].high + 0.01
        assert again[name].low <= again[name].value <= again[name].high


def test_the_entry_offers_both_kinds_with_figures_of_one_holdout(released):
    entry = publishable(read_json((released.folder / "entry.json").read_bytes()))
    assert entry.format == 2
    assert [each.id for each in entry.generated] == list(TABLES)
    assert all(each.transfer is not None for each in [*entry.masked, *entry.generated])
    for each in entry.generated:
        with (released.folder / f"generated-{each.id}.csv").open(newline="") as file:
            counts = Counter(row["ill"] for row in csv.DictReader(file))
        assert dict(zip(entry.label.domain, each.histogram, strict=True)) == counts
    assert 0 < entry.holdout.records < 0.35 * 600


def test_the_card_compares_them_with_the_masks_of_the_frontier(released):
    comparison = released.card.comparison
    masks = {each.configuration.id for each in released.frontier if each.configuration} | {released.card.configuration}
    by_kind = {kind: [each.id for each in comparison.releases if each.kind == kind] for kind in ("masked", "generated")}
    assert set(by_kind["masked"]) == masks
    assert by_kind["generated"] == list(TABLES)
    entry = {each.id: each for each in released.entry.generated}
    for each in comparison.releases:
        assert each.kept.low <= each.kept.value <= each.kept.high
        if each.kind == "generated":
            told, whole = entry[each.id].transfer.joint, released.entry.holdout.unmasked.joint
            assert each.kept.value == pytest.approx(told.value / whole.value)
            assert each.attacks["membership"].high <= each.promise["membership"]
    said = compared_in_words(comparison, released.card.configuration)
    assert f"{comparison.held_out:,} records that no release saw, {released.card.configuration} (masked) tells" in said
    page, markdown = ((released.folder / f"card.{ending}").read_text() for ending in ("html", "md"))
    for text in (page, markdown):
        assert "Compared with generated tables" in text
        assert all(f"{name} (generated)" in text for name in TABLES)
    assert json.loads((released.folder / "card.json").read_text())["comparison"]["held_out"] == comparison.held_out


def test_masks_that_were_not_attacked_in_time_are_named(released, people):
    masks, is_over = plan_of(released).configurations[:3], iter([False, True])
    how = {"delimiter": ",", "memory_limit": "1GB"}
    further = (lambda *_: None, lambda: next(is_over))
    compared = compare(people, plan_of(released), masks, released.entry, "joint", how, *further)
    assert [each.id for each in compared.releases] == [masks[0].id, *TABLES]
    assert compared.unfinished == tuple(each.id for each in masks[1:])
    findings, about = replace(released.findings, comparison=compared), ("people.csv", plan_of(released), "0")
    card = card_of(Aim("ill"), *about, findings, "aegis summarize", None)
    late = f"{masks[1].id}, {masks[2].id}"
    assert card.unfinished[-1] == f"{late} not compared with generated tables, for want of --seconds"


def test_an_attack_that_is_not_known_is_not_judged(released):
    comparison = released.card.comparison
    unknown = replace(comparison, releases=[replace(comparison.releases[0], attacks={})])
    assert rows_of(unknown)[0][3:] == ("not judged", "not judged", "-")


def test_one_is_handed_out(released, people, aegis, tmp_path):
    plan, output = released.folder / "configurations.yaml", tmp_path / "out.csv"
    code, said, _ = aegis("apply", people, "--stays", "--plan", plan, "--configuration", "trees-5", "--output", output)
    assert code == 0
    assert output.read_bytes() == (released.folder / "generated-trees-5.csv").read_bytes()
    assert "as the plan states" in said


@pytest.mark.long
def test_the_same_run_again_does_nothing_and_one_without_leaves_them_unsaid(released, people):
    before = {each.name: each.stat().st_mtime_ns for each in released.folder.glob("generated-*")}
    entry = (released.folder / "entry.json").read_bytes()
    again = release(people, "ill", output=released.folder, seconds=HOURS, also_generate=True)
    assert {each.name: each.stat().st_mtime_ns for each in released.folder.glob("generated-*")} == before
    assert again.card.comparison == released.card.comparison
    assert (released.folder / "entry.json").read_bytes() == entry
    without = release(people, "ill", output=released.folder, seconds=HOURS)
    assert {each.name: each.stat().st_mtime_ns for each in released.folder.glob("generated-*")} == before
    assert (without.entry.format, without.card.comparison, plan_of(without).generated) == (1, None, ())


@pytest.mark.long
def test_a_run_that_is_stopped_goes_on(people, tmp_path, monkeypatch):
    made = []

    def stopped_at_the_third(*given, **how):
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(generate(*given, **how))
        return made[-1]

    monkeypatch.setattr(offer, "generate", stopped_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        release(people, "ill", output=tmp_path / "r", seconds=HOURS, also_generate=True)
    before = {each.name: each.read_bytes() for each in (tmp_path / "r").glob("generated-*")}
    assert sorted(before) == ["generated-trees-20.csv", "generated-trees-5.csv"]
    monkeypatch.undo()
    again = release(people, "ill", output=tmp_path / "r", seconds=HOURS, also_generate=True)
    assert [each.id for each in plan_of(again).generated] == list(TABLES)
    assert {name: (tmp_path / "r" / name).read_bytes() for name in before} == before


@pytest.mark.long
def test_tables_that_the_plan_states_stay(people, released, tmp_path):
    made = tmp_path / "made.csv"
    made.write_bytes((released.folder / "generated-trees-20.csv").read_bytes())
    plan = tmp_path / "plan.yaml"
    stated = f"holdout: 0.2\ngenerated:\n  mine: {{file: made.csv, sha256: {digest_of(made)}, method: other}}\n"
    plan.write_text((released.folder / "plan.yaml").read_text() + stated)
    both = release(people, "ill", output=tmp_path / "r", plan=plan, seconds=HOURS, also_generate=True)
    assert [each.id for each in plan_of(both).generated] == ["mine", *TABLES]
    assert [each.id for each in both.card.comparison.releases if each.kind == "generated"] == ["mine", *TABLES]
    plan.write_text(plan.read_text().replace("mine:", "trees-5:"))
    with pytest.raises(PlanError, match="'trees-5' is to be the name of a generated table"):
        release(people, "ill", output=tmp_path / "s", plan=plan, also_generate=True)


def test_a_measure_that_no_transfer_has_is_refused_before_any_work(people, tmp_path):
    with pytest.raises(
        PlanError, match="compared by mutual_information, chi_square, g3, joint; not by joint_interactions"
    ):
        release(people, "ill", output=tmp_path / "out", measure="joint_interactions", also_generate=True)
    assert not (tmp_path / "out").exists()

"""Attacks on releases whose leaks are known: a copy, fresh records of the same distribution, and nothing at all."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import precision_score, recall_score

from aegis_provider.check import Interval
from aegis_provider.synth.attacks.article29 import (
    INFERENCE,
    LINKABILITY,
    SINGLING_OUT,
    inference,
    isolated,
    linkability,
    multivariate,
    singling_out,
)
from aegis_provider.synth.attacks.attack import Case, OpenedCase, Outcome
from aegis_provider.synth.attacks.judging import ATTACKS, Judgement, judge
from aegis_provider.synth.attacks.membership import (
    CLOSEST,
    DENSITY,
    NEAREST,
    closest_records,
    density_membership,
    exact_copies,
    nearest_membership,
    true_positives,
)
from aegis_provider.synth.attacks.quasi_identifiers import (
    DISCLOSURE,
    attribute_disclosure,
    guessed,
    macro_precision,
    macro_recall,
    reidentification,
)
from aegis_provider.synth.released.opening import SEEN_ALL
from aegis_provider.synth.released.released import NotUnderstood, Released
from aegis_provider.synth.report.attacks import attack_notes, attack_parts, attacks_headline
from tests.for_each import for_each, for_some

RECORDS = 900


def copy(shown):
    return shown


def starred(shown):
    return pa.table({name: ["*"] * shown.num_rows for name in shown.column_names})


@pytest.fixture
def fresh(people):
    return lambda _shown: people(RECORDS // 2, 0, fresh=99)


def covers(outcome):
    """Whether an attack gains nothing, given that many were tried."""
    return outcome.gain(30) <= 0


def test_a_copy_is_found_out_by_every_attack(people, case_of):
    case = case_of(people(RECORDS, 1), copy)
    [copies] = exact_copies(case)
    assert copies.success.value == 1.0
    assert copies.held_out.value == 0.0
    [nearest], [density] = nearest_membership(case), density_membership(case)
    assert nearest.success.value > 0.99
    assert density.success.low > 0.6
    assert nearest.details["true_positives_at_1_percent"] == 1.0
    [closest] = closest_records(case)
    assert closest.success.value == 1.0
    assert closest.details["dcr_to_seen"] == 0 < closest.details["dcr_of_held_out_to_seen"]
    [inferred] = inference(case)
    assert inferred.success.value > 0.98  # some persons differ in the secret alone
    assert inferred.risk.low > 0
    linked = next(linkability(case))
    assert linked.success.value > 0.2 > linked.held_out.value
    singled = {each.variant: each for each in singling_out(case)}
    assert singled["4 columns"].success.value > 0.9
    assert all(not covers(each) for each in (copies, nearest, density, inferred, linked, singled["4 columns"]))


def test_disclosure_from_a_copy_is_certain_with_one_neighbour(people, case_of):
    case = case_of(people(RECORDS, 1), copy)
    outcomes = {each.variant: each for each in ATTACKS[DISCLOSURE](case)}
    assert len(outcomes) == 10
    first = outcomes["sick, k = 1"]
    assert first.success.value > 0.98  # some persons differ in the secret alone
    assert first.baseline.value == 0.5
    assert first.details["precision"] > 0.98
    assert first.risk.low > 0.2


def test_reidentification_from_a_copy_beats_the_shuffled_release_where_columns_tell_of_each_other(case_of):
    rng = np.random.default_rng(2)
    one = rng.integers(0, 1000, RECORDS)
    texts = pa.table({name: (one * n + rng.integers(0, 9, RECORDS)).astype(str) for n, name in enumerate("abc", 1)})
    case = case_of(texts, copy)
    for outcome in reidentification(case):
        assert outcome.success.low > outcome.baseline.high
        assert outcome.details["random_pairs_as_close"] == pytest.approx(0.05, abs=0.01)
    assert outcome.variant == "knowing 2 of 3 quasi-identifiers"
    [everything, _] = reidentification(case, epsilon=3.0)
    assert everything.success.value == everything.details["random_pairs_as_close"] == 1.0


def test_stars_tell_nothing(people, case_of):
    judgement = judge(case_of(people(RECORDS, 1), starred), seconds=600)
    assert not judgement.unfinished
    assert {each.name for each in judgement.outcomes} >= set(ATTACKS) - {"singling out"}
    for outcome in judgement.outcomes:
        assert covers(outcome), outcome
    assert judgement.strongest is None


@for_some(1, "seed", [1, 2, 3])
def test_fresh_records_tell_nothing_of_those_in_the_table(people, case_of, fresh, seed):
    case = case_of(people(RECORDS, seed), fresh, seed=seed)
    for outcome in judge(case, seconds=600).outcomes:
        if outcome.is_attack and outcome.held_out is not None:
            assert outcome.risk.low - 0.05 <= 0, outcome
        if outcome.measure == "AUC":
            assert covers(outcome), outcome


def repeated(seed):
    """Texts of 8,000 records in few frequent and many rare combinations of two skewed numbers."""
    rng = np.random.default_rng(seed)
    one, two = (np.minimum(rng.geometric(0.06, 8_000), 99) for _ in range(2))
    return pa.table({"one": one.astype(str), "two": two.astype(str), "sick": rng.choice(["yes", "no"], 8_000)})


@pytest.mark.long
def test_repeated_records_look_like_no_members_of_a_release_made_of_others(as_records):
    """The same share of the frequent and of the rare records of each side has to be attacked."""
    outcomes = {"nearest": [], "density": [], "closer": []}
    for seed in range(8):
        records, rng = as_records(repeated(seed)), np.random.default_rng(seed)
        first, of_record = records.distinct(["one", "two"])
        held_out = (rng.random(len(first)) < 0.2)[of_record]
        release = Released.of(records, repeated(100 + seed))
        case = Case(release, records.take(~held_out), records.take(held_out), ["one", "two"], ["sick"], seed)
        for name, attack in zip(outcomes, (nearest_membership, density_membership, closest_records), strict=True):
            [outcome] = attack(case)
            outcomes[name].append(outcome.success.value)
    for found in outcomes.values():
        assert abs(np.mean(found) - 0.5) < 3 * np.std(found, ddof=1) / np.sqrt(len(found)) + 0.005


def test_sides_of_equal_size_have_all_copies_of_their_records(case_of):
    case = case_of(repeated(9), copy, holdout=0.2)
    seen, held_out = case.equal_sides("a test")
    numbers = ["one", "two"]
    persons = [len(each.distinct(numbers)[0]) for each in (seen, held_out, case.held_out)]
    assert persons[0] == persons[1] == persons[2]
    everything = np.unique(case.seen.places(numbers), axis=0, return_counts=True)
    counts = {tuple(row): n for row, n in zip(*everything, strict=True)}
    rows, taken = np.unique(seen.places(numbers), axis=0, return_counts=True)
    assert [counts[tuple(row)] for row in rows] == taken.tolist()


def test_persons_are_drawn_once_and_one_of_their_records_at_random(case_of):
    case = case_of(repeated(9), copy, holdout=0.2)
    labels = []
    for attack in map(str, range(40)):
        for persons, side in zip(case.persons(attack, 100), (case.seen, case.held_out), strict=True):
            assert len(persons) == len(persons.distinct(["one", "two"])[0]) == 100
            assert set(map(tuple, persons.places(persons.names))) <= set(map(tuple, side.places(side.names)))
            labels.append((persons.column("sick").places == case.seen.column("sick").places[0]).mean())
    assert abs(np.mean(labels) - 0.5) < 0.03


def few_kinds(records, seed):
    """Texts of people with few combinations of attributes; a secret follows from nothing, and a label from it."""
    rng = np.random.default_rng(seed)
    kind, town = rng.choice(["a", "b", "c"], records), rng.choice(["north", "south"], records)
    return pa.table({"town": town, "kind": kind, "sick": np.where(kind == "a", "yes", "no")})


@pytest.mark.long
def test_people_of_few_kinds_are_attacked_one_by_one(case_of):
    """Few combinations of attributes are not few persons, and all of them differ in the secret alone from others."""
    case = replace(case_of(few_kinds(3_000, 1), copy, seed=2), secrets=["kind", "sick"])
    assert len(case.held_out)
    judgement = judge(case, seconds=600)
    guesses = [each for each in judgement.outcomes if each.name in {DISCLOSURE, "inference"}]
    assert min(each.attacked for each in guesses) >= min(1_000, len(case.seen))
    masked = replace(case, held_out=case.held_out.take(np.zeros(len(case.held_out), dtype=bool)))
    [told] = [each for each in inference(masked) if each.variant == "sick"]
    assert (told.attacked, told.held_out) == (min(1_000, len(case.seen)), None)
    assert told.beyond_chance.low > 0.5


@pytest.mark.long
@for_each("labels", [1, 4])
def test_intervals_of_copies_hold_where_a_person_has_several_records(case_of, labels):
    """A release that copies persons of a table at random, whoever was held out."""
    rng = np.random.default_rng(5)
    missed = 0
    for seed in range(60):
        persons = (400 * seed + np.arange(400)).astype(str)
        texts = pa.table({"age": np.repeat(persons, labels), "sick": np.tile([f"y{n}" for n in range(labels)], 400)})
        copied = np.isin(texts["age"].to_numpy(zero_copy_only=False), rng.choice(persons, 120, replace=False))
        case = case_of(texts, lambda _, texts=texts, copied=copied: texts.filter(pa.array(copied)), seed=seed)
        [outcome] = exact_copies(case)
        missed += not outcome.risk.low <= 0 <= outcome.risk.high
    assert missed <= 9


def test_guesses_of_a_secret_attribute_are_compared_where_no_person_differs_in_it_alone(case_of):
    """A copy tells nothing of held-out persons; beside their doubles, it would seem to tell the opposite."""
    rng = np.random.default_rng(4)
    shown = {name: rng.integers(0, 60, 6_000).astype(str) for name in ("age", "town")}
    texts = pa.table({**shown, "kind": rng.choice(["a", "b"], 6_000), "sick": rng.choice(["yes", "no"], 6_000)})
    case = replace(case_of(texts, copy), secrets=["kind"])
    fair = case.fair_to("kind")
    places = np.concatenate([each.places(["age", "town", "kind"]) for each in (fair.seen, fair.held_out)])
    assert len(np.unique(places, axis=0)) == len(np.unique(places[:, :2], axis=0)) > 1_000
    [known] = inference(case)
    assert known.success.value == 1.0
    assert known.held_out.low < 0.5 < known.held_out.high
    assert case.fair_to("sick") is case


def test_a_release_masked_by_the_identity_is_a_copy(people, case_of):
    texts = people(RECORDS, 1)
    known = {"town": {each: np.array([place]) for place, each in enumerate(["east", "north", "south", "west"])}}
    plain, given = (list(nearest_membership(case_of(texts, copy, known=each))) for each in (None, known))
    assert plain == given


def test_the_same_seed_gives_the_same_outcomes(people, case_of, fresh):
    first, second = (judge(case_of(people(200, 5), fresh, seed=3), seconds=600) for _ in range(2))
    assert first == second


def test_what_is_not_finished_is_named(people, case_of):
    judgement = judge(case_of(people(200, 5), copy), seconds=0)
    assert judgement.outcomes == ()
    assert set(judgement.unfinished) == set(ATTACKS)
    assert judgement.strongest is None


def test_progress_counts_attacks(people, case_of):
    told = []
    judge(case_of(people(50, 5), copy), seconds=0, progress=lambda done, total: told.append((done, total)))
    assert told == [(done, len(ATTACKS)) for done in range(len(ATTACKS) + 1)]


def test_votes_are_those_of_the_nearest_with_ties_shared(people, case_of):
    case = case_of(people(120, 6), copy)
    known = case.release.only(["age", "town"])
    votes = np.random.default_rng(0).random((len(known), 3)).astype(np.float32)
    found = guessed(known, case.held_out, votes)
    distances = np.concatenate([block for _, block in known.distances(case.held_out)])
    for row, distance in enumerate(distances):
        for k in (1, 4, 10):
            last = np.sort(distance)[k - 1]
            weights = np.where(distance < last, 1.0, np.where(distance == last, 1.0, 0.0))
            weights[distance == last] *= (k - (distance < last).sum()) / (distance == last).sum()
            assert found[k - 1, row] == (weights @ votes).argmax()


def test_recall_and_precision_are_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    truth, guess = rng.integers(0, 4, 300), rng.integers(0, 4, 300)
    assert macro_recall(guess, truth, np.unique(truth)).value == pytest.approx(
        recall_score(truth, guess, average="macro")
    )
    assert macro_precision(guess, truth) == pytest.approx(precision_score(truth, guess, average="macro"))


def test_true_positives_are_counted_above_all_but_one_in_a_hundred():
    others = np.arange(1000.0)
    assert true_positives(np.array([989.0, 989.5, 5000.0, 0.0]), others) == 0.5


def test_predicates_single_out_one_record(people, case_of):
    case = case_of(people(300, 7), copy)
    predicates = multivariate(case.release, np.random.default_rng(0))
    expected = []
    for predicate in predicates:
        rows = range(len(case.seen))
        found = [row for row in rows if all(allowed[case.seen.column(name).places[row]] for name, allowed in predicate)]
        expected.append(found[0] if len(found) == 1 else -1)
    assert isolated(predicates, case.seen).tolist() == expected


def sided_case(as_records, seen, held_out, release):
    """A case of texts whose sides are given; they share their domains."""
    records = as_records(pa.concat_tables([seen, held_out]))
    rows = np.arange(len(records))
    sides = records.take(rows < len(seen)), records.take(rows >= len(seen))
    return Case(Released.of(records, release), *sides, ["age"], ["kind"])


def test_recall_is_averaged_over_the_classes_that_both_sides_have(as_records):
    """A release that always says the same tells both sides alike, though one of them lacks a class."""
    seen = pa.table({"age": list(map(str, range(80))), "kind": list("abcd") * 20})
    held_out = pa.table({"age": list(map(str, range(80, 140))), "kind": list("abc") * 20})
    case = sided_case(as_records, seen, held_out, pa.table({"age": ["30"] * 50, "kind": ["a"] * 50}))
    for each in attribute_disclosure(case):
        assert each.success.value == each.held_out.value == each.baseline.value == pytest.approx(1 / 3)


def test_only_the_same_day_is_a_right_guess_of_a_date(as_records):
    days = ["2020-12-31", "2021-01-01", "1930-01-01"] * 20
    seen = pa.table({"age": list(map(str, range(60))), "kind": days})
    case = sided_case(as_records, seen, seen.slice(0, 30), seen)
    [known] = inference(case)
    assert known.success.value == 1.0
    assert known.baseline.value < 0.6


def test_a_release_with_all_of_few_kinds_of_records_is_not_taken_for_made_of_the_held_out_ones(as_records):
    rng = np.random.default_rng(0)
    texts = [pa.table({name: rng.choice(["0", "1"], 200) for name in ("age", "kind")}) for _ in range(3)]
    case = sided_case(as_records, *texts)
    judgement = judge(case, seconds=3600)
    assert "probably made of" not in attacks_headline(judgement)
    copied = sided_case(as_records, *(made_numbers(seed) for seed in (1, 2)), made_numbers(2))
    assert "probably made of" in attacks_headline(judge(copied, seconds=3600))


COPIED = {"half of the table": (300, 0), "the same among as many others": (150, 150)}


@for_each("name", COPIED)
def test_a_release_of_some_records_of_both_sides_is_taken_for_made_of_both(as_records, name):
    """The copies are as many on both sides, so that no attack does better on one of them."""
    copied, others = COPIED[name]
    rng = np.random.default_rng(0)
    seen, held_out, made_up = (pa.concat_tables([made_numbers(seed), made_numbers(seed + 1)]) for seed in (1, 3, 5))
    table = pa.concat_tables([seen, held_out])
    release = pa.concat_tables([table.take(rng.permutation(len(table))[:copied]), made_up.slice(0, others)])
    case = sided_case(as_records, seen, held_out, release)
    judgement = Judgement(list(exact_copies(case)))
    found, records = judgement.copied_held_out
    assert judgement.result == "not judged"
    assert records == pytest.approx(len(held_out), abs=5)  # some are equal
    assert found == pytest.approx(copied / 2, abs=25)


def test_half_of_a_table_where_people_have_equal_records_is_taken_for_made_of_both_sides(as_records):
    seen, held_out = (pa.concat_tables([made_numbers(seed)] * 5) for seed in (1, 2))
    table = pa.concat_tables([seen, held_out])
    half = table.take(np.random.default_rng(0).permutation(len(table))[: len(table) // 2])
    assert Judgement(list(exact_copies(sided_case(as_records, seen, held_out, half)))).copied_held_out
    learnt = seen.take(np.random.default_rng(0).permutation(len(seen))[: len(seen) // 2])
    assert not Judgement(list(exact_copies(sided_case(as_records, seen, held_out, learnt)))).copied_held_out


@for_each("kinds", [2, 10, 50, 200, 1_000, 10_000])
def test_records_that_are_equal_by_chance_are_not_taken_for_copies(as_records, kinds):
    """Three draws of the same distribution, where few kinds of records are frequent and many are rare."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        draws = [np.minimum(rng.zipf(1.5, 400), kinds) for _ in range(3)]
        texts = [pa.table({"age": each.astype(str), "kind": (each % 2).astype(str)}) for each in draws]
        assert Judgement(list(exact_copies(sided_case(as_records, *texts)))).copied_held_out is None


def test_of_a_handful_of_records_nothing_is_said_but_that_they_are_too_few(as_records):
    seen, held_out, released = (made_numbers(seed) for seed in (1, 2, 3))
    judgement = judge(sided_case(as_records, seen, held_out, released.slice(0, 3)), seconds=3600)
    assert attacks_headline(judgement) == ("NOT JUDGED: the release has too few records to tell what attacks achieve.")


def made_numbers(seed):
    rng = np.random.default_rng(seed)
    return pa.table({"age": rng.integers(0, 10_000, 200).astype(str), "kind": rng.choice(["0", "1"], 200)})


def test_it_is_said_that_a_large_release_was_attacked_in_part(as_records):
    texts = made_numbers(3)
    case = sided_case(as_records, texts, texts.slice(0, 50), texts)
    for released, said in ((200, False), (100_000, True)):
        opened = OpenedCase(case, released, 250, 0.2, ())
        notes = " ".join(attack_notes(opened, Judgement(()), 60.0))
        assert ("Of the 100,000 released records, 200 were drawn" in notes) == said


def outcome(name, attacked, success):
    low, high = max(0.0, success - 0.05), min(1.0, success + 0.05)
    exactly = Interval(0.1, 0.1, 0.1)
    return Outcome(name, "all", attacked, "persons", Interval(success, low, high), exactly, None, "It was tried.")


ODD = {"birth": NotUnderstood(0.02, ("99 aaa",))}
WORKS, FAILS = outcome(LINKABILITY, 900, 0.9), outcome(LINKABILITY, 900, 0.1)
JUDGEMENTS = {
    "an attack works": (Judgement([WORKS]), "fail", "FAIL: The strongest attack works"),
    "an attack fails": (Judgement([FAILS]), "pass", "PASS: No attack clearly"),
    "none was tried": (Judgement([]), "not judged", "NOT JUDGED: no attack was tried"),
    "one was not tried": (
        Judgement([FAILS], impossible={INFERENCE: "the release has one column"}),
        "not judged",
        f"NOT JUDGED: 1 of 2 attacks could not be tried in full ({INFERENCE}), because the release has one column. No",
    ),
    "one works although another was not tried": (Judgement([WORKS], impossible={INFERENCE: "x"}), "fail", "FAIL: "),
    "time ran out": (Judgement([FAILS], [LINKABILITY]), "not judged", "NOT JUDGED: 1 of 1 attacks could not be"),
    "it worked before time ran out": (Judgement([WORKS], [LINKABILITY]), "fail", "FAIL: "),
    "few tries": (Judgement([outcome(LINKABILITY, 19, 0.9)]), "not judged", "NOT JUDGED: 1 of 1 attacks"),
    "nobody is singled out in few tries": (Judgement([outcome(SINGLING_OUT, 3, 0.0)]), "pass", "PASS: "),
    "some are singled out in few tries": (Judgement([outcome(SINGLING_OUT, 3, 1.0)]), "not judged", "NOT JUDGED: 1"),
    "it has as many records as the table": (
        Judgement([FAILS], is_as_large=True),
        "not judged",
        "NOT JUDGED: the release has about as many records as the table, so it may be made of the held-out ones, too",
    ),
    "it works although it has as many": (
        Judgement([WORKS], is_as_large=True),
        "fail",
        "FAIL: The strongest attack works",
    ),
    "a masked table cannot be judged in full": (
        Judgement([FAILS], impossible={NEAREST: SEEN_ALL, DENSITY: SEEN_ALL}),
        "not judged",
        f"NOT JUDGED: 2 of 3 attacks could not be tried in full ({NEAREST}, {DENSITY}), because {SEEN_ALL}; no option",
    ),
    "there is nobody to single out": (Judgement([FAILS], nobody=[SINGLING_OUT]), "pass", "PASS: "),
    "a column is not understood": (
        Judgement([FAILS], not_understood=ODD),
        "not judged",
        "NOT JUDGED: 2 % of the cells in birth (such as 99 aaa) are not understood; state what masked values stand",
    ),
    "it works although a column is not understood": (Judgement([WORKS], not_understood=ODD), "fail", "FAIL: "),
    "a column is not in the table": (Judgement([FAILS], not_read=["Nr"]), "not judged", "NOT JUDGED: the table or its"),
}


@for_each("name", JUDGEMENTS)
def test_only_attacks_that_ran_and_failed_are_passed(name):
    judgement, result, beginning = JUDGEMENTS[name]
    assert judgement.result == result
    assert attacks_headline(judgement).startswith(beginning)
    assert ("NOT JUDGED" in attacks_headline(judgement)) == bool(
        result == "not judged" or judgement.not_understood or judgement.not_read
    )


def test_the_table_of_attacks_has_a_row_for_each_with_its_result(people, case_of):
    judgement = judge(case_of(people(100, 1), starred, holdout=0.0), seconds=600)
    rows = {row[0]: row[1] for row in next(iter(attack_parts(judgement))).rows}
    assert set(rows) == set(ATTACKS)
    assert {name for name, result in rows.items() if result == "not judged"} == {NEAREST, DENSITY}
    assert (rows[LINKABILITY], rows[CLOSEST]) == ("pass", "-")


def singled(*variants):
    """The cells on variants of singling out, of each: its name, how many were tried, and their success."""
    outcomes = [replace(outcome(SINGLING_OUT, tried, success), variant=name) for name, tried, success in variants]
    table, *_ = attack_parts(Judgement(outcomes))
    return {row[2]: row[1:2] + row[4:6] for row in table.rows}


def test_each_variant_has_its_own_result_and_few_tries_have_no_share():
    works = ("FAIL", "90 %", "85 % to 95 %")
    assert singled(("a", 2, 0.0), ("b", 500, 0.9)) == {"a": ("pass", "0 of 2", "-"), "b": works}
    assert singled(("a", 1, 1.0), ("b", 500, 0.9)) == {"a": ("-", "1 of 1", "-"), "b": works}
    assert singled(("a", 1, 1.0)) == {"a": ("not judged", "1 of 1", "-")}
    assert singled(("a", 500, 0.1), ("b", 500, 0.9))["a"][0] == "pass"


def test_a_picture_shows_no_share_of_few_tries():
    assert len(list(attack_parts(Judgement([outcome(SINGLING_OUT, 1, 1.0)])))) == 1

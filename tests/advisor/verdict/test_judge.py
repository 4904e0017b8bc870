"""The verdict: what fails, and why, and what passes."""

from dataclasses import replace
from itertools import product

import numpy as np

from aegis_advisor.cell_bounds import bound_cells
from aegis_advisor.evidence import PairCounts, Perturbation
from aegis_advisor.verdict import LIKELY, SMALL, Finding, PublishedCounts, Reason, Releases, judge
from tests.advisor.cases import counted, evidence_of, mapped, random_table
from tests.advisor.rounding import rounded_once
from tests.for_each import for_each

LARGE = np.array([[20, 30], [40, 10], [30, 30], [25, 15]])


def published(*evidence, pairs=(), options=(), suppressed=()):
    options = list(options) or [("identity",)] * len(evidence)
    codes = np.array(list(product(*(range(len(each)) for each in options))))
    given = list(suppressed) or [None] * len(codes)
    return PublishedCounts(evidence, dict(enumerate(pairs)), Releases(codes, options, given))


def reasons(verdict):
    return {(each.reason.value, each.path) for each in verdict.findings}


def test_large_exact_counts_pass():
    verdict = judge(published(evidence_of(LARGE, [mapped("halves", [0, 0, 1, 1], LARGE)], joint=True)))
    assert verdict.passed
    assert verdict.findings == ()


def test_a_small_count_of_any_table_fails_in_its_place():
    table = LARGE.copy()
    table[0] = 1, 30
    table[3] = 3, 0
    small = evidence_of(
        table, [mapped("halves", [0, 0, 1, 1], LARGE), mapped("apart", [0, 1, 1, 1], table)], joint=True
    )
    pair = PairCounts((0, 1), ("identity", "halves"), np.array([[4, 100], [20, 30], [20, 20], [20, 20]]))
    elsewhere = counted("elsewhere", [[2, 30], [90, 50]], deterministic=False)
    verdict = judge(published(small, evidence_of(LARGE, [elsewhere], name="b"), pairs=[pair]))
    assert verdict.findings == (
        Finding(Reason.SHOWN, ("attributes", 0, "histogram"), 1),
        Finding(Reason.SHOWN, ("attributes", 0, "joint"), 2),
        Finding(Reason.SHOWN, ("attributes", 0, "maskings", 1, "joint"), 1),
        Finding(Reason.SHOWN, ("attributes", 1, "maskings", 0, "joint"), 1),
        Finding(Reason.SHOWN, ("pairs", 0, "joint"), 1),
    )
    assert verdict.cells(Reason.SHOWN) == 6
    assert verdict.few is None


def test_a_difference_of_crossing_maskings_is_certain():
    table = np.array([[20, 30], [2, 0], [30, 30], [25, 15]])
    crossing = [mapped("one", [0, 0, 1, 1], table), mapped("other", [0, 1, 1, 1], table)]
    assert reasons(judge(published(evidence_of(table, crossing, histogram=False)))) == {("certain", ("attributes", 0))}


def test_a_masked_value_with_as_many_records_as_values_gives_each_of_them_away():
    table = np.array([[1, 0]] * 6 + [[20, 30]])
    masked = [mapped("six", [0, 0, 0, 0, 0, 0, 1], table)]
    assert reasons(judge(published(evidence_of(table, masked, histogram=False)))) == {
        ("certain", ("attributes", 0, "maskings", 0, "joint"))
    }


@for_each(("records", "known"), [([22, 25], False), ([20, 1], True), ([11, 10], True), ([20, 2], True)])
def test_a_masked_value_with_hardly_more_records_than_values_gives_them_away(records, known):
    table = np.array([*([records] * 1), *([[0, 0]] * 19), [300, 400]])
    masked = [mapped("twenty", [0] * 20 + [1], table)]
    assert judge(published(evidence_of(table, masked, histogram=False))).passed != known


def test_ten_listed_values_with_ten_records_at_most_have_one_each_also_if_rounded():
    table = np.array([*([[1, 0]] * 5), *([[0, 1]] * 5), [27, 27]])
    masking = replace(mapped("ten", [0] * 10 + [1], table), joint=np.array([[3, 3], [27, 27]]))
    once = replace(evidence_of(table, [masking], histogram=False), label_histogram=np.array([30, 30]), rounded_once=3)
    apart = replace(once, rounded_once=None, label_perturbation=Perturbation(rounded_to=3))
    apart = replace(apart, maskings=(replace(masking, perturbation=Perturbation(rounded_to=3)),))
    for evidence in (once, apart):
        assert judge(published(evidence)).findings == (Finding(Reason.LIKELY, ("attributes", 0), 10),)


@for_each(("scale", "label", "passes"), [(1 / 2.8, None, False), (1 / 2.1, 1 / 0.05, True), (1 / 1.05, None, True)])
def test_noise_is_worth_half_where_exact_counts_stand_beside_it(scale, label, passes):
    table = np.array([[1, 20], [9, 20]])
    masking = replace(mapped("all", [0, 1], table), perturbation=Perturbation(noise_scale=scale))
    evidence = replace(
        evidence_of(table, [masking], histogram=False), label_perturbation=Perturbation(noise_scale=label)
    )
    assert judge(published(evidence)).passed == passes


def test_noise_of_many_attributes_is_worth_what_all_of_them_tell_of_the_label():
    tables = [np.array([[1, 20], [40, 25]]), *(np.array([[20, 25], [21, 20]]),) * 29]
    noise, label = Perturbation(noise_scale=0.5), Perturbation(noise_scale=10)
    alone, *others = (
        replace(
            evidence_of(each, [replace(mapped("m", [0, 1], each), perturbation=noise)], histogram=False, name=str(n))
        )
        for n, each in enumerate(tables)
    )
    alone, *others = (replace(each, label_perturbation=label) for each in (alone, *others))
    assert judge(published(alone)).passed
    assert {each.reason for each in judge(published(alone, *others)).findings} == {Reason.UNDECIDED}


@for_each("joint", [[[20, 18], [28, 24]], [[47, 50], [0, 0]]])
def test_a_few_records_of_a_label_value_that_are_left_out_are_shown(joint):
    table = np.array([[25, 25], [25, 25]])
    masking = replace(mapped("all", [0, 1], table), joint=np.array(joint), perturbation=Perturbation(records=90))
    verdict = judge(published(evidence_of(table, [masking], histogram=False)))
    assert ("shown", ("attributes", 0, "maskings", 0, "records")) in reasons(verdict)


def test_a_few_records_of_a_cell_that_another_masking_counts_are_shown():
    table = np.array([[20, 20], [30, 30]])
    whole, part = mapped("whole", [0, 1], table), mapped("part", [0, 1], np.array([[19, 10], [15, 14]]))
    part = replace(part, perturbation=Perturbation(records=58))
    verdict = judge(published(evidence_of(table, [whole, part], histogram=False)))
    assert verdict.findings == (Finding(Reason.SHOWN, ("attributes", 0, "maskings", 1, "records"), 1),)


@for_each(("suppressed", "fails"), [((7, 20), False), ((3, 20), True), ((17, 20), True), ((0, 20), False)])
def test_small_numbers_of_suppressed_records_and_small_differences_fail(suppressed, fails):
    evidence = evidence_of(LARGE, [mapped("halves", [0, 0, 1, 1], LARGE)], joint=True)
    coarse, fine = suppressed
    verdict = judge(published(evidence, options=[("halves", "identity")], suppressed=(coarse, fine)))
    assert verdict.passed != fails
    # Nothing follows from a finer configuration that suppresses fewer records.
    assert judge(published(evidence, options=[("identity", "halves")], suppressed=(17, 20))).passed


def test_a_masking_that_lacks_a_few_records_fails():
    masking = replace(mapped("halves", [0, 0, 1, 1], LARGE), perturbation=Perturbation(records=198))
    masking = replace(masking, joint=masking.joint - np.array([[1, 0], [0, 1]]))
    assert reasons(judge(published(evidence_of(LARGE, [masking], joint=True)))) == {
        ("shown", ("attributes", 0, "maskings", 0, "records"))
    }


def test_open_cells_pass_if_no_small_count_is_likely():
    table = np.array([[5, 0], [1, 9], [30, 0], [9, 30]])
    crossing = [mapped("one", [0, 0, 1, 1], table), mapped("other", [0, 1, 0, 1], table)]
    verdict = judge(published(evidence_of(table, crossing, histogram=False)))
    every = [(x, 6 - x, 35 - x, 4 + x) for x in range(7)]
    shares = [[one.count(count) / len(every) for count in range(1, 5)] for one in zip(*every, strict=True)]
    assert max(map(max, shares)) < LIKELY
    assert verdict.passed


@for_each("seed", range(6))
def test_counts_rounded_once_pass_and_no_reader_of_all_tables_knows_a_small_one(seed):
    rng = np.random.default_rng(seed)
    table = random_table(rng, 3, 2, 14)
    evidence = evidence_of(table, [mapped("two", [0, 0, 1], table)], joint=True)
    if not evidence.label_histogram.all():
        return
    [rounded] = rounded_once(rng, [evidence], 3)
    assert judge(published(rounded)).passed
    assert known_by_enumeration(rounded, 3) < LIKELY


def known_by_enumeration(evidence, base):
    """The largest probability of a small count to a reader who knows how counts were rounded once."""
    shown = evidence.joint
    ranges = [range(max(0, count - base + 1), count + base) for count in shown.ravel().tolist()]
    tables = np.array(list(product(*ranges))).reshape(-1, *shown.shape)
    errors = tables - shown
    weights = np.prod(base - abs(errors), axis=(1, 2)).astype(float)
    for mapping in (evidence.masking("two").mapping, np.zeros(3, dtype=int)):
        for group in range(mapping.max() + 1):
            weights *= (abs(errors[:, mapping == group].sum(axis=1)) < base).all(axis=1)
    weights *= (tables.sum(axis=2) > 0).all(axis=1)
    shares = [(weights[:, None, None] * (tables == count)).sum(axis=0) / weights.sum() for count in range(1, SMALL + 1)]
    return float(np.max(shares))


def apart(rng, table, base):
    """The same table, rounded anew for each of 60 maskings that change nothing."""
    same, declared = mapped("same", np.arange(len(table)), table), Perturbation(rounded_to=base)
    draws = [table - table % base + base * (rng.random(table.shape) * base < table % base) for _ in range(60)]
    return [replace(same, id=f"v{number}", joint=counts, perturbation=declared) for number, counts in enumerate(draws)]


def test_a_rounded_entry_does_not_pass_by_its_declaration():
    rng, table = np.random.default_rng(0), np.array([[1, 40], [33, 12], [60, 71]])
    views = apart(rng, table, 5)
    evidence = replace(evidence_of(table, views, histogram=False), label_perturbation=Perturbation(rounded_to=5))
    evidence = replace(evidence, label_histogram=np.array([95, 125]))
    assert {each.reason for each in judge(published(evidence)).findings} == {Reason.LIKELY}


@for_each(("records", "fails"), [(5, True), (12, False)])
def test_a_reader_of_rounded_pairs_knows_exact_unmasked_counts_too(records, fails):
    table, others = np.array([[records, 0], [3000, 3000]]), np.full((150, 2), 20)
    pair = np.full((2, 150), 40)
    pair[0] = [5] + [0] * 149
    evidence = [evidence_of(table, [], joint=True), *(evidence_of(others, [], name=f"b{each}") for each in range(6))]
    pairs = [PairCounts((0, each + 1), ("identity", "identity"), pair, Perturbation(rounded_to=5)) for each in range(6)]
    verdict = judge(published(*evidence, pairs=pairs))
    assert reasons(verdict) == ({("likely", ("pairs", each, "joint")) for each in range(6)} if fails else set())


@for_each(("scale", "passes"), [(2.0, True), (0.5, False)])
def test_little_noise_is_not_enough(scale, passes):
    noisy = Perturbation(noise_scale=scale)
    table = np.array([[1, 40], [33, 12], [60, 71]])
    evidence = evidence_of(table, [replace(mapped("all", np.arange(3), table), perturbation=noisy)], histogram=False)
    verdict = judge(published(replace(evidence, label_perturbation=noisy)))
    assert verdict.passed == passes
    assert reasons(verdict) == (set() if passes else {("undecided", ("attributes", 0))})


def test_two_exact_pair_tables_give_away_their_difference():
    table = np.array([[50, 50], [50, 50], [50, 52]])
    first = evidence_of(table, [mapped("a1", [0, 0, 1], table), mapped("a2", [0, 1, 1], table)], histogram=False)
    second = evidence_of(np.array([[31, 31], [60, 60], [59, 61]]), [], joint=True, name="b")
    cells = np.array([[30, 30, 40], [2, 60, 38], [30, 30, 42]])
    fine = PairCounts((0, 1), ("a1", "identity"), np.array([cells[:2].sum(axis=0), cells[2]]))
    other = PairCounts((0, 1), ("a2", "identity"), np.array([cells[0], cells[1:].sum(axis=0)]))
    verdict = judge(published(first, second, pairs=[fine, other], options=[("a1", "a2"), ("identity",)]))
    assert ("certain", ("pairs", 0, "joint")) in reasons(verdict)


def test_bounds_that_stopped_early_are_not_a_pass():
    rng = np.random.default_rng(5)
    table = random_table(rng, 12, 3, 900) + 5
    views = [mapped(f"v{at}", rng.integers(0, 4, 12), table) for at in range(3)]
    evidence = evidence_of(table, views, histogram=False)
    assert not bound_cells(evidence, stop=lambda: True).complete
    verdict = judge(published(evidence), stop=lambda: True)
    assert {each.reason for each in verdict.findings} <= {Reason.UNDECIDED, Reason.CERTAIN}
    assert not verdict.passed

"""The worked examples of the paper and its draft: the numbers of their texts, or worked out by hand from these."""

import numpy as np
import pytest

from aegis_advisor.evidence import IDENTITY, AttributeEvidence, Masking
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import Question, assess, recommend
from aegis_advisor.reconstruction import reconstruct
from aegis_provider.masking import EdgeBuckets
from aegis_provider.masking.texts import Blur
from aegis_provider.table.values import Domain
from tests.advisor.cases import PAPER_HISTOGRAM, PAPER_MAPPING, PAPER_TABLE, evidence_of, mapped, paper_evidence
from tests.paper_examples import (
    AGE_COUNTS,
    DRAFT_AGES,
    DRAFT_HEALTH,
    DRAFT_HEIGHTS,
    DRAFT_LABELS,
    DRAFT_MASKED,
    DRAFT_TABLES,
    DRAFT_WEIGHTS,
    FIGURE_3,
    HEALTH_COUNTS,
    LABELS,
    MASKED_AGE,
    MASKED_BY_M1,
    MASKED_BY_M2,
    SAID,
    YOUNG,
    counted,
)

MEASURED = tuple(MEASURES[name] for name in SAID)


def places(values):
    """Number the values in the order in which they first occur."""
    seen = list(dict.fromkeys(values))
    return np.array([seen.index(value) for value in values])


def test_the_cases_of_other_tests_are_figure_3_and_section_4_3():
    assert np.array_equal(PAPER_HISTOGRAM, AGE_COUNTS)
    assert np.array_equal(PAPER_TABLE, MASKED_AGE)
    assert np.array_equal(PAPER_MAPPING, np.where(YOUNG, 0, 1))
    assert dict(zip(LABELS, MASKED_AGE.sum(axis=0).tolist(), strict=True)) == HEALTH_COUNTS
    assert MASKED_AGE.sum(axis=1).tolist() == [AGE_COUNTS[YOUNG].sum(), AGE_COUNTS[~YOUNG].sum()] == [20, 80]


def test_masked_age_tells_as_much_as_section_4_3_says():
    assert MEASURES["mutual_information"](MASKED_AGE.astype(np.float64)) == pytest.approx(0.42, abs=0.005)


def test_without_constraints_the_joint_counts_are_uniform_as_in_section_4_2():
    known = AttributeEvidence("age", 4, np.full(5, 20), None, None, ())
    reference = reconstruct(known)
    by_value = reference.joint[reference.atom_of_value] / np.bincount(reference.atom_of_value)[0]
    assert np.array_equal(by_value, np.full((4, 5), 5.0))


def test_age_is_reconstructed_from_its_histogram_and_the_masked_counts():
    evidence = paper_evidence()
    reference = reconstruct(evidence)
    records = np.where(YOUNG, 20, 80)
    table = reference.joint[reference.atom_of_value] * (AGE_COUNTS / records)[:, np.newaxis]
    assert table.sum(axis=1) == pytest.approx(AGE_COUNTS)  # type 1
    assert table[YOUNG].sum(axis=0) == pytest.approx(MASKED_AGE[0])  # types 2 and 3
    assert table[~YOUNG].sum(axis=0) == pytest.approx(MASKED_AGE[1])
    assert table[1, 4] == pytest.approx(12 * 12 / 20)  # of twelve people of 17, as many are very well as of the young
    assert table[0, 3] == pytest.approx(4 * 7 / 20)
    assert table[3, 1] == pytest.approx(30 * 25 / 80)


@pytest.mark.parametrize("measure", MEASURED, ids=lambda one: one.id)
def test_what_section_3_2_says_of_age_is_possible_but_does_not_follow(measure):
    """The text has no joint counts of age and health: its numbers are within what its other counts allow."""
    assessed = assess(paper_evidence(), reconstruct(paper_evidence()), measure, ["age-2"])
    assert assessed.lower_bound < SAID[measure.id] < assessed.upper_bound
    assert assessed.maskings["age-2"].deviation == pytest.approx(
        0, abs=1e-12
    )  # by its own reconstruction, nothing is lost


def masked(function, values):
    domain = Domain.of(sorted(set(values)), None)
    by_value = dict(zip(domain.texts, function.mask(domain), strict=True))
    return [by_value[value] for value in values]


def edges(*numbers):
    return EdgeBuckets(tuple(Domain.of([str(number) for number in numbers], None).keys))


def test_maskings_make_the_two_masked_tables_of_section_2():
    weights = masked(Blur(1), FIGURE_3["Weight"])
    assert weights == MASKED_BY_M1["Weight"]
    groups = [
        ("Age", edges(*range(1, 92, 10)), MASKED_BY_M1),  # 43 is in 41-50, not, as printed, in 31-40
        ("Age", edges(0, 46, 120), MASKED_BY_M2),
        ("Weight", edges(*range(30, 91, 5)), MASKED_BY_M2),
    ]
    for name, function, printed in groups:
        assert places(masked(function, FIGURE_3[name])).tolist() == places(printed[name]).tolist()


def excerpt(name):
    """The evidence on an attribute of the excerpt, its unmasked counts given, with both maskings."""
    values, health = places(FIGURE_3[name]), places(FIGURE_3["Health"])
    table = np.zeros((values.max() + 1, health.max() + 1), dtype=np.int64)
    np.add.at(table, (values, health), 1)
    first = [FIGURE_3[name].index(value) for value in dict.fromkeys(FIGURE_3[name])]
    maskings = [
        mapped(identifier, places(printed[name])[first], table)
        for identifier, printed in (("m1", MASKED_BY_M1), ("m2", MASKED_BY_M2))
    ]
    return evidence_of(table, maskings, joint=True, name=name)


def test_of_the_two_configurations_of_section_2_the_second_deviates_less():
    """By g3, of six records: unmasked, each attribute determines health, so g3 is 0.

    With M1, one record of the two with age 71-80 contradicts the other, and one with weight 7*, and of all with the
    same postcode four of six: (1/6 + 1/6 + 4/6) / 3. With M2, of three young people one, and of three old two, while
    weight and postcode still determine health: (3/6 + 0 + 0) / 3.
    """
    evidence = tuple(excerpt(name) for name in ("Age", "Weight", "Zip"))
    options = tuple((IDENTITY, "m1", "m2") for _ in evidence)
    question = Question("g3", ("Age", "Weight", "Zip"), np.full(3, 1 / 3))
    answer = recommend(
        evidence, [reconstruct(one) for one in evidence], np.array([[1, 1, 1], [2, 2, 2]]), options, question
    )
    assert answer.ranking.index.tolist() == [1, 0]
    assert answer.ranking.deviation == pytest.approx([1 / 6, 1 / 3])


def draft(name):
    """The evidence on age in the draft: each age once, and one masked table of figure 3."""
    mapping = places(DRAFT_MASKED[name])
    table = counted(DRAFT_MASKED[name], DRAFT_HEALTH, DRAFT_LABELS)
    masking = Masking(name, len(table), mapping, table, deterministic=True)
    return AttributeEvidence("age", 6, table.sum(axis=0), np.ones(6, dtype=np.int64), None, (masking,))


def full(reference):
    """(values, labels) the reconstruction, each value having one record."""
    sizes = np.bincount(reference.atom_of_value)
    return reference.joint[reference.atom_of_value] / sizes[reference.atom_of_value][:, np.newaxis]


@pytest.mark.parametrize("name", ["D1", "D3"])
def test_the_first_and_third_masking_of_the_draft_restore_every_record(name):
    """All people with one masked age have the same health, so the histogram leaves nothing open."""
    assert full(reconstruct(draft(name))) == pytest.approx(
        counted(tuple(map(str, DRAFT_AGES)), DRAFT_HEALTH, DRAFT_LABELS)
    )


def test_the_second_masking_of_the_draft_leaves_its_shares():
    """Of those of 20 to 40, two of three are good and one is moderate; of the others one is good and two are poor."""
    assert full(reconstruct(draft("D2"))) == pytest.approx(np.repeat([[2 / 3, 1 / 3, 0], [1 / 3, 0, 2 / 3]], 3, axis=0))


def test_the_draft_takes_the_first_or_third_masking_before_the_second():
    """By g3: 0 in the first and third; in the second, two of six people contradict the others."""
    maskings = [draft(name).maskings[0] for name in DRAFT_MASKED]
    evidence = AttributeEvidence("age", 6, np.array([3, 1, 2]), np.ones(6, dtype=np.int64), None, tuple(maskings))
    question = Question("g3", ("age",), np.ones(1))
    options = ((IDENTITY, *DRAFT_MASKED),)
    answer = recommend((evidence,), [reconstruct(evidence)], np.array([[1], [2], [3]]), options, question)
    assert answer.ranking.deviation == pytest.approx([0, 0, 1 / 3])
    assert answer.ranking.index.tolist() == [0, 2, 1]


def test_with_weight_and_height_the_draft_takes_the_third_masking():
    """By g3: weights of 80 to 89 contradict each other once in the first and third, those of 70 to 79 in the second.

    Hidden heights leave three of six people good. So the first deviates by (0 + 1/6 + 3/6) / 3, the second by
    (2/6 + 1/6 + 0) / 3, and the third by (0 + 1/6 + 0) / 3.
    """
    columns = (DRAFT_MASKED, DRAFT_WEIGHTS, DRAFT_HEIGHTS)
    table = counted(tuple("123456"), DRAFT_HEALTH, DRAFT_LABELS)  # every age, weight and height occurs once
    evidence = tuple(
        evidence_of(table, [mapped(name, places(column[name]), table) for name in column], joint=True, name=str(place))
        for place, column in enumerate(columns)
    )
    question = Question("g3", ("0", "1", "2"), np.full(3, 1 / 3))
    options = tuple((IDENTITY, *column) for column in columns)
    references = [reconstruct(one) for one in evidence]
    answer = recommend(evidence, references, np.array([[1] * 3, [2] * 3, [3] * 3]), options, question)
    assert answer.ranking.index.tolist() == [2, 1, 0]
    assert answer.ranking.deviation == pytest.approx([1 / 18, 3 / 18, 4 / 18])


def test_only_the_first_of_three_tables_of_the_draft_has_the_counts_of_its_figure():
    alike = {
        name: np.array_equal(counted(DRAFT_MASKED[name], DRAFT_HEALTH, DRAFT_LABELS), printed)
        for name, printed in DRAFT_TABLES.items()
    }
    assert alike == {"D1": True, "D2": False, "D3": False}

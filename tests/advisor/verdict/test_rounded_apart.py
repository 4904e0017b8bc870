"""What tables that were rounded apart from each other determine together, against all tables, one by one."""

from itertools import product

import numpy as np

from aegis_advisor.evidence import AttributeEvidence, Masking, Perturbation
from aegis_advisor.verdict import Finding, PublishedCounts, Reason, Releases, judge


def published(views, base, label):
    """An entry of rounded tables, each with the masked value of each of its values."""
    maskings = tuple(
        Masking(f"m{place}", len(counts), mapping, counts, True, perturbation=Perturbation(rounded_to=base))
        for place, (mapping, counts) in enumerate(views)
    )
    evidence = AttributeEvidence("a", views[0][0].size, label, None, None, maskings)
    codes, options = np.arange(len(maskings))[:, np.newaxis], [tuple(each.id for each in maskings)]
    return PublishedCounts([evidence], {}, Releases(codes, options, [None] * len(codes)))


def drawn(counts, base, random):
    least = counts - counts % base
    return least + base * (random.random(counts.shape) < (counts % base) / base)


def every_table(views, base, label):
    """(tables, values, labels) all tables that the product may have rounded to these."""
    columns = []
    for each, total in enumerate(label):
        most = np.min([counts[mapping, each] + base - 1 for mapping, counts in views], axis=0)
        table = np.array(list(product(*(range(limit + 1) for limit in most))))
        fits = table.sum(axis=1) == total
        for mapping, counts in views:
            sums = np.array([np.bincount(mapping, row, len(counts)) for row in table])
            fits &= (np.abs(sums - counts[:, each]) < base).all(axis=1)
        columns.append(table[fits])
    return [np.column_stack(both) for both in product(*columns)]


def summed(tables, mapping):
    """(..., groups, labels) the counts of the masked values in tables (..., values, labels)."""
    return np.stack([tables[..., mapping == group, :].sum(axis=-2) for group in range(mapping.max() + 1)], axis=-2)


def tells_a_count(views, tables):
    """Whether a small count of a masked value, or of one with a label, is the same in all tables."""
    shown = [summed(np.stack(tables), mapping) for mapping, _ in views]
    sums = [each.reshape(len(tables), -1) for counts in shown for each in (counts, counts.sum(axis=-1))]
    return any(((each == each[0]).all(axis=0) & (each[0] >= 1) & (each[0] <= 4)).any() for each in sums)


def test_what_a_total_leaves_of_two_values_together_is_certain():
    """Of 9 records, between 5 and 7 have the third value by one table, and between 3 and 5 by the other."""
    views = [(np.arange(3), np.array([[6, 0], [4, 4], [2, 6]])), (np.array([0, 0, 1]), np.array([[10, 4], [2, 4]]))]
    verdict = judge(published(views, 2, np.array([12, 9])))
    assert verdict.findings == (Finding(Reason.CERTAIN, ("attributes", 0), 1),)


def test_no_entry_passes_in_which_all_tables_have_the_same_small_count():
    random, certain = np.random.default_rng(12), 0
    for _ in range(50):
        counts, base = random.integers(0, 7, (3, 2)), int(random.integers(2, 4))
        if (counts.sum(axis=0) < 5).any():
            continue
        mappings = [np.unique(random.integers(0, 3, 3), return_inverse=True)[1] for _ in range(3)]
        views = [(mapping, drawn(summed(counts, mapping), base, random)) for mapping in mappings]
        label = counts.sum(axis=0)
        if tells_a_count(views, every_table(views, base, label)):
            certain += 1
            assert not judge(published(views, base, label)).passed
    assert certain >= 3

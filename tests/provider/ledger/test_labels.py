"""Releases with other labels together, each label attacked by somebody who knows all else, in plain Python."""

import random
from collections import defaultdict
from dataclasses import replace

import pytest

from aegis_provider import load_plan
from aegis_provider.ledger import CompositionError, Leaving, forget, hold_back, leave
from tests.provider.ledger.test_composition import changed, numbered, table

MASKS = {"identity": str, "half": lambda v: "0" if str(v) in {"0", "y0"} else "1", "drop": lambda _: None}
PLACES = {"a": 1, "z": 2, "y": 3}
PLANS = {
    "y": "label: y\nquasi_identifiers: [a, z]\nsensitive: [y]",
    "z": "label: z\nquasi_identifiers: [a, y]\nsensitive: [z]",
    "yz": "labels: [y, z]",
}
HALVES = {"a": "{0: 0, 1: 1, 2: 1, 3: 1}", "z": "{0: 0, 1: 1, 2: 1}", "y": "{y0: 0, y1: 1, y2: 1}"}
CHOICES = [(first, second) for first in MASKS for second in MASKS]


@pytest.fixture
def plan(tmp_path):
    """A plan by its labels, with a configuration for each choice of maskings of its attributes but the label."""

    def load(labels, k, person):
        others = [name for name in "azy" if name != labels[0]]
        attributes = "".join(
            f"  {name}: {{type: string, maskings: {{half: {{mapping: {HALVES[name]}}}}}}}\n" for name in others
        )
        listed = {f"c{n}": dict(zip(others, choice, strict=True)) for n, choice in enumerate(CHOICES)}
        by_id = [
            f"configurations: {{{', '.join(f'{name}: {{{_pairs(each)}}}' for name, each in listed.items())}}}",
            f"privacy: {{{', '.join(f'{name}: {{k: {k}, l: 2}}' for name in listed)}}}",
            f"suppressed: {{{', '.join(f'{name}: 0' for name in listed)}}}",
        ]
        path = tmp_path / "plan.yaml"
        path.write_text("\n".join([PLANS[labels], "attributes:", attributes, *by_id]))
        return replace(load_plan(path), person="p" if person else None), listed

    return load


def _pairs(maskings):
    return ", ".join(f"{name}: {masking}" for name, masking in maskings.items())


def broken(releases, k):
    """The people in classes of the join that break a promise in the attack on some label, by names of records."""
    out = set()
    for label in {label for _, _, labels in releases for label in labels}:
        people, values = defaultdict(set), defaultdict(lambda: defaultdict(set))
        for record in {record for _, shown, _ in releases for record in shown}:
            own = tuple(
                shown[record] and known(shown[record], label) if record in shown else None for _, shown, _ in releases
            )
            person = next(rows[record][0] for rows, _, _ in releases if record in rows)
            people[own].add(person)
            for n, (_, shown, labels) in enumerate(releases):
                if label in labels and record in shown:
                    values[own, n][shown[record][label]].add(person)
        for (own, _), told in values.items():
            if len(people[own]) < k or people[own] in told.values():
                out |= people[own]
    return out


def known(row, label):
    return tuple(sorted((name, value) for name, value in row.items() if name != label))


def seen(rows, maskings, labels, k):
    """The masked values of each record in a release, without those left out until every attack has k and l = 2."""
    mask = {name: MASKS[maskings.get(name, "identity")] for name in PLACES}
    left = dict(rows)
    while True:
        shown = {record: {name: mask[name](row[at]) for name, at in PLACES.items()} for record, row in left.items()}
        if not (out := broken([(left, shown, labels)], k)):
            return shown
        left = {record: row for record, row in left.items() if row[0] not in out}


@pytest.mark.parametrize("some", [range(2), pytest.param(range(2, 22), marks=pytest.mark.long)])
def test_releases_with_other_labels_keep_every_label_from_whoever_knows_the_others(plan, some):
    waiting = beside = needless = 0
    for seed in some:
        draw, allowed = random.Random(seed), []
        k, person = draw.choice([2, 3]), seed % 2 == 1
        names = (lambda record: record // 2) if person else (lambda record: record)
        rows = {n: (names(n), draw.randrange(3), draw.randrange(3), draw.randrange(3)) for n in range(160)}
        for turn in range(3):
            labels = draw.choice([*PLANS])
            intended, listed = plan(labels, k, person)
            intended = replace(intended, rows_per_person=2 if person else None)
            chosen = draw.choice([*listed])
            protected = tuple(each for each in labels if listed[chosen].get(each) != "drop")
            shown = seen(rows, listed[chosen], protected, k)
            order = draw.sample(sorted(rows), len(rows))
            records = table([rows[each] for each in order]).rename_columns([*"pazy"])
            about = (records, intended, chosen)
            leaving = Leaving(name="t", place=str(turn), to="x", ranking=[chosen])
            whole = [*allowed, (*numbered(rows, shown, order, person), protected)]
            try:
                if (held := hold_back(*about, leaving, {"delimiter": ","})) is not None:
                    assert broken(whole, k), seed
                    out = {each for each, is_held in zip(order, held.records, strict=True) if is_held}
                    shown = {each: own for each, own in shown.items() if each not in out}
                    leaving, waiting = replace(leaving, held=held.digest), waiting + len(out)
                leave(*about, leaving, {"delimiter": ","})
            except CompositionError:
                needless += not broken(whole, k)
            else:
                beside += len({labels for _, _, labels in allowed} - {protected})
                allowed.append((*numbered(rows, shown, order, person), protected))
                assert not broken(allowed, k), seed
            rows = changed(rows, draw, names) if draw.random() < 0.5 else rows
            rows = {record: (who, a % 3, z % 3, y) for record, (who, a, z, y) in rows.items()}
        forget("t", [])
    assert needless == 0
    assert waiting
    assert beside

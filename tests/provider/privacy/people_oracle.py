"""Privacy of people with several records each, slow and independent: sets of names in dictionaries.

A row is `(person, *quasi-identifiers, value)`.
"""

from collections import defaultdict

AT_LEAST = {"k", "l"}


def classes_of(rows, masks):
    """Return the rows of each class; `masks` has a mapping for each quasi-identifier."""
    found = defaultdict(list)
    for row in rows:
        found[tuple(mask[value] for mask, value in zip(masks, row[1:-1], strict=True))].append(row)
    return found


def have(rows):
    """Return the people who have each value."""
    found = defaultdict(set)
    for row in rows:
        found[row[-1]].add(row[0])
    return found


def measured(rows, before):
    """Return the criteria of one class, compared with the whole table."""
    people, everybody, values, whole = {row[0] for row in rows}, {row[0] for row in before}, have(rows), have(before)
    q = {value: len(values[value]) / len(people) if value in values else 0.0 for value in whole}
    p = {value: len(whole[value]) / len(everybody) for value in whole}
    gained, lost = sum(max(q[v] - p[v], 0) for v in p), sum(max(p[v] - q[v], 0) for v in p)
    return {
        "k": len(people),
        "l": 1 if any(each == people for each in values.values()) else len(values),
        "t": min(1.0, max(gained, lost)),
        "alpha": max(q.values()),
        "beta": max((q[v] - p[v]) / p[v] for v in values),
    }


def keeps(found, promise):
    signs = {name: 1 if name in AT_LEAST else -1 for name in promise}
    return all(signs[name] * found[name] >= signs[name] * limit - 1e-9 for name, limit in promise.items())


def released(rows, masks, promise):
    """Return the rows of those who stay: whoever has a row in a class that breaks the promise goes, again and again."""
    left = list(rows)
    while True:
        broken = [each for each in classes_of(left, masks).values() if not keeps(measured(each, rows), promise)]
        gone = {row[0] for each in broken for row in each}
        if not gone:
            return left
        left = [row for row in left if row[0] not in gone]


def worst(rows, masks, before):
    """Return the worst value of each criterion over the classes of these rows."""
    every = [measured(each, before) for each in classes_of(rows, masks).values()]
    return (
        {name: (min if name in AT_LEAST else max)(each[name] for each in every) for name in every[0]} if every else {}
    )


def below(rows, masks, k):
    """Return how many people have fewer than `k` alike, to who knows one, up to two, or all of their records."""
    known = defaultdict(list)
    for row in rows:
        known[row[0]].append(tuple(mask[value] for mask, value in zip(masks, row[1:-1], strict=True)))
    one, two, everything = defaultdict(set), defaultdict(set), defaultdict(set)
    for person, own in known.items():
        own.sort()
        for place, record in enumerate(own):
            one[record].add(person)
            for other in own[place + 1 :]:
                two[record, other].add(person)
        everything[tuple(own)].add(person)
    few = [
        {each for people in alike.values() if len(people) < k for each in people} for alike in (one, two, everything)
    ]
    return len(few[0]), len(few[0] | few[1]), len(few[2])

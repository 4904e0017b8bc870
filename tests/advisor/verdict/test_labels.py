"""Counts with another label are judged as those of an entry with that label alone."""

from dataclasses import replace

import msgspec

from aegis_advisor.evidence import EntryContent, evidence_of, pairs_of
from aegis_advisor.verdict import PublishedCounts, Releases, counted_apart, judge, label_counts


def rare_values(last=7):
    """Return an entry where few records have one of `last` values of a, in two classes of s and 20 of y."""
    few, many = [3, 3] + [0] * 18, [300] * 20
    tables = [[153, 150] + [150] * 18, [150, 153] + [150] * 18]
    mapping = [0] * last + [1]
    return msgspec.convert(
        {
            "records": 6006,
            "label": {"name": "y", "domain": list(map(str, range(20))), "histogram": [303, 303] + [300] * 18},
            "labels": ["y", "s"],
            "attributes": [
                {
                    "name": "a",
                    "type": "string",
                    "domain": list(map(str, range(last + 1))),
                    "maskings": [{"id": "m", "domain": ["few", "many"], "mapping": mapping, "joint": [few, many]}],
                },
                {"name": "s", "type": "string", "domain": ["n", "y"], "histogram": [3003, 3003], "joint": tables},
            ],
            "pairs": [{"attributes": ["a", "s"], "maskings": ["m", "identity"], "joint": [[3, 3], [3000, 3000]]}],
            "disclosure_control": {"rounded_to": 3, "rounding": "once"},
            "configurations": [{"id": "c", "maskings": {"a": "m", "s": "identity"}}],
        },
        EntryContent,
    )


def judged(entry):
    pairs = counted_apart(entry, pairs_of(entry))
    published = PublishedCounts(evidence_of(entry), pairs, Releases.of(entry), 1, label_counts(entry))
    return [(each.reason.value, each.path) for each in judge(published).findings]


def test_what_only_the_counts_with_another_label_tell_fails_at_their_pair():
    assert judged(rare_values()) == [("likely", ("pairs", 0, "joint"))]
    assert judged(rare_values(last=3)) == []
    without_pairs = replace(rare_values(), labels=None, pairs=())
    assert judged(without_pairs) == []


def test_exact_pairs_with_a_label_are_judged_as_pairs():
    exact = replace(rare_values(), disclosure_control=None)
    assert label_counts(exact) == ()
    assert set(counted_apart(exact, pairs_of(exact))) == {0}
    assert ("shown", ("pairs", 0, "joint")) in judged(exact)


def test_the_smaller_privacy_of_a_label_is_judged_at_its_place():
    told = rare_values(last=3)
    [only] = told.configurations
    masked = replace(only, maskings={"a": "m", "s": "drop"})
    one = replace(only, id="d", privacy={"k": 2}, privacy_by_label={"s": {"k": 2}})
    [counts] = label_counts(replace(told, configurations=[masked, one]))
    assert counts.published.releases.privacy == {"k": [2]}
    assert counts.places["configurations", 0, "privacy", "k"] == ("configurations", 1, "privacy_by_label", "s", "k")

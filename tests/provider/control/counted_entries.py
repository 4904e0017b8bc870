"""Entries counted from records in plain Python, so that controlled entries can be counted again."""

from collections import Counter
from copy import deepcopy
from dataclasses import replace

from hypothesis import strategies as st

from aegis_provider import document_of
from aegis_provider.control import LaplaceNoise, MinimumCell, RandomRounding, apply_controls
from aegis_sdk.wire import EntryDocument

LABELS = ("n", "y")
MASKINGS = {
    "a": {
        "twos": lambda text: text and f"{int(text) // 2 * 2}+",
        "odd": lambda text: text and ("odd" if int(text) % 2 else "even"),
        "gone": lambda _: "*",
    },
    "b": {"first": lambda text: text[0], "as-it-is": lambda text: text.upper()},
}
RECORDS = st.lists(
    st.tuples(
        st.sampled_from(["", *map(str, range(8))]),
        st.sampled_from(["xa", "xb", "ya", "yb", "z"]),
        st.sampled_from(LABELS),
    ),
    min_size=12,
    max_size=80,
)


def entry_of(records, configurations, *, joint=("a", "b"), pairs=()):
    """Return the entry of records (a, b, label), with unmasked counts of `joint` and `pairs` of maskings of a and b."""
    label = Counter(record[-1] for record in records)
    return {
        "format": 1,
        "name": "e",
        "records": len(records),
        "label": {"name": "y", "domain": sorted(label), "histogram": [label[text] for text in sorted(label)]},
        "attributes": [_attribute(name, place, records, name in joint) for place, name in enumerate(MASKINGS)],
        **({"pairs": [_pair(records, *each) for each in pairs]} if pairs else {}),
        "configurations": deepcopy(configurations),
    }


def recounted(records, place, masked, domain, labels):
    """Return the joint counts of a column masked by `masked`, with a row for each text of the domain."""
    counts = Counter((masked[record[place]], record[-1]) for record in records)
    return [[counts[text, label] for label in labels] for text in domain]


def masked_values(entry, place, masking_id):
    """Return the masked value of each value of the attribute, according to the entry."""
    attribute = entry["attributes"][place]
    if masking_id == "identity":
        return {text: text for text in attribute["domain"]}
    masking = next(each for each in attribute["maskings"] if each["id"] == masking_id)
    pairs = zip(attribute["domain"], masking["mapping"], strict=True)
    return {text: masking["domain"][masked] for text, masked in pairs}


def all_counts(entry):
    """Yield every count of every table of an entry."""
    holders = [entry["label"], *entry["attributes"], *entry.get("pairs", [])]
    holders += [masking for attribute in entry["attributes"] for masking in attribute["maskings"]]
    for holder in holders:
        yield from holder.get("histogram", [])
        for row in holder.get("joint", []):
            yield from row


def _in_order(values):
    return sorted(set(values), key=lambda text: (text != "", text))


def _attribute(name, place, records, with_joint):
    domain, labels = _in_order(record[place] for record in records), sorted({record[-1] for record in records})
    identity = {text: text for text in domain}
    joint = recounted(records, place, identity, domain, labels)
    return {
        "name": name,
        "type": "integer" if name == "a" else "string",
        "domain": domain,
        "histogram": [sum(row) for row in joint],
        **({"joint": joint} if with_joint else {}),
        "maskings": [
            _masking(masking, function, place, records, domain, labels) for masking, function in MASKINGS[name].items()
        ],
    }


def _masking(masking_id, function, place, records, domain, labels):
    masked = {text: function(text) for text in domain}
    texts = sorted(dict.fromkeys(masked.values()), key=lambda text: text != "")
    return {
        "id": masking_id,
        "function": {"name": "test", "parameters": {}},
        "domain": texts,
        "mapping": [texts.index(masked[text]) for text in domain],
        "joint": recounted(records, place, masked, texts, labels),
    }


def _pair(records, first, second):
    bare = {**entry_of(records, [])}
    views = [masked_values(bare, place, masking) for place, masking in enumerate((first, second))]
    counts = Counter((views[0][a], views[1][b]) for a, b, _ in records)
    domains = [_domain(bare, place, masking) for place, masking in enumerate((first, second))]
    joint = [[counts[row, column] for column in domains[1]] for row in domains[0]]
    return {"attributes": ["a", "b"], "maskings": [first, second], "joint": joint}


def _domain(entry, place, masking_id):
    attribute = entry["attributes"][place]
    if masking_id == "identity":
        return attribute["domain"]
    return next(each["domain"] for each in attribute["maskings"] if each["id"] == masking_id)


def controls_of(*, min_cell=None, round_to=None, epsilon=None, split="equal"):
    """Return the controls that the options of the command ask for."""
    asked = [MinimumCell(min_cell)] if min_cell is not None else []
    asked += [RandomRounding(round_to)] if round_to is not None else []
    return asked + ([LaplaceNoise(epsilon, split)] if epsilon is not None else [])


def controlled(entry, controls, roles):
    """Apply the controls to an entry of JSON values; the controlled entry has JSON values too."""
    held = apply_controls(EntryDocument.model_validate(entry), controls, roles)
    return replace(held, entry=document_of(held.entry))

"""An entry whose numbers and words occur nowhere else, to look for in what operators see."""

from typing import Any

from tests.service import example_entry

#: Each is a count, or a number that follows from counts.
NUMBERS = (7_777_771, 6_666_661, 1_111_110)

#: Names of the label, of an attribute, a masking, values, a configuration, an entry and a keyword.
WORDS = tuple(f"unmistakable_{word}" for word in ("label", "attribute", "masking", "value", "configuration", "entry"))


def unmistakable_entry() -> dict[str, Any]:
    """Return an entry of which nothing may be seen."""
    total, first, second = NUMBERS
    label, attribute, masking, value, configuration, name = WORDS
    entry = example_entry(name=name, title=name, description=name, keywords=[name], records=total, pairs=[])
    entry["label"] = {"name": label, "domain": [value, "other"], "histogram": [first, second]}
    entry["attributes"] = [
        {
            "name": attribute,
            "type": "string",
            "domain": [value, "else"],
            "histogram": [first, second],
            "maskings": [
                {
                    "id": masking,
                    "function": {"name": "generalize", "parameters": {}},
                    "domain": [value, "else"],
                    "mapping": [0, 1],
                    "joint": [[first, 0], [0, second]],
                }
            ],
        }
    ]
    entry["configurations"] = [
        {"id": configuration, "maskings": {attribute: masking}},
        {"id": "none", "maskings": {attribute: "drop"}},
    ]
    return {name: value for name, value in entry.items() if name != "pairs"}


def assert_unseen(seen: str, *secrets: str) -> None:
    """Check that nothing of the entry, and none of these secrets, is in what operators see."""
    for one in (*map(str, NUMBERS), *WORDS, "unmistakable", *secrets):
        assert one not in seen, one

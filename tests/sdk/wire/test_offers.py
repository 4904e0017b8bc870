"""What columns are about and what tables cost: entries of format 5."""

from tests.for_each import for_each
from tests.sdk.wire.documents import assert_read_whole, changed, entry_pointers
from tests.service import example_entry

ENTRY = example_entry() | {"format": 5}
URI = "https://example.org/health"
TABLE = {name: value for name, value in ENTRY.items() if name != "configurations"} | {
    "configuration_table": {
        "ids": [one["id"] for one in ENTRY["configurations"]],
        "maskings": {
            attribute["name"]: [one["maskings"][attribute["name"]] for one in ENTRY["configurations"]]
            for attribute in ENTRY["attributes"]
        },
    }
}


def about(concept, attribute=None, entry=ENTRY):
    """The entry whose label has this concept, and its first attribute the other one."""
    entry = changed(("label",), entry["label"] | {"concept": concept}, entry)
    if attribute is None:
        return entry
    return changed(("attributes", 0), entry["attributes"][0] | {"concept": attribute}, entry)


def costing(*prices):
    """The entry with these prices of its configurations, which are the first one repeated."""
    first = ENTRY["configurations"][0]
    listed = [first | {"id": f"p{place}", "price": price} for place, price in enumerate(prices)]
    return ENTRY | {"configurations": listed}


def euros(amount, currency="EUR"):
    return {"amount": amount, "currency": currency}


def column(amounts, currency="EUR"):
    return TABLE | {
        "configuration_table": TABLE["configuration_table"] | {"price": {"amounts": amounts, "currency": currency}}
    }


ROWS = len(ENTRY["configurations"])
VALUE = ENTRY["label"]["domain"][0]

BROKEN = {
    "a concept without a URI": (about({"values": {}}), ["/label/concept/uri"]),
    "no URI": (about({"uri": "health"}), ["/label/concept/uri"]),
    "a URI with a blank": (about({"uri": "https://example.org/a b"}), ["/label/concept/uri"]),
    "a long URI": (about({"uri": "urn:" + "a" * 300}), ["/label/concept/uri"]),
    "a value that the column lacks": (about({"uri": URI, "values": {"none": URI}}), ["/label/concept/values/none"]),
    "two columns about the same": (about({"uri": URI}, {"uri": URI}), ["/attributes/0/concept/uri"]),
    "a price below 0": (costing(euros(-1)), ["/configurations/0/price/amount"]),
    "a price that is no number": (costing(euros("1")), ["/configurations/0/price/amount"]),
    "an unknown currency": (costing(euros(1, "euro")), ["/configurations/0/price/currency"]),
    "two currencies": (costing(euros(1), euros(1, "USD")), ["/configurations/1/price/currency"]),
    "a column of another length": (column([1.0] * (ROWS + 1)), ["/configuration_table/price/amounts"]),
    "a negative number in a column": (column([-1.0, *[1.0] * (ROWS - 1)]), ["/configuration_table/price/amounts/0"]),
    "format 4": (about({"uri": URI}) | {"format": 4}, ["/label/concept"]),
    "a price in format 4": (costing(euros(1)) | {"format": 4}, ["/configurations/0/price"]),
    "nothing for format 5": (ENTRY, ["/format"]),
}

FINE = {
    "of the label": about({"uri": URI, "values": {VALUE: f"{URI}#{VALUE}"}}),
    "of an attribute": about({"uri": URI}, {"uri": "urn:uuid:5c1e97f3-7d60-4a51-8a51-3f0f9a6a2b11"}),
    "free": costing(euros(0)),
    "some": costing(euros(1.5), None, euros(2)),
    "in a column": column([0.5] * ROWS),
}


@for_each("name", BROKEN)
def test_a_fault_is_found_where_it_is(name):
    entry, places = BROKEN[name]
    assert entry_pointers(entry) == places


@for_each("name", FINE)
def test_a_sound_entry_is_read_whole(name):
    assert_read_whole(FINE[name])

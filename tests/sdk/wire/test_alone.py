"""What an entry states about records that are alone on all shared columns, and how it is read."""

import pytest

from aegis_sdk.reading import Alone
from aegis_sdk.wire import EXAMPLE_ENTRY
from tests.for_each import for_each
from tests.sdk.wire.documents import changed, entry_pointers

TABLE = {"ids": ["a", "b", "c"], "maskings": {"age": ["age-2", "drop", "identity"]}, "alone": [0.2, None, 0.91]}
BY_COLUMNS = {name: value for name, value in EXAMPLE_ENTRY.items() if name != "configurations"}


@for_each(
    ("document", "pointers"),
    [
        (changed(("configurations", 0, "alone"), 0.91), []),
        (changed(("configurations", 0, "alone"), 0), []),
        (changed(("configurations", 0, "alone"), 1.01), ["/configurations/0/alone"]),
        (changed(("configurations", 0, "alone"), -0.1), ["/configurations/0/alone"]),
        (changed(("configurations", 0, "alone"), "0.5"), ["/configurations/0/alone"]),
        (EXAMPLE_ENTRY | {"quasi_identifiers": ["age", "health"]}, []),
        (EXAMPLE_ENTRY | {"quasi_identifiers": []}, []),
        (EXAMPLE_ENTRY | {"quasi_identifiers": ["age", "town"]}, ["/quasi_identifiers/1"]),
        (BY_COLUMNS | {"configuration_table": TABLE}, []),
        (BY_COLUMNS | {"configuration_table": TABLE | {"alone": [0.2]}}, ["/configuration_table/alone"]),
        (BY_COLUMNS | {"configuration_table": TABLE | {"alone": [0.2, 2.0, 0.1]}}, ["/configuration_table/alone/1"]),
    ],
)
def test_it_is_a_share_of_a_configuration(document, pointers):
    assert entry_pointers(document) == pointers


def test_a_table_of_configurations_is_read_as_a_list_is():
    about = Alone.of(BY_COLUMNS | {"configuration_table": TABLE})
    assert (about.shares, about.worst, about.most) == ({"a": 0.2, "b": None, "c": 0.91}, "c", 0.91)
    assert (about.shared, about.as_they_are) == (1, 1)
    own = Alone.of(BY_COLUMNS | {"configuration_table": TABLE}, "b")
    assert (own.own, own.is_much(offered=False), own.is_much(offered=True)) == (None, False, True)
    assert own.sentence == (
        "an unstated share of the records is alone on all shared columns in b, and 91 % in c, the worst configuration "
        "offered; b shares no column besides health"
    )


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.0, "none"), (0.001, "fewer than 0.1 %"), (0.002, "0.2 %"), (0.01, "1 %"), (0.91, "91 %"), (1.0, "100 %")],
)
def test_a_share_in_words(share, words):
    about = Alone("churn", {"c": share}, ("gender",), "c", 19, 1)
    said = (
        f"{words} of the records are alone on all shared columns in c, the worst configuration offered"
        if share
        else "no record is alone on all shared columns, in c or any other configuration offered"
    )
    said = f"{said}; c shares 19 columns besides churn, 1 as it is"
    only = "private only against attackers who know no more than: gender; "
    assert about.line() == (f"{only}{said}" if share > 0.01 else said)

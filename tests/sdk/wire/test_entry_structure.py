"""The parts of an entry must fit each other."""

from aegis_sdk.wire import EXAMPLE_ENTRY
from tests.for_each import for_each
from tests.sdk.wire.documents import assert_read_whole, assert_refused, changed, entry_pointers, without

MASKING = ("attributes", 0, "maskings", 0)
AGE = EXAMPLE_ENTRY["attributes"][0]
AGE_2 = AGE["maskings"][0]


def tabled(table):
    document = without(("configurations",))
    return changed(("configuration_table",), table, document)


TABLE = {"ids": ["c01", "c02"], "maskings": {"age": ["age-2", "drop"]}, "privacy": {"k": [5, None]}}

BROKEN = {
    "label histogram too short": (changed(("label", "histogram"), [50, 50]), ["/label/histogram"]),
    "label histogram does not sum to the records": (
        changed(("label", "histogram"), [15, 25, 30, 16, 15]),
        ["/label/histogram"],
    ),
    "label domain empty": (changed(("label", "domain"), []), ["/label/domain"]),
    "label value twice": (
        changed(("label", "domain"), ["VP", "P", "VP", "G", "P"]),
        ["/label/domain/2", "/label/domain/4"],
    ),
    "no attributes": (changed(("attributes",), []), ["/attributes"]),
    "attribute twice": (changed(("attributes",), [AGE, AGE]), ["/attributes/1/name"]),
    "domain empty": (changed(("attributes", 0, "domain"), []), ["/attributes/0/domain"]),
    "domain value twice": (
        changed(("attributes", 0, "domain", 7), "10"),
        ["/attributes/0/domain/7"],
    ),
    "histogram too long": (changed(("attributes", 0, "histogram"), [1] * 9), ["/attributes/0/histogram"]),
    "unmasked joint of too few rows": (
        changed(("attributes", 0, "joint"), [[1, 2, 3, 4, 5]]),
        ["/attributes/0/joint"],
    ),
    "unmasked joint of too few columns": (
        changed(("attributes", 0, "joint"), [[1, 2]] * 8),
        ["/attributes/0/joint"],
    ),
    "unmasked joint without rows": (changed(("attributes", 0, "joint"), []), ["/attributes/0/joint"]),
    "masking twice": (changed(("attributes", 0, "maskings"), [AGE_2, AGE_2]), ["/attributes/0/maskings/1/id"]),
    "masked domain empty": (changed((*MASKING, "domain"), []), ["/attributes/0/maskings/0/domain"]),
    "masked value twice": (
        changed((*MASKING, "domain"), ["x", "x"]),
        ["/attributes/0/maskings/0/domain/1"],
    ),
    "mapping too short": (changed((*MASKING, "mapping"), [0, 1]), ["/attributes/0/maskings/0/mapping"]),
    "mapping contradicted": (
        changed((*MASKING, "deterministic"), False),
        ["/attributes/0/maskings/0/deterministic"],
    ),
    "joint of too many rows": (
        changed((*MASKING, "joint"), [[0] * 5] * 3),
        ["/attributes/0/maskings/0/joint"],
    ),
    "joint of too many columns": (
        changed((*MASKING, "joint"), [[0] * 6] * 2),
        ["/attributes/0/maskings/0/joint"],
    ),
    "nothing known": (
        changed(MASKING, {"id": "age-2", "domain": ["x"]}),
        ["/attributes/0/maskings/0"],
    ),
    "no configurations at all": (without(("configurations",)), [""]),
    "both kinds of configurations": (changed(("configuration_table",), TABLE), [""]),
    "no configuration": (changed(("configurations",), []), ["/configurations"]),
    "configuration twice": (changed(("configurations", 1, "id"), "c01"), ["/configurations/1/id"]),
    "configuration misses an attribute": (
        changed(("configurations", 1, "maskings"), {}),
        ["/configurations/1/maskings/age"],
    ),
    "configuration names an unknown attribute": (
        changed(("configurations", 0, "maskings", "zip/code"), "drop"),
        ["/configurations/0/maskings/zip~1code"],
    ),
    "configuration names an unknown masking": (
        changed(("configurations", 0, "maskings", "age"), "age-3"),
        ["/configurations/0/maskings/age"],
    ),
    "table without configurations": (
        tabled({"ids": [], "maskings": {"age": []}}),
        ["/configuration_table/ids"],
    ),
    "table names a configuration twice": (
        tabled({"ids": ["c01", "c01"], "maskings": {"age": ["drop", "age-2"]}}),
        ["/configuration_table/ids/1"],
    ),
    "table misses an attribute": (
        tabled({"ids": ["c01"], "maskings": {}}),
        ["/configuration_table/maskings/age"],
    ),
    "table names an unknown attribute": (
        tabled({"ids": ["c01"], "maskings": {"age": ["drop"], "zip": ["drop"]}}),
        ["/configuration_table/maskings/zip"],
    ),
    "table names an unknown masking": (
        tabled({"ids": ["c01", "c02"], "maskings": {"age": ["drop", "age-3"]}}),
        ["/configuration_table/maskings/age/1"],
    ),
    "masking column too short": (
        tabled({"ids": ["c01", "c02"], "maskings": {"age": ["drop"]}}),
        ["/configuration_table/maskings/age"],
    ),
    "masking column of another type": (
        tabled({"ids": ["c01", "c02"], "maskings": {"age": ["drop", None]}}),
        ["/configuration_table/maskings/age/1"],
    ),
    "privacy column too long": (
        tabled(TABLE | {"privacy": {"k": [5, None, 5]}}),
        ["/configuration_table/privacy/k"],
    ),
    "privacy column unknown": (
        tabled(TABLE | {"privacy": {"delta": [1, 2]}}),
        ["/configuration_table/privacy/delta"],
    ),
    "privacy column with text": (
        tabled(TABLE | {"privacy": {"k": [5, "5"]}}),
        ["/configuration_table/privacy/k/1"],
    ),
}


def test_what_does_not_fit_is_pointed_at():
    told = {name: entry_pointers(document) for name, (document, _) in BROKEN.items()}
    assert told == {name: expected for name, (_, expected) in BROKEN.items()}


def test_identity_and_drop_are_reserved():
    assert_refused(["identity", "drop"], (*MASKING, "id"))


def test_faults_of_all_configurations_are_told_together():
    document = changed(("configurations", 0, "maskings"), {"zip": "drop", "age": "age-9"})
    document = changed(("configurations", 1, "id"), "c01", document)
    document = changed(("label", "histogram", 0), 16, document)
    assert entry_pointers(document) == [
        "/label/histogram",
        "/configurations/1/id",
        "/configurations/0/maskings/zip",
        "/configurations/0/maskings/age",
    ]


SMALLEST = {
    "format": 1,
    "name": "a",
    "records": 2**53 - 1,
    "label": {"name": "y", "domain": [""], "histogram": [2**53 - 1]},
    "attributes": [{"name": "a", "type": "date", "domain": [""]}],
    "configurations": [{"id": "c", "maskings": {"a": "identity"}}],
}

SOUND = {
    "the smallest entry": SMALLEST,
    "the longest names": changed(("label", "name"), "ä" * 255, changed(("name",), "0" * 100)),
    "a table": tabled(TABLE),
    "tenants": changed(("visibility",), {"tenants": ["a", "b"]}),
    "unmasked counts": changed(("attributes", 0, "joint"), [[0] * 5] * 8),
    "mapping without counts": changed(MASKING, {k: v for k, v in AGE_2.items() if k != "joint"}),
    "counts without mapping": changed(MASKING, {k: v for k, v in AGE_2.items() if k != "mapping"}),
    "counts at the limit": changed((*MASKING, "joint", 0, 0), 2**53 - 1),
    "optional parts as null": changed(("attributes", 0, "histogram"), None),
}


@for_each("name", SOUND)
def test_what_fits_is_accepted(name):
    assert_read_whole(SOUND[name])

"""Every value of an entry must have the right type: nothing is converted, and each fault has its place."""

import json

from aegis_sdk.wire import EXAMPLE_ENTRY, read_entry
from tests.sdk.wire.documents import assert_refused, changed, entry_pointers, without

MASKING = ("attributes", 0, "maskings", 0)
JOINT = "/attributes/0/maskings/0/joint"
HUGE = 2**53
PARTS = [
    (),
    ("label",),
    ("attributes", 0),
    MASKING,
    (*MASKING, "function"),
    ("configurations", 0),
]


def test_what_is_no_count_is_refused_wherever_counts_stand():
    assert_refused(
        [True, 1.0, 1.5, "1", None, [], {}, -1, HUGE],
        ("records",),
        ("label", "histogram", 2),
        ("attributes", 0, "histogram", 7),
        (*MASKING, "mapping", 3),
        (*MASKING, "joint", 1, 4),
    )
    assert_refused([True, 1.0, "1", -1, HUGE], ("configurations", 0, "suppressed"))  # may be absent


def test_an_attribute_may_have_unmasked_counts_and_they_are_counts():
    joint = [[1, 2, 3, 4, 5] for _ in range(8)]
    joint[6][1] = -1
    assert entry_pointers(changed(("attributes", 0, "joint"), joint)) == ["/attributes/0/joint/6/1"]


def test_every_fault_of_a_table_is_pointed_at():
    told = [
        ({}, [JOINT]),
        ("12", [JOINT]),
        ([1, [1, 2, 3, 4, 5]], [f"{JOINT}/0"]),
        ([[1, 2, 3, 4, 5], None], [f"{JOINT}/1"]),
        ([[1, 2, 3, 4, 5], [1, 2, 3, 4]], [f"{JOINT}/1"]),
        ([[1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6]], [f"{JOINT}/1"]),
        ([[True, 2, -3, 4, 5], [1, 2, 3, 4, "5"]], [f"{JOINT}/0/0", f"{JOINT}/0/2", f"{JOINT}/1/4"]),
    ]
    assert [(joint, entry_pointers(changed((*MASKING, "joint"), joint))) for joint, _ in told] == told


def test_no_more_than_a_hundred_faults_are_told():
    joint = [[-1] * 5 for _ in range(500)]
    found = entry_pointers(changed((*MASKING, "joint"), joint))
    assert len(found) == 100
    assert found[-1] == f"{JOINT}/19/4"


def test_values_of_the_wrong_kind_are_refused_where_they_are():
    assert_refused([True, 1.0, "1", 2, 0, None], ("format",))
    assert_refused([0, -1, HUGE], ("records",))
    assert_refused(["", "Upper", "-first", ".first", "a b", "ä", "a" * 101, "a\n", 3, None], ("name",))
    domains = [(*part, "domain", 1) for part in (("label",), ("attributes", 0), MASKING)]
    assert_refused([3, None, True, "with \0 in it"], *domains)
    assert_refused([3, None, "with \0 in it"], ("title",), ("description",), ("license",))
    assert_refused(["public", 1, None, True, [], ["a"]], ("visibility",))
    assert_refused(["5", True, None, [], -1, 10**400], ("configurations", 0, "privacy", "k"))
    assert_refused(["text", "Integer", "", None, 1], ("attributes", 0, "type"))
    assert_refused([1, "true", 0], (*MASKING, "deterministic"))
    assert_refused([3, "text", []], *PARTS[1:])
    assert [entry_pointers(body) for body in ([], 3, "text", None)] == [[""]] * 4


IDENTIFIERS = [
    ("label", "name"),
    ("attributes", 0, "name"),
    (*MASKING, "id"),
    (*MASKING, "function", "name"),
    ("configurations", 0, "id"),
    ("keywords", 0),
]


def test_other_names_have_1_to_255_characters_and_no_control_characters():
    taken = [
        (path, name)
        for path in IDENTIFIERS
        for name in ["", "a" * 256, "a\nb", "\0", "\x7f", "\x85", 1, None, True, ["a"]]
        if "/" + "/".join(map(str, path)) not in entry_pointers(changed(path, name))
    ]
    assert taken == []


def test_the_tenants_of_a_visibility_are_names():
    told = [
        ({}, ["/visibility/tenants"]),
        ({"tenants": "a"}, ["/visibility/tenants"]),
        ({"tenants": ["a", 1, ""]}, ["/visibility/tenants/1", "/visibility/tenants/2"]),
        ({"tenants": ["a"], "users": []}, ["/visibility/users"]),
    ]
    assert [(visibility, entry_pointers(changed(("visibility",), visibility))) for visibility, _ in told] == told


def test_privacy_has_the_names_of_the_contract():
    privacy = {"k": 5, "l": 2, "t": 0.1, "epsilon": 1, "alpha": 0.5, "delta": 1e-6}
    assert entry_pointers(changed(("configurations", 0, "privacy"), privacy)) == ["/configurations/0/privacy/delta"]


def test_parameters_have_a_canonical_form():
    path = (*MASKING, "function", "parameters")
    told = [
        ({"a": [1, {"b/c": HUGE}]}, ["/a/1/b~1c"]),
        ({"~": -HUGE}, ["/~0"]),
        ({"text": "\0"}, ["/text"]),
        ([], [""]),
    ]
    root = "/" + "/".join(map(str, path))
    for parameters, ends in told:
        assert entry_pointers(changed(path, parameters)) == [root + end for end in ends]


def test_unknown_fields_are_refused_and_their_names_escaped():
    told = {part: entry_pointers(changed((*part, "rows/of~people"), [])) for part in PARTS}
    assert told == {part: ["".join(f"/{step}" for step in part) + "/rows~1of~0people"] for part in PARTS}


def test_what_is_required_is_missed():
    required = [
        ("format",),
        ("name",),
        ("records",),
        ("label",),
        ("label", "name"),
        ("label", "domain"),
        ("label", "histogram"),
        ("attributes",),
        ("attributes", 0, "name"),
        ("attributes", 0, "type"),
        ("attributes", 0, "domain"),
        (*MASKING, "id"),
        (*MASKING, "domain"),
        (*MASKING, "function", "name"),
        ("configurations", 0, "id"),
        ("configurations", 0, "maskings"),
    ]
    told = {path: entry_pointers(without(path)) for path in required}
    assert told == {path: ["".join(f"/{step}" for step in path)] for path in required}


def test_faults_of_several_parts_are_told_together():
    document = changed(("label", "histogram", 0), -1)
    document = changed((*MASKING, "joint", 1, 2), True, document)
    document = changed(("configurations", 0, "id"), "", document)
    document = changed(("records",), "100", document)
    assert entry_pointers(document) == [
        "/records",
        "/label/histogram/0",
        "/attributes/0/maskings/0/joint/1/2",
        "/configurations/0/id",
    ]


MANY = 5000


def test_of_very_many_faults_a_hundred_are_told():
    many = [
        (("configurations",), [{"id": "c", "maskings": 1}] * MANY, "/0/maskings", "/99/maskings"),
        (
            ("configurations",),
            [{"id": "c", "maskings": {}}] * 2500 + [{"id": ""}] * MANY,
            "/2500/id",
            "/2549/maskings",
        ),
        (("configurations", 0, "maskings"), {str(i): i for i in range(MANY)}, "/0", "/99"),
    ]
    for path, value, first, last in many:
        root = "".join(f"/{step}" for step in path)
        found = entry_pointers(changed(path, value))
        assert (len(found), found[0], found[-1]) == (100, root + first, root + last)


def test_very_many_unknown_fields_are_one_fault():
    label = {str(index): index for index in range(MANY)}
    assert entry_pointers(changed(("label",), label)) == ["/label"]


def test_very_many_configurations_keep_their_order():
    configurations = [{"id": f"c{index}", "maskings": {"age": "drop"}} for index in range(MANY)]
    _, entry = read_entry(json.dumps(changed(("configurations",), configurations)))
    assert [configuration.id for configuration in entry.configurations] == [c["id"] for c in configurations]


MEASURED = {"model": "gradient boosting", "auc": 0.634, "low": 0.627, "high": 0.64, "raw_auc": 0.75}


def test_a_measured_auc_lies_in_its_interval():
    for good in ({}, {"auc": 1, "high": 1}, {"low": 0.634, "high": 0.634}, {"raw_auc": 0.0}):
        _, entry = read_entry(json.dumps(changed(("configurations", 0, "measured"), MEASURED | good)))
        assert entry.configurations[0].measured.model_dump(exclude_unset=True) == MEASURED | good


def test_what_is_measured_of_a_number_needs_a_label_with_scores():
    scores = {"values": list(range(len(EXAMPLE_ENTRY["label"]["domain"])))}
    own = {
        "model": "ridge",
        "r2": 0.5,
        "low": 0.4,
        "high": 0.6,
        "raw_r2": 0.7,
        "rmse": {"value": 2, "low": 1, "high": 3},
    }
    scored = changed(("configurations", 0, "measured"), own) | {"format": 4}
    assert entry_pointers(scored) == ["/format", "/configurations/0/measured/r2"]
    _, entry = read_entry(json.dumps(scored | {"label": scored["label"] | {"scores": scores}}))
    assert entry.configurations[0].measured.model_dump(exclude_unset=True) == own


def test_a_measured_auc_that_cannot_be_is_refused():
    told = [
        ({"auc": 1.1, "high": 1.2}, ["/auc", "/high"]),
        ({"raw_auc": -0.1}, ["/raw_auc"]),
        ({"auc": 0.62}, [""]),
        ({"auc": 0.65}, [""]),
        ({"low": "0.6"}, ["/low"]),
        ({"low": None}, ["/low"]),
        ({"raw_auc": True}, ["/raw_auc"]),
        ({"raw_auc": None}, [""]),
        ({"raw_r2": 0.5}, [""]),
        ({"rmse": {"value": 2, "low": 1, "high": 3}}, [""]),
        ({"model": ""}, ["/model"]),
        ({"share": 0.5}, ["/share"]),
    ]
    for bad, where in told:
        found = entry_pointers(changed(("configurations", 0, "measured"), MEASURED | bad))
        assert found == [f"/configurations/0/measured{each}" for each in where], bad

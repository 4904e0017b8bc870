"""Every value of an entry must have the right type: nothing is converted, and each fault has its place."""

import json

import pytest

from aegis_sdk.wire import read_entry
from tests.sdk.wire.documents import changed, entry_pointers, without

MASKING = ("attributes", 0, "maskings", 0)
JOINT = "/attributes/0/maskings/0/joint"
HUGE = 2**53


@pytest.mark.parametrize("count", [True, 1.0, 1.5, "1", None, [], {}, -1, HUGE])
def test_what_is_no_count_is_refused_wherever_counts_stand(count):
    for path in [
        ("records",),
        ("label", "histogram", 2),
        ("attributes", 0, "histogram", 7),
        (*MASKING, "mapping", 3),
        (*MASKING, "joint", 1, 4),
    ]:
        assert entry_pointers(changed(path, count)) == ["/" + "/".join(map(str, path))]


@pytest.mark.parametrize("count", [True, 1.0, "1", -1, HUGE])
def test_suppressed_is_a_count_or_absent(count):
    assert entry_pointers(changed(("configurations", 0, "suppressed"), count)) == ["/configurations/0/suppressed"]


def test_an_attribute_may_have_unmasked_counts_and_they_are_counts():
    joint = [[1, 2, 3, 4, 5] for _ in range(8)]
    joint[6][1] = -1
    assert entry_pointers(changed(("attributes", 0, "joint"), joint)) == ["/attributes/0/joint/6/1"]


@pytest.mark.parametrize(
    ("joint", "expected"),
    [
        ({}, [JOINT]),
        ("12", [JOINT]),
        ([1, [1, 2, 3, 4, 5]], [f"{JOINT}/0"]),
        ([[1, 2, 3, 4, 5], None], [f"{JOINT}/1"]),
        ([[1, 2, 3, 4, 5], [1, 2, 3, 4]], [f"{JOINT}/1"]),
        ([[1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6]], [f"{JOINT}/1"]),
        ([[True, 2, -3, 4, 5], [1, 2, 3, 4, "5"]], [f"{JOINT}/0/0", f"{JOINT}/0/2", f"{JOINT}/1/4"]),
    ],
)
def test_every_fault_of_a_table_is_pointed_at(joint, expected):
    assert entry_pointers(changed((*MASKING, "joint"), joint)) == expected


def test_no_more_than_a_hundred_faults_are_told():
    joint = [[-1] * 5 for _ in range(500)]
    found = entry_pointers(changed((*MASKING, "joint"), joint))
    assert len(found) == 100
    assert found[-1] == f"{JOINT}/19/4"


@pytest.mark.parametrize("form", [True, 1.0, "1", 2, 0, None])
def test_the_format_is_the_integer_one(form):
    assert entry_pointers(changed(("format",), form)) == ["/format"]


@pytest.mark.parametrize("records", [0, -1, HUGE])
def test_there_is_at_least_one_record(records):
    assert entry_pointers(changed(("records",), records)) == ["/records"]


@pytest.mark.parametrize("name", ["", "Upper", "-first", ".first", "a b", "ä", "a" * 101, "a\n", 3, None])
def test_an_entry_name_keeps_to_its_alphabet(name):
    assert entry_pointers(changed(("name",), name)) == ["/name"]


IDENTIFIERS = [
    ("label", "name"),
    ("attributes", 0, "name"),
    (*MASKING, "id"),
    (*MASKING, "function", "name"),
    ("configurations", 0, "id"),
    ("keywords", 0),
]


@pytest.mark.parametrize("path", IDENTIFIERS)
@pytest.mark.parametrize("name", ["", "a" * 256, "a\nb", "\0", "\x7f", "\x85", 1, None, True, ["a"]])
def test_other_names_have_1_to_255_characters_and_no_control_characters(path, name):
    assert "/" + "/".join(map(str, path)) in entry_pointers(changed(path, name))


@pytest.mark.parametrize("path", [("label", "domain"), ("attributes", 0, "domain"), (*MASKING, "domain")])
@pytest.mark.parametrize("value", [3, None, True, "with \0 in it"])
def test_domain_values_are_text_without_nul(path, value):
    assert entry_pointers(changed((*path, 1), value)) == ["/" + "/".join(map(str, (*path, 1)))]


@pytest.mark.parametrize("path", [("title",), ("description",), ("license",)])
@pytest.mark.parametrize("value", [3, None, "with \0 in it"])
def test_texts_are_text_without_nul(path, value):
    assert entry_pointers(changed(path, value)) == ["/" + path[0]]


@pytest.mark.parametrize("visibility", ["public", 1, None, True, [], ["a"]])
def test_visibility_is_one_of_two_words_or_tenants(visibility):
    assert entry_pointers(changed(("visibility",), visibility)) == ["/visibility"]


@pytest.mark.parametrize(
    ("visibility", "expected"),
    [
        ({}, ["/visibility/tenants"]),
        ({"tenants": "a"}, ["/visibility/tenants"]),
        ({"tenants": ["a", 1, ""]}, ["/visibility/tenants/1", "/visibility/tenants/2"]),
        ({"tenants": ["a"], "users": []}, ["/visibility/users"]),
    ],
)
def test_the_tenants_of_a_visibility_are_names(visibility, expected):
    assert entry_pointers(changed(("visibility",), visibility)) == expected


@pytest.mark.parametrize("value", ["5", True, None, [], -1, 10**400])
def test_privacy_is_vouched_for_in_finite_numbers(value):
    document = changed(("configurations", 0, "privacy", "k"), value)
    assert entry_pointers(document) == ["/configurations/0/privacy/k"]


def test_privacy_has_the_names_of_the_contract():
    privacy = {"k": 5, "l": 2, "t": 0.1, "epsilon": 1, "alpha": 0.5, "delta": 1e-6}
    assert entry_pointers(changed(("configurations", 0, "privacy"), privacy)) == ["/configurations/0/privacy/delta"]


@pytest.mark.parametrize("kind", ["text", "Integer", "", None, 1])
def test_an_attribute_type_is_one_of_five(kind):
    assert entry_pointers(changed(("attributes", 0, "type"), kind)) == ["/attributes/0/type"]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"a": [1, {"b/c": HUGE}]}, "/a/1/b~1c"),
        ({"~": -HUGE}, "/~0"),
        ({"text": "\0"}, "/text"),
        ([], ""),
    ],
)
def test_parameters_have_a_canonical_form(parameters, expected):
    path = (*MASKING, "function", "parameters")
    assert entry_pointers(changed(path, parameters)) == ["/" + "/".join(map(str, path)) + expected]


@pytest.mark.parametrize("deterministic", [1, "true", 0])
def test_deterministic_is_a_boolean(deterministic):
    path = (*MASKING, "deterministic")
    assert entry_pointers(changed(path, deterministic)) == ["/attributes/0/maskings/0/deterministic"]


PARTS = [
    (),
    ("label",),
    ("attributes", 0),
    MASKING,
    (*MASKING, "function"),
    ("configurations", 0),
]


@pytest.mark.parametrize("part", PARTS)
def test_unknown_fields_are_refused_and_their_names_escaped(part):
    found = entry_pointers(changed((*part, "rows/of~people"), []))
    assert found == ["".join(f"/{step}" for step in part) + "/rows~1of~0people"]


@pytest.mark.parametrize("part", PARTS[1:])
@pytest.mark.parametrize("value", [3, "text", []])
def test_a_part_is_an_object(part, value):
    assert entry_pointers(changed(part, value)) == ["".join(f"/{step}" for step in part)]


@pytest.mark.parametrize("body", [[], 3, "text", None])
def test_an_entry_is_an_object(body):
    assert entry_pointers(body) == [""]


@pytest.mark.parametrize(
    "path",
    [
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
    ],
)
def test_what_is_required_is_missed(path):
    assert entry_pointers(without(path)) == ["".join(f"/{step}" for step in path)]


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


@pytest.mark.parametrize(
    ("path", "value", "first", "last"),
    [
        (("configurations",), [{"id": "c", "maskings": 1}] * MANY, "/0/maskings", "/99/maskings"),
        (
            ("configurations",),
            [{"id": "c", "maskings": {}}] * 2500 + [{"id": ""}] * MANY,
            "/2500/id",
            "/2549/maskings",
        ),
        (("configurations", 0, "maskings"), {str(i): i for i in range(MANY)}, "/0", "/99"),
    ],
    ids=["list", "later in the list", "object"],
)
def test_of_very_many_faults_a_hundred_are_told(path, value, first, last):
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


@pytest.mark.parametrize("good", [{}, {"auc": 1, "high": 1}, {"low": 0.634, "high": 0.634}, {"raw_auc": 0.0}])
def test_a_measured_auc_lies_in_its_interval(good):
    _, entry = read_entry(json.dumps(changed(("configurations", 0, "measured"), MEASURED | good)))
    assert entry.configurations[0].measured.model_dump() == MEASURED | good


@pytest.mark.parametrize(
    ("bad", "where"),
    [
        ({"auc": 1.1, "high": 1.2}, ["/auc", "/high"]),
        ({"raw_auc": -0.1}, ["/raw_auc"]),
        ({"auc": 0.62}, [""]),
        ({"auc": 0.65}, [""]),
        ({"low": "0.6"}, ["/low"]),
        ({"low": None}, ["/low"]),
        ({"raw_auc": True}, ["/raw_auc"]),
        ({"model": ""}, ["/model"]),
        ({"share": 0.5}, ["/share"]),
    ],
)
def test_a_measured_auc_that_cannot_be_is_refused(bad, where):
    found = entry_pointers(changed(("configurations", 0, "measured"), MEASURED | bad))
    assert found == [f"/configurations/0/measured{each}" for each in where]

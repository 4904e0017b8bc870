"""The Data Package of a masked table: what it says of the file, of values that may be missing, and of the entry."""

from hashlib import sha256

import pytest

from aegis_sdk.reading import Packaged, columns_of, data_package, entry_in_package, package_of, with_file
from tests.for_each import for_each


def column(name, kind, domain, *maskings):
    return {"name": name, "type": kind, "domain": domain, "maskings": list(maskings)}


SCHEMA = {
    "label": {"name": "y", "domain": ["a", "b"]},
    "attributes": [
        column("n", "integer", ["1", "2"]),
        column("zip", "integer", ["007", "1"]),
        column("kilos", "number", ["1.5", "2"], {"id": "r", "domain": ["0", "5"], "mapping": [0, 1]}),
        column("gone", "string", ["x"], {"id": "s", "domain": ["*"], "mapping": [0]}),
        column("=sum", "string", ["=1+1", "b"]),
        column("few", "string", ["", "b"]),
        column("rare", "string", ["b", "c or others"]),
        column("yes", "boolean", ["0", "yes"]),
        column("true", "boolean", ["false", "true"]),
    ],
    "configurations": [
        {"id": "c", "maskings": {"n": "identity", "zip": "identity", "kilos": "r", "gone": "s", "=sum": "identity",
                                 "few": "identity", "rare": "identity", "yes": "identity", "true": "identity"}},
        {"id": "g", "kind": "generated"},
    ],
}  # fmt: skip
HEADER = "y,n,zip,kilos,gone,=sum,few,rare,yes,true"
ENTRY = entry_in_package("e", "id", 3, "sha256:0")


def described(path, text, configuration="c", delimiter=None, **about):
    path.write_text(text, encoding="utf-8")
    table = Packaged("t", configuration, ENTRY, **about)
    package = package_of(path, path.name, sha256(text.encode()).hexdigest(), SCHEMA, table, delimiter)
    return package.model_dump(exclude_unset=True)


def fields_of(package):
    return {each["name"]: each for each in package["resources"][0]["schema"]["fields"]}


def test_required_are_the_columns_in_which_nothing_can_be_missing(tmp_path):
    whole = fields_of(described(tmp_path / "t.csv", f"{HEADER}\n", may_have_stars=False))
    required = {name for name, field in whole.items() if field.get("constraints", {}).get("required")}
    assert required == {"y", "n", "zip", "kilos", "gone", "=sum", "yes", "true"}
    starred = fields_of(described(tmp_path / "t.csv", f"{HEADER}\n"))
    assert {name for name, each in starred.items() if each.get("constraints", {}).get("required")} == {"gone"}
    assert {name for name, each in whole.items() if each.get("missingValues") == [""]} == {"gone"}


def test_types_are_those_that_readers_can_read(tmp_path):
    said = fields_of(described(tmp_path / "t.csv", f"{HEADER}\n"))
    assert {name: said[name]["type"] for name in ("n", "zip", "kilos", "yes")} == {
        "n": "integer", "zip": "number", "kilos": "string", "yes": "boolean",
    }  # fmt: skip
    assert (said["yes"]["trueValues"], said["yes"]["falseValues"]) == (["yes"], ["0"])
    assert "trueValues" not in said["true"]
    assert [each["midpoint"] for each in said["kilos"]["aegis:intervals"]] == [0, 5]


def test_values_are_not_listed_if_the_file_may_have_others(tmp_path):
    said = fields_of(described(tmp_path / "t.csv", f"{HEADER}\n"))
    listed = {name for name, field in said.items() if "enum" in field.get("constraints", {})}
    assert listed == {*said} - {"=sum", "rare"}  # the first may have an apostrophe, the second is not listed singly


@for_each("mark", [",", ";", "\t", "|", "~"])
def test_fields_have_the_order_and_the_names_of_the_header(mark, tmp_path):
    names = ["'=sum", *(name for name in HEADER.split(",") if name != "=sum")]
    package = described(tmp_path / "t.csv", f"{mark.join(names)}\n", delimiter="~" if mark == "~" else None)
    assert list(fields_of(package)) == names
    [resource] = package["resources"]
    assert resource.get("dialect", {"delimiter": ","}) == {"delimiter": mark}
    assert (resource["schema"]["fieldsMatch"], resource["encoding"]) == ("equal", "utf-8")


def test_a_column_that_the_file_lacks_stays_so_that_it_is_missed(tmp_path):
    assert set(fields_of(described(tmp_path / "t.csv", "y,n,unknown\n"))) == set(HEADER.split(","))
    with pytest.raises(ValueError, match="has no header"):
        described(tmp_path / "empty.csv", "")


def test_a_generated_table_has_types_and_no_values(tmp_path):
    package = described(tmp_path / "g.csv", "y,n\n", "g")
    assert fields_of(package) == {"y": {"name": "y", "type": "string"}, "n": {"name": "n", "type": "integer"}}
    [resource] = described(tmp_path / "g.parquet", "", "g")["resources"]
    assert (resource["schema"]["fieldsMatch"], resource["format"]) == ("superset", "parquet")
    assert not {"encoding", "dialect", "bytes"} & set(resource)


def test_the_file_is_described_by_its_size_and_digest(tmp_path):
    text = f"{HEADER}\n"
    [resource] = described(tmp_path / "My table.csv", text)["resources"]
    assert (resource["bytes"], resource["hash"]) == (len(text), f"sha256:{sha256(text.encode()).hexdigest()}")
    assert (resource["name"], resource["path"]) == ("my-table", "My table.csv")
    plain = data_package(columns_of(SCHEMA, "c"), Packaged("t", "c", ENTRY), "preview.csv")
    [fixed] = with_file(plain, b"abc").model_dump(exclude_unset=True)["resources"]
    assert (fixed["bytes"], fixed["hash"][:14]) == (3, "sha256:ba7816b")
    assert "hash" not in plain.model_dump(exclude_unset=True)["resources"][0]


def test_the_package_names_entry_privacy_and_licence_as_far_as_they_are_known(tmp_path):
    about = described(tmp_path / "t.csv", f"{HEADER}\n", privacy={"k": 5}, unit="person", license="CC0-1.0")
    told = {name: about[name] for name in ("aegis:entry", "aegis:privacy", "aegis:unit", "licenses", "aegis:made_up")}
    assert told == {
        "aegis:entry": {"name": "e", "id": "id", "version": 3, "digest": "sha256:0"},
        "aegis:privacy": {"k": 5},
        "aegis:unit": "person",
        "licenses": [{"name": "CC0-1.0"}],
        "aegis:made_up": False,
    }
    bare = described(tmp_path / "t.csv", f"{HEADER}\n")
    assert not {"aegis:privacy", "aegis:unit", "licenses"} & set(bare)
    for stated, said in {
        "https://x.example/l": {"path": "https://x.example/l"},
        "public domain": {"name": "other", "title": "public domain"},
    }.items():
        assert described(tmp_path / "t.csv", f"{HEADER}\n", license=stated)["licenses"] == [said]

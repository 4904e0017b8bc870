"""Data Packages of masked tables, as frictionless judges them."""

from tests.standards.judging import judged


def errors(package):
    return judged("frictionless_errors.py", package)


def previewed(aegis, head, folder):
    code, _, said = aegis("entries", "preview", head.id, "--configuration", "tens", "--to", folder)
    assert (code, said) == (0, "")
    return folder / "datapackage.json"


def test_a_preview_is_valid(aegis, head, tmp_path):
    assert errors(previewed(aegis, head, tmp_path / "look")) == []


def test_a_foreign_value_is_refused(aegis, head, tmp_path):
    package = previewed(aegis, head, tmp_path / "look")
    table = package.with_name("preview.csv")
    table.write_text(table.read_text().replace("20-39", "21-39"))
    assert {kind for kind, _ in errors(package)} == {"constraint-error"}

"""`aegis fidelity` as people run it: a line, tables, a page, JSON, and what contradicts itself."""

import json

import pyarrow.csv as arrow_csv
import pytest

from tests.provider.released_tables import made


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fidelity-command")
    for name, fresh in (("people", None), ("release", 7)):
        arrow_csv.write_csv(made(600, 0, fresh=fresh), folder / f"{name}.csv")
    return folder


def test_it_says_in_one_line_what_models_keep_and_draws_a_page(aegis, files):
    page = files / "fidelity.html"
    code, out, err = aegis(
        "fidelity", files / "release.csv", "--against", files / "people.csv", "--label", "sick", "--html", page
    )
    assert (code, err) == (0, "")
    first, *_ = out.splitlines()
    assert first.startswith("A model trained on the release keeps ")
    assert "records that the release never saw" in first
    for words in ("logistic regression", "random forest", "gradient boosting", "Fréchet distance", "aegis risk"):
        assert words in out
    html = page.read_text()
    assert html.count("<svg") == 2
    assert "by t-SNE" in html


def test_json_has_every_number_and_no_points(aegis, files):
    arguments = ("fidelity", files / "release.csv", "--against", files / "people.csv", "--label", "sick", "--json")
    code, out, _ = aegis(*arguments)
    told = json.loads(out)
    assert (code, "embedding" in told) == (0, False)
    assert {each["model"] for each in told["models"]} == {"logistic regression", "random forest", "gradient boosting"}
    assert set(told["frechet_distance"]) == {"released", "real", "shuffled"}
    assert aegis(*arguments)[1] == out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "which column should models predict? give --plan, or name it with --label"),
        (["--label", "sick", "--configuration", "c1"], "--configuration names a configuration of a plan"),
        (["--label", "sik"], "no column 'sik'"),
    ],
)
def test_what_is_missing_or_contradictory_is_one_line(aegis, files, options, message):
    code, out, err = aegis("fidelity", files / "release.csv", "--against", files / "people.csv", *options)
    assert (code != 0, out, err.count("\n")) == (True, "", 1)
    assert message in err

"""`aegis disclose --plot` as people run it; `provider/report/test_figures.py` tests the figures themselves."""

import json

import pytest

from aegis_sdk.cli import main
from aegis_sdk.wire import EXAMPLE_ADVICE, EXAMPLE_COARSE_ADVICE, EXAMPLE_ENTRY
from tests.for_each import for_each

RANKED = {"configuration": "c01", "utility": 0.4, "deviation": 0.0}


@pytest.fixture
def aegis(capsys, tmp_path, monkeypatch):
    """Run the command in a directory with an entry and an advice; return its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    advice = {**EXAMPLE_ADVICE, "configuration": "c01", "ranking": [RANKED]}
    (tmp_path / "entry.json").write_text(json.dumps(EXAMPLE_ENTRY))
    (tmp_path / "advice.json").write_text(json.dumps(advice))
    (tmp_path / "coarse.json").write_text(json.dumps(EXAMPLE_COARSE_ADVICE))
    (tmp_path / "queued.json").write_text(json.dumps({**advice, "status": "queued"}))
    (tmp_path / "other.json").write_text(json.dumps({**advice, "ranking": [RANKED | {"configuration": "c99"}]}))
    (tmp_path / "none.json").write_text("{}")
    (tmp_path / "broken.json").write_text("{")

    def run(*arguments):
        with pytest.raises(SystemExit) as exited:
            main(["disclose", "entry.json", *arguments])
        printed = capsys.readouterr()
        return exited.value.code, printed.out, printed.err

    return run


@for_each(
    ("arguments", "figures"),
    [
        (("--plot", "p.html", "--advice", "advice.json"), ["frontier", "costs", "lattice"]),
        (("--plot", "p.html"), ["lattice"]),
        (("--plot", "p.svg"), ["lattice"]),
        (("--plot", "p.svg", "--advice", "advice.json"), ["frontier"]),
        (("--plot", "p.SVG", "--advice", "advice.json", "--figure", "costs", "--attribute", "age"), ["costs"]),
        (("--plot", "p.svg", "--advice", "advice.json", "--figure", "lattice"), ["lattice"]),
    ],
)
def test_it_says_what_it_drew(aegis, tmp_path, arguments, figures):
    code, out, error = aegis(*arguments, "--json")
    assert (code, error) == (0, "")
    assert json.loads(out) == {"output": arguments[1], "figures": figures}
    start = b"<!DOCTYPE html>" if arguments[1].endswith("html") else b"<svg "
    assert (tmp_path / arguments[1]).read_bytes().startswith(start)


def test_without_json_it_says_nothing(aegis):
    assert aegis("--plot", "p.svg") == (0, "", "")
    assert aegis("--plot", "p.html", "--advice", "advice.json") == (0, "", "")


@for_each(
    ("arguments", "told"),
    [
        (("--plot", "p.png"), "p.png: not an .svg or .html file"),
        (("--plot", "p.html", "--figure", "costs"), "--figure is for .svg files only"),
        (("--plot", "p.svg", "--figure", "frontier"), "`aegis advise ENTRY_ID --limit 10000 --json > advice.json`"),
        (("--plot", "p.svg", "--figure", "pie"), "'pie'"),
        (("--plot", "p.svg", "--attribute", "Age"), "entry.json: no attribute 'Age'; did you mean 'age'?"),
        (("--plot", "p.svg", "--advice", "advice.json", "--privacy", "K"), "--privacy must be one of k, l, "),
        (("--plot", "p.svg", "--advice", "advice.json", "--privacy", "t"), "advice.json: no configuration"),
        (("--plot", "p.svg", "--advice", "queued.json"), "queued.json: the advice is queued"),
        (("--plot", "p.svg", "--advice", "coarse.json"), "coarse.json: the advice is coarse"),
        (("--plot", "p.svg", "--advice", "other.json"), "other.json: the advice ranks 'c99'"),
        (("--plot", "p.html", "--advice", "other.json"), "other.json: the advice ranks 'c99'"),
        (("--plot", "p.svg", "--advice", "none.json"), "none.json: /id: "),
        (("--plot", "p.svg", "--advice", "broken.json"), "broken.json: not JSON"),
        (("--plot", "p.svg", "--advice", "away.json"), "away.json: cannot be read"),
        (("--plot", "no/p.svg"), "no/p.svg: there is no directory no"),
    ],
)
def test_bad_input_is_one_line_and_code_2(aegis, tmp_path, arguments, told):
    before = set(tmp_path.iterdir())
    code, out, error = aegis(*arguments)
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert told in error
    assert set(tmp_path.iterdir()) == before

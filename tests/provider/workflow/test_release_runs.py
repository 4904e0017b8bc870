"""Runs of a release: from all kinds of tables, again, stopped, and refused."""

import json
import subprocess
import sys
from contextlib import contextmanager

import duckdb
import pytest

from aegis_provider.errors import NothingHoldsError, OutputError, PlanError, TableError
from aegis_provider.workflow import release
from tests.for_each import for_each
from tests.provider.workflow.releases import FILES, HOURS, rows_of

STAGES = (
    "looking at the columns",
    "searching the maskings",
    "counting",
    "ranking the configurations",
    "masking records",
    "judging what the counts give away",
    "measuring privacy",
    "training models",
)


@pytest.mark.long
def test_a_stopped_run_goes_on_and_ends_like_an_undisturbed_one(released, people, tmp_path):
    taken = []
    for stop in STAGES[1:]:
        stages = []

        @contextmanager
        def stage(name, stop=stop, stages=stages):
            stages.append(name)
            if name == stop:
                raise KeyboardInterrupt
            yield lambda _done, _all: None

        with pytest.raises(KeyboardInterrupt):
            release(people, "ill", output=tmp_path / "r", require={"k": 5, "l": 2}, seconds=HOURS, stage=stage)
        taken.append(stages)
        assert not list((tmp_path / "r").glob(".*.part"))
    assert [stages.count(stop) for stages, stop in zip(taken, STAGES[1:], strict=True)] == [1] * len(taken)
    assert not any(name in stages for stages in taken[2:] for name in STAGES[1:2])  # not searched again
    resumed = release(people, "ill", output=tmp_path / "r", require={"k": 5, "l": 2}, seconds=HOURS)
    for name in ("plan.yaml", "configurations.yaml"):
        assert (resumed.folder / name).read_bytes() == (released.folder / name).read_bytes()
    assert {each.name for each in resumed.folder.iterdir()} == FILES | {".aegis-release.json"}
    assert resumed.card.passed


@pytest.mark.long
def test_without_the_models_there_is_a_release_and_the_reason(people, tmp_path):
    hidden = "import sys; sys.modules['sklearn'] = None; from aegis_sdk.cli import main; main(sys.argv[1:])"
    arguments = ("release", people, "--label", "ill", "--output", tmp_path / "r", "--seconds", HOURS)
    command = [sys.executable, "-c", hidden, *map(str, arguments)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert any(line.endswith(" of what the table tells about ill") for line in ran.stdout.splitlines())
    assert "not finished: no models were trained: sklearn" in ran.stdout
    card = json.loads((tmp_path / "r" / "card.json").read_text())
    assert (card["measured"], card["check"]) == ([], "")


@pytest.mark.long
def test_an_edited_plan_is_kept_and_used(people, tmp_path):
    first = release(people, "ill", output=str(tmp_path / "r"), seconds=HOURS)
    plan = first.folder / "plan.yaml"
    edited = plan.read_text().replace("    type: integer\n", "    type: integer\n    default: drop\n    # mine\n", 1)
    plan.write_text(edited)
    again = release(people, "ill", output=tmp_path / "r", seconds=HOURS)
    assert plan.read_text() == edited
    assert "age" not in rows_of(again.folder / "masked.csv")[0]


@pytest.mark.long
def test_a_changed_table_is_released_anew(people, tmp_path):
    table = tmp_path / "people.csv"
    table.write_text(people.read_text())
    release(table, "ill", output=tmp_path / "r", seconds=HOURS)
    table.write_text("\n".join(people.read_text().splitlines()[:801]) + "\n")
    assert len(rows_of(tmp_path / "r" / "masked.csv")) > 1150
    again = release(table, "ill", output=tmp_path / "r", seconds=HOURS)
    applied = again.findings.masked.applied
    assert applied.records + applied.suppressed + applied.held_back == 800


@pytest.mark.long
def test_another_table_is_refused_in_the_folder_of_a_release(people, tmp_path):
    release(people, "ill", output=tmp_path / "r", seconds=1)
    there = {each.name: each.read_bytes() for each in (tmp_path / "r").iterdir()}
    other = tmp_path / "other.csv"
    other.write_text(people.read_text().replace("yes", "no", 1))
    with pytest.raises(OutputError, match=f"has the release of {people.resolve()}; name another folder for {other}"):
        release(other, "ill", output=tmp_path / "r", seconds=1)
    assert {each.name: each.read_bytes() for each in (tmp_path / "r").iterdir()} == there
    moved = tmp_path / "moved.csv"
    moved.write_bytes(people.read_bytes())
    assert release(moved, "ill", name="people", output=tmp_path / "r", seconds=1).card.table == "moved.csv"


@pytest.mark.long
def test_the_masked_table_has_its_columns_whatever_separates_them(people, tmp_path):
    """It was one column, named by all of them, where the table had semicolons; or an error if a field had a comma."""
    table = tmp_path / "people.csv"
    table.write_text(people.read_text().replace(",", ";"))
    released = release(table, "ill", output=tmp_path / "r", seconds=HOURS)
    assert released.table.column_names == (released.folder / "masked.csv").read_text().splitlines()[0].split(";")
    assert released.table.num_rows == released.card.records
    assert "ill" in released.table.column_names


@pytest.mark.long
def test_a_data_frame_becomes_a_data_frame(people):
    pandas = pytest.importorskip("pandas")
    released = release(pandas.read_csv(people), label="ill", require={"k": 5}, seconds=HOURS)
    assert isinstance(released.table, pandas.DataFrame)
    assert len(released.table) == released.card.records
    assert released.frontier[0].configuration is not None
    assert released.entry.records > 0
    folder = released.folder
    released.temporary.cleanup()
    assert not folder.exists()


@pytest.mark.long
@for_each("kind", ["parquet", "glob", "database", "semicolons"])
def test_the_command_releases_all_that_can_be_summarised(aegis, people, tmp_path, kind):
    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM read_csv($1)", [str(people)])
        connection.execute(f"COPY people TO '{tmp_path / 'a.parquet'}'")
        connection.execute(f"COPY people TO '{tmp_path / 'a.csv'}' (DELIMITER ';', HEADER)")
    table = {
        "parquet": tmp_path / "a.parquet",
        "glob": f"{tmp_path}/*.parquet",
        "database": f"duckdb://{tmp_path}/people.duckdb#people",
        "semicolons": tmp_path / "a.csv",
    }[kind]
    options = ("--label", "ill", "--output", tmp_path / "r", "--seconds", HOURS, "--accept-composition")
    code, out, error = aegis("release", table, *options)
    assert (code, error) == (0, "")
    chosen = json.loads((tmp_path / "r" / "card.json").read_text())["configuration"]
    assert any(line.startswith(f"{chosen} keeps ") for line in out.splitlines())
    separator = ";" if kind == "semicolons" else ","
    assert f"{separator}ill\n" in (tmp_path / "r" / "masked.csv").read_text()


@pytest.mark.long
@for_each(
    ("label", "require", "error", "message"),
    [
        ("il", {"k": 5}, TableError, "ill"),
        ("ill", {"k": 5000}, NothingHoldsError, "k"),
        ("ill", {"q": 5}, PlanError, "q"),
        ("ill", {}, PlanError, "nothing is required"),
    ],
)
def test_bad_input_is_said_in_one_line(people, tmp_path, label, require, error, message):
    with pytest.raises(error, match=message) as raised:
        release(people, label, output=tmp_path / "r", require=require, seconds=HOURS)
    assert "\n" not in str(raised.value)
    assert {each.name for each in (tmp_path / "r").glob("*")} <= {"plan.yaml"}
    assert (tmp_path / "r").exists() == (error is NothingHoldsError)  # no folder without a plan


def test_a_folder_of_other_files_is_refused_before_any_work(people, tmp_path):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(OutputError, match="other origin"):
        release(people, "ill", output=tmp_path, seconds=HOURS)
    assert {each.name for each in tmp_path.iterdir()} == {"notes.txt"}


def test_what_only_a_draft_heeds_is_refused_beside_a_plan(people, tmp_path):
    (tmp_path / "plan.yaml").write_text("label: ill\nattributes: {age: {}}\n")
    with pytest.raises(PlanError, match="plan that is given says how columns are read; write it there, without fold_"):
        release(people, "ill", plan=tmp_path / "plan.yaml", output=tmp_path / "r", fold_case=True)


@pytest.mark.long
def test_a_run_goes_on_with_what_its_draft_heeded_and_with_nothing_else(people, tmp_path):
    for _ in range(2):
        folder = release(people, "ill", output=tmp_path / "r", seconds=0, fold_case=True).folder
    before = {each.name: each.read_bytes() for each in folder.iterdir()}
    for further in ({"odd_as_missing": True}, {"fold_case": True, "index": True}):
        with pytest.raises(PlanError, match="plan that is there already says how columns are read; write it there"):
            release(people, "ill", output=folder, seconds=0, **further)
    assert {each.name: each.read_bytes() for each in folder.iterdir()} == before


@pytest.mark.long
@pytest.mark.processes
def test_a_release_loads_neither_synthetic_tables_nor_exact_independence(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("kind,ill\n" + "a,yes\nb,no\nb,yes\n" * 40)
    run = (
        "import sys; from aegis_sdk.cli import main\n"
        f"try: main(['release', {str(table)!r}, '--label', 'ill', '--output', {str(tmp_path / 'r')!r}])\n"
        "finally: loaded = {'aegis_provider.synth', 'aegis_provider.independence'} & set(sys.modules)\n"
        "assert not loaded, loaded"
    )
    ran = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "r" / "card.json").exists()

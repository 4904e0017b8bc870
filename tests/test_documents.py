"""The documents are true: their commands run and print what the documents show."""

import json
import pkgutil
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
import yaml

from aegis_advisor.measures import MEASURES
from aegis_provider import load_plan
from aegis_provider.masking.microaggregate import Microaggregated
from aegis_provider.masking.numbers import FittedBuckets
from aegis_sdk import Client
from aegis_sdk.cli.main import command_group
from aegis_sdk.wire import (
    EXAMPLE_ADVICE_REQUEST,
    EXAMPLE_DRAWN_MASKING,
    EXAMPLE_ENTRY,
    EXAMPLE_GENERATED,
    EXAMPLE_HOLDOUT,
    EXAMPLE_NOISY_MASKING,
    EXAMPLE_PAIR,
    Deliver,
    Dispute,
    Lease,
)
from app.cli.commands import cli
from app.platform.http.refusals import STATUS
from app.settings import Settings
from app.tables import Base
from docs.generate import ROOT, abridged, blocks, documents, essence, run, running_service, steps
from tests.provider.masking.functions import concrete_functions

DOCUMENTS = documents()
CODE = ("app", "advisor", "sdk", "provider", "tests", "bench", "research", "examples", "docs", "migrations")
#: In a decision: one page.
MOST_WORDS = 350
COMMANDS = {
    "aegis": command_group(),
    "aegis-server": cli,
}
#: Options that every command has, and those of `pg_restore`.
OTHER_OPTIONS = {"--help", "--no-privileges"}
#: What reads settings of `aegis`.
CLIENT_SETTINGS = (
    "sdk/src/aegis_sdk/_client.py",
    "sdk/src/aegis_sdk/cli/terminal.py",
    "provider/src/aegis_provider/cli/options.py",
)
#: Errors of the framework, and the answer to a defect: they have no exception class.
UNCLASSED = {(405, "method_not_allowed"), (500, "internal")}


def text_of(document: Path) -> str:
    return document.read_text(encoding="utf-8")


def name_of(document: Path) -> str:
    return str(document.relative_to(ROOT))


def rows(text: str, first: str) -> Iterator[list[str]]:
    """Yield the cells of table rows whose first cell matches."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) > 1 and re.fullmatch(first, cells[0]):
            yield cells


def code_of(text: str) -> str:
    """Return the text in fenced blocks and between backticks."""
    fenced = re.findall(r"^```.*?\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    return "\n".join([*fenced, *inline])


def faults(found: Callable[[Path], Iterable[str]], places: Iterable[Path] = DOCUMENTS) -> dict[str, list[str]]:
    """What is found to be wrong, by document."""
    return {name_of(place): wrong for place in places if (wrong := list(found(place)))}


@pytest.fixture(scope="module")
def service() -> Iterator[tuple[Path, str]]:
    with running_service() as place_and_address:
        yield place_and_address


@pytest.mark.long
@pytest.mark.parametrize("document", [d for d in DOCUMENTS if steps(text_of(d).splitlines())], ids=name_of)
def test_the_commands_print_what_the_document_says(service, document):
    lines = text_of(document).splitlines()
    taken = steps(lines)
    if any("curl " in step.command for step in taken) and shutil.which("curl") is None:
        pytest.skip("this machine has no curl")
    for step, printed in zip(taken, run(taken, *service), strict=True):
        said = lines[step.start : step.stop]
        assert essence(abridged(printed, said)) == essence(said), f"{step.command}\n(make docs updates the document)"


def test_links_lead_somewhere():
    def dead(document):
        for target in re.findall(r"\]\((?!https?:)([^)]+)\)", text_of(document)):
            place, _, anchor = target.partition("#")
            linked = (document.parent / place).resolve() if place else document
            headings = re.findall(r"^#+ (.*)$", text_of(linked), re.MULTILINE) if anchor and linked.exists() else []
            slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            if not linked.exists() or (anchor and anchor not in slugs):
                yield target

    assert faults(dead) == {}


def test_paths_of_the_repository_exist():
    folders = "advisor|app|sdk|provider|tests|docs|examples|migrations|bench|research|openapi"
    path = re.compile(rf"`((?:{folders})/[\w./-]+)`")
    assert faults(lambda document: (one for one in path.findall(text_of(document)) if not (ROOT / one).exists())) == {}


def test_ends_of_paths_are_ends_of_paths():
    tracked = [f"/{path.relative_to(ROOT).as_posix()}" for folder in CODE for path in (ROOT / folder).rglob("*.py")]

    def dead(document):
        ends = re.findall(r"`([\w./-]+/\w+\.py)`", text_of(document))
        return sorted({end for end in ends if not any(path.endswith(f"/{end}") for path in tracked)})

    assert faults(dead, of_today()) == {}


def test_our_commands_and_their_options_exist():
    def unknown(document):
        code = code_of(text_of(document))
        for program, arguments in re.findall(r"(?<![\w/.-])(aegis-server|aegis) ([a-z][^|;>)`\n]*)", code):
            command, words = COMMANDS[program], arguments.split()
            while words and command is not None and hasattr(command, "list_commands"):
                command = command.get_command(None, words.pop(0))
            options = (each for one in getattr(command, "params", ()) for each in (*one.opts, *one.secondary_opts))
            if command is None or not {word for word in words if word.startswith("--")} <= {"--help", *options}:
                yield f"{program} {arguments}"

    assert faults(unknown) == {}


def of_today() -> list[Path]:
    """The documents that name nothing that is gone."""
    past = {ROOT / "CHANGELOG.md", *(ROOT / "docs/decisions").glob("*.md")}
    return [document for document in DOCUMENTS if document not in past]


def test_options_in_prose_exist():
    def options_of(command):
        yield from (each for one in getattr(command, "params", ()) for each in (*one.opts, *one.secondary_opts))
        for name in command.list_commands(None) if hasattr(command, "list_commands") else ():
            yield from options_of(command.get_command(None, name))

    known = {option for command in COMMANDS.values() for option in options_of(command)} | OTHER_OPTIONS

    def unknown(document):
        prose = re.sub(r"^```.*?^```", "", text_of(document), flags=re.MULTILINE | re.DOTALL)
        return sorted(set(re.findall(r"`(--[a-z][a-z-]*)[^`]*`", prose)) - known)

    assert faults(unknown, of_today()) == {}


@pytest.mark.long
def test_names_in_our_packages_exist():
    def unknown(document):
        for name in sorted(set(re.findall(r"\baegis_(?:advisor|provider|sdk)(?:\.[a-z_]+)+", text_of(document)))):
            try:
                pkgutil.resolve_name(name)
            except (ImportError, AttributeError):
                yield name

    assert faults(unknown, of_today()) == {}


def test_our_make_targets_exist():
    targets = set(re.findall(r"^([a-z-]+):", text_of(ROOT / "Makefile"), re.MULTILINE))
    made = re.compile(r"^(?:\$ )?make ([a-z-]+)", re.MULTILINE)
    assert faults(lambda document: set(made.findall(code_of(text_of(document)))) - targets) == {}


def test_no_path_of_some_machine_is_in_a_document():
    path = re.compile(r"(?<![\w.])/(?:work|tmp|root|home|Users)/\w+")
    assert faults(lambda document: path.findall(text_of(document))) == {}


def test_works_that_are_cited_are_in_the_references():
    known = set(re.findall(r"^@\w+\{(\w+),", text_of(ROOT / "docs/references.bib"), re.MULTILINE))

    def unknown(document):
        cited = re.findall(r"\[(@[^\]]+)\]", text_of(document))
        return {key for citation in cited for key in re.findall(r"@(\w+)", citation)} - known

    assert faults(unknown) == {}


def as_text(default):
    """A default as people write it in an environment variable."""
    if isinstance(default, dict):
        return ",".join(f"{name}={number}" for name, number in default.items())
    return "none" if default is None else str(default)


def options_of(command) -> set[str]:
    """All options of a command, or of those of a group."""
    if hasattr(command, "list_commands"):
        parts = (command.get_command(None, name) for name in command.list_commands(None))
        return {option for part in parts for option in options_of(part)}
    return {option for one in command.params for option in (*one.opts, *one.secondary_opts)}


def test_options_that_the_reference_names_exist():
    places = [ROOT / name / "README.md" for name in ("provider", "sdk")]
    known = options_of(COMMANDS["aegis"]) | {"--help", "--version"}
    assert faults(lambda place: set(re.findall(r"`(--[a-z][a-z-]+)", text_of(place))) - known, places) == {}


def settings_in(name: str) -> dict[str, str]:
    """The settings that a document lists, with their defaults."""
    return {cells[0].strip("`"): cells[1].strip("`") for cells in rows(text_of(ROOT / name), r"`AEGIS_\w+`")}


def test_the_settings_are_those_there_are():
    said = settings_in("docs/operations.md")
    fields = {f"AEGIS_{name.upper()}": field.default for name, field in Settings.model_fields.items()}
    assert {name: said[name] for name in fields} == {name: as_text(default) for name, default in fields.items()}
    loaded = map(cli.get_command, [None] * len(cli.list_commands(None)), cli.list_commands(None))
    options = {option.envvar for command in loaded for option in command.params}
    client = {name for place in CLIENT_SETTINGS for name in re.findall(r'"(AEGIS_\w+)"', text_of(ROOT / place))}
    composed = set(re.findall(r"\$\{(AEGIS_\w+)", text_of(ROOT / "docker-compose.yml")))
    assert set(said) == {*fields, *filter(None, options), *client, *composed}


def test_the_first_page_shows_few_settings_and_says_of_them_what_the_operators_page_says():
    shown = settings_in("README.md")
    assert len(shown) <= 15
    assert shown.items() <= settings_in("docs/operations.md").items()


def test_the_errors_are_those_there_are():
    said = {(int(cells[0]), cells[1].strip("`")) for cells in rows(text_of(ROOT / "docs/api.md"), r"\d{3}")}
    refused = {(status, kind.code) for kind, (status, _) in STATUS.items()}
    sources = "".join(text_of(path) for path in (ROOT / "app").rglob("*.py"))
    refused |= {(422, code) for code in re.findall(r'\bcode="(\w+)"', sources)}
    assert said == refused | UNCLASSED


def test_the_examples_of_the_api_are_those_of_the_contract():
    lines = text_of(ROOT / "docs/api.md").splitlines()
    shown = [json.loads("\n".join(lines[b.start : b.stop])) for b in blocks(lines) if b.info == "json"]
    examples = [EXAMPLE_ENTRY, EXAMPLE_NOISY_MASKING, EXAMPLE_DRAWN_MASKING, EXAMPLE_PAIR]
    assert shown == [*examples, EXAMPLE_ADVICE_REQUEST]


def test_the_examples_of_generated_tables_are_those_of_the_contract():
    lines = text_of(ROOT / "docs/api.md").splitlines()
    shown = [json.loads("\n".join(lines[b.start : b.stop])) for b in blocks(lines) if b.info == "json generated"]
    assert shown == [EXAMPLE_GENERATED, EXAMPLE_HOLDOUT]


def test_the_examples_of_deliveries_are_those_of_the_contract():
    lines = text_of(ROOT / "docs/api.md").splitlines()
    models = {"deliver": Deliver, "lease": Lease, "dispute": Dispute}
    shown = {
        b.info: json.loads("\n".join(lines[b.start : b.stop]))
        for b in blocks(lines)
        if b.info.removeprefix("json ") in models
    }
    assert shown == {f"json {name}": as_read(model) for name, model in models.items()}


def as_read(model):
    """The first example of a model."""
    return model.model_config["json_schema_extra"]["examples"][0]


def test_the_measures_are_those_there_are_with_their_check_values():
    table = np.array([[0, 0, 1, 7, 12], [15, 25, 29, 9, 2]], dtype=np.float64)
    said = {cells[0].strip("`"): cells for cells in rows(text_of(ROOT / "docs/model.md"), r"`[a-z][a-z\d]*(_[a-z]+)*`")}
    assert set(MEASURES) <= set(said)
    for measure in MEASURES.values():
        _, _, unit, better, check = said[measure.id]
        assert (unit, better) == (measure.unit or "none", measure.better)
        assert float(check) == pytest.approx(measure(table), abs=0.5 * 10 ** -len(check.partition(".")[2]))


def test_the_plan_that_shows_everything_can_be_read(tmp_path):
    lines = text_of(ROOT / "provider/README.md").splitlines()
    [block] = [block for block in blocks(lines) if block.info == "yaml"]
    plan_file = tmp_path / "plan.yaml"
    plan_file.write_text("\n".join(lines[block.start : block.stop]), encoding="utf-8")
    (tmp_path / "salt.txt").write_text("sixteen bytes or more", encoding="utf-8")
    (tmp_path / "hierarchy_age.csv").write_text("17;10-19;0-19\n43;40-49;40-59\n", encoding="utf-8")
    plan = load_plan(plan_file)
    written = yaml.safe_load(plan_file.read_text(encoding="utf-8"))
    assert [attribute.name for attribute in plan.attributes] == list(written["attributes"])
    shown = {type(masking.function) for attribute in plan.attributes for masking in attribute.maskings}
    # For equal frequency the plan states only the number of buckets; the fitted buckets are derived from it.
    assert shown == set(concrete_functions()) - {FittedBuckets, Microaggregated}


def test_the_methods_of_the_client_exist():
    said = {
        name
        for cells in rows(text_of(ROOT / "sdk/README.md"), r"`\w+\(.*")
        for name in re.findall(r"`(\w+)\(", cells[0])
    }
    assert said
    assert all(callable(getattr(Client, name)) for name in said)


def test_the_glossary_names_tables_and_columns_that_exist():
    tables = {name: set(table.columns.keys()) for name, table in Base.metadata.tables.items()}
    for _, _, _, stored in rows(text_of(ROOT / "docs/glossary.md"), r"[a-z][\w ,-]*"):
        for table, column in re.findall(r"`([a-z_]+)(?:\.([a-z_]+))?`", stored):
            named = table in tables and (not column or column in tables[table])
            assert named or f"kind `{table}`" in stored or f"or `{table}`" in stored, f"{table}.{column}"


def test_a_decision_has_its_parts_and_its_place_in_the_index():
    index = text_of(ROOT / "docs/decisions/README.md")

    def missing(decision):
        parts = re.findall(r"^## (.*)$", text_of(decision), re.MULTILINE)
        if parts != ["Context", "Decision", "Consequences", "Alternatives", "Checked by"]:
            yield f"parts: {parts}"
        if f"]({decision.name})" not in index:
            yield "not in the index"
        if (words := len(text_of(decision).split())) > MOST_WORDS:
            yield f"{words} words"

    decisions = sorted((ROOT / "docs/decisions").glob("0*.md"))
    assert decisions
    assert faults(missing, decisions) == {}


def test_decisions_that_are_named_exist():
    folder = ROOT / "docs/decisions"
    past = set(re.findall(r"^### (\d+)$", text_of(folder / "HISTORY.md"), re.MULTILINE))
    known = past | {str(int(place.name[:4])) for place in folder.glob("0*.md")}
    sources = (
        place for part in ("app", "advisor", "sdk", "provider", "research") for place in (ROOT / part).rglob("*.py")
    )
    named = re.compile(r"\b(?:ADR|[Dd]ecision) (\d+)\b")
    assert faults(lambda place: set(named.findall(text_of(place))) - known, [*DOCUMENTS, *sources]) == {}

import json
from collections import Counter

from pydantic import ValidationError

from aegis_sdk import wire
from app.main import create_app
from app.settings import Settings
from app.webhooks.model import EVENT_TYPES, PING
from tests.answers import document

OPERATIONS = {
    f"{method.upper()} {path}": operation
    for path, operations in document()["paths"].items()
    for method, operation in operations.items()
}
EVENTS = {type_: methods["post"] for type_, methods in document()["webhooks"].items()}
UNDER_V1 = {name: operation for name, operation in OPERATIONS.items() if " /v1/" in name}


def faults(found, among=OPERATIONS):
    """What is found to be wrong, by operation."""
    return {name: wrong for name, operation in among.items() if (wrong := list(found(name, operation)))}


def resolved(schema):
    name = schema["$ref"].removeprefix("#/components/schemas/")
    return name, document()["components"]["schemas"][name]


def references(part):
    if isinstance(part, dict):
        yield from ([part["$ref"]] if isinstance(part.get("$ref"), str) else [])
        for member in part.values():
            yield from references(member)
    elif isinstance(part, list):
        for item in part:
            yield from references(item)


def test_the_committed_document_is_up_to_date():
    assert json.loads(json.dumps(create_app(Settings(database_url=None)).openapi())) == document()


def test_an_operation_says_what_it_is_for():
    def missing(_, operation):
        yield from (member for member in ("summary", "description", "tags") if not operation[member])
        for parameter in operation.get("parameters", []):
            is_described = parameter.get("description") or parameter["schema"].get("description")
            if parameter["in"] != "path" and not is_described:
                yield f"parameter {parameter['name']}"

    assert faults(missing) == {}


def test_operations_have_names_of_their_own():
    names = [operation["operationId"] for operation in (*OPERATIONS.values(), *EVENTS.values())]
    assert len(set(names)) == len(names)


def test_an_operation_is_in_a_described_group_says_who_may_call_it_and_how_it_is_refused():
    groups = {tag["name"] for tag in document()["tags"] if tag["description"]}

    def missing(_, operation):
        yield from set(operation["tags"]) - groups
        yield from {"security"} - set(operation)
        if not any(status.startswith("4") for status in operation["responses"]):
            yield "4xx"

    assert faults(missing, OPERATIONS | EVENTS) == {}
    assert groups == {tag for operation in (*OPERATIONS.values(), *EVENTS.values()) for tag in operation["tags"]}


def test_each_event_is_described_with_what_it_says():
    assert set(EVENTS) == {*EVENT_TYPES, PING}
    for type_, operation in EVENTS.items():
        _, payload = resolved(operation["requestBody"]["content"]["application/json"]["schema"])
        kind = payload["properties"]["type"]
        assert type_ in kind.get("enum", [kind.get("const")])
        assert payload["examples"]


def inline(schema, name):
    """The names that generators of clients give to what has none of its own: by what it is in, and its title."""
    if "enum" in schema or schema.get("type") == "object":
        yield name
    for member, part in schema.get("properties", {}).items():
        yield from inline(part, name + pascal(part.get("title", member)))
    for kind in ("anyOf", "oneOf"):
        for index, part in enumerate(schema.get(kind, [])):
            yield from inline(part, f"{name}Type{index}")
    if isinstance(schema.get("items"), dict):
        yield from inline(schema["items"], f"{name}Item")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from inline(schema["additionalProperties"], f"{name}AdditionalProperty")


def pascal(words):
    return "".join(word[:1].upper() + word[1:] for word in words.replace("_", " ").split())


def test_no_two_models_get_the_same_name_in_a_generated_client():
    schemas = document()["components"]["schemas"]
    names = Counter(name for given, schema in schemas.items() for name in {given, *inline(schema, given)})
    assert [name for name, times in names.items() if times > 1] == []
    advice = schemas["Advice"]["properties"]
    assert "AdviceRequest" in inline({"properties": advice | {"request": {"type": "object"}}}, "Advice")


def test_ids_are_uuids():
    paths = [parameter for operation in OPERATIONS.values() for parameter in operation.get("parameters", [])]
    in_paths = {one["name"]: one["schema"].get("format") for one in paths if one["in"] == "path"}
    assert in_paths.pop("prefix") is None
    assert set(in_paths.values()) == {"uuid"}
    answers = {name: schema for name, schema in document()["components"]["schemas"].items() if is_open(schema)}
    ids = {name: schema["properties"]["id"] for name, schema in answers.items()}
    formats = {name: one.get("anyOf", [one])[0].get("format") for name, one in ids.items()}
    assert [name for name, form in formats.items() if form != "uuid"] == ["Measure"]


def is_open(schema):
    """Whether this is an answer with an id: requests have no members but those that are named."""
    return "id" in schema.get("properties", {}) and schema["additionalProperties"]


def test_an_operation_names_its_errors_as_problems():
    def wrong(name, operation):
        errors = {status: answer for status, answer in operation["responses"].items() if status >= "400"}
        needed = {"401", "503"} | ({"404"} if "{" in name else set())
        needed |= {"400", "413", "415", "422"} if "requestBody" in operation else set()
        yield from sorted(needed - set(errors))
        if "404" in set(errors) - needed:
            yield "404, but it names nothing in its path"
        for status, answer in errors.items():
            kinds = {kind: resolved(part["schema"])[0] for kind, part in answer["content"].items()}
            if kinds != {"application/problem+json": "Problem"}:
                yield f"{status}: {kinds}"

    assert faults(wrong, UNDER_V1) == {}


def test_bodies_and_answers_have_examples():
    def without(name, operation):
        bodies = [operation["requestBody"]] if "requestBody" in operation else []
        answers = [answer for status, answer in operation["responses"].items() if status in ("200", "201", "202")]
        if not answers and not name.startswith("DELETE "):
            yield "no answer"
        for part in bodies + answers:
            schema_name, schema = resolved(part["content"]["application/json"]["schema"])
            if not schema.get("examples"):
                yield schema_name

    assert faults(without, UNDER_V1) == {}


def test_the_examples_are_what_the_models_read():
    def unread(name, schema):
        model = getattr(wire, name, None)
        for example in schema.get("examples", []):
            try:
                model.model_validate_json(json.dumps(example))
            except (AttributeError, ValidationError) as error:
                yield str(error)

    schemas = document()["components"]["schemas"]
    assert any("examples" in schema for schema in schemas.values())
    assert faults(unread, schemas) == {}


def test_every_reference_leads_somewhere():
    schemas = {f"#/components/schemas/{name}" for name in document()["components"]["schemas"]}
    assert set(references(document())) <= schemas

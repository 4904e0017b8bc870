import json

from pydantic import ValidationError

from aegis_sdk import wire
from app.main import create_app
from app.settings import Settings
from tests.answers import document

OPERATIONS = {
    f"{method.upper()} {path}": operation
    for path, operations in document()["paths"].items()
    for method, operation in operations.items()
}
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
    names = [operation["operationId"] for operation in OPERATIONS.values()]
    assert len(set(names)) == len(names)


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

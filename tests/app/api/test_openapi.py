import json

import pytest

from aegis_sdk import wire
from app.main import create_app
from app.settings import Settings
from tests.answers import document

OPERATIONS = [
    pytest.param(path, method, operation, id=f"{method.upper()} {path}")
    for path, operations in document()["paths"].items()
    for method, operation in operations.items()
]
UNDER_V1 = [operation for operation in OPERATIONS if operation.values[0].startswith("/v1/")]


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


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)
def test_an_operation_says_what_it_is_for(path, method, operation):
    assert operation["summary"]
    assert operation["description"]
    assert operation["tags"]
    for parameter in operation.get("parameters", []):
        is_in_path = parameter["in"] == "path"
        assert is_in_path or parameter.get("description") or parameter["schema"].get("description"), (path, method)


def test_operations_have_names_of_their_own():
    names = [operation.values[2]["operationId"] for operation in OPERATIONS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(("path", "method", "operation"), UNDER_V1)
def test_an_operation_names_its_errors_as_problems(path, method, operation):
    errors = {status: answer for status, answer in operation["responses"].items() if status >= "400"}
    assert {"401", "503"} <= set(errors)
    assert ("404" in errors) == ("{" in path)
    assert {"400", "413", "415", "422"} <= set(errors) or "requestBody" not in operation
    for status, answer in errors.items():
        assert set(answer["content"]) == {"application/problem+json"}, (method, path, status)
        assert resolved(answer["content"]["application/problem+json"]["schema"])[0] == "Problem"


@pytest.mark.parametrize(("path", "method", "operation"), UNDER_V1)
def test_bodies_and_answers_have_examples(path, method, operation):
    bodies = [operation["requestBody"]] if "requestBody" in operation else []
    answers = [answer for status, answer in operation["responses"].items() if status in ("200", "201", "202")]
    assert answers or method == "delete", path
    for part in bodies + answers:
        name, schema = resolved(part["content"]["application/json"]["schema"])
        assert schema.get("examples"), name


@pytest.mark.parametrize("name", sorted(document()["components"]["schemas"]))
def test_the_examples_are_what_the_models_read(name):
    schema = document()["components"]["schemas"][name]
    model = getattr(wire, name, None)
    for example in schema.get("examples", []):
        assert model is not None, name
        model.model_validate_json(json.dumps(example))


def test_every_reference_leads_somewhere():
    schemas = {f"#/components/schemas/{name}" for name in document()["components"]["schemas"]}
    assert set(references(document())) <= schemas

import json

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
    words = ("summary", "description", "tags")
    assert [(name, word) for name, operation in OPERATIONS.items() for word in words if not operation.get(word)] == []


def test_a_parameter_says_what_it_is_for_unless_its_path_does():
    parameters = [(name, one) for name, operation in OPERATIONS.items() for one in operation.get("parameters", [])]
    described = {one["name"] for _, one in parameters if one["in"] == "path"}
    assert described
    silent = [(name, one["name"]) for name, one in parameters if one["in"] != "path" and not _description(one)]
    assert silent == []


def _description(parameter):
    return parameter.get("description") or parameter["schema"].get("description")


def test_operations_have_names_of_their_own():
    names = [operation["operationId"] for operation in OPERATIONS.values()]
    assert len(set(names)) == len(names)


def test_an_operation_names_its_errors_as_problems():
    kinds = {}
    for name, operation in UNDER_V1.items():
        errors = {status: answer for status, answer in operation["responses"].items() if status >= "400"}
        needed = {"401", "503"} | ({"400", "413", "415", "422"} if "requestBody" in operation else set())
        assert needed <= set(errors), name
        assert ("404" in errors) == ("{" in name), name
        kinds |= {(name, status): _kinds(answer["content"]) for status, answer in errors.items()}
    assert kinds == dict.fromkeys(kinds, (("application/problem+json", "Problem"),))


def _kinds(content):
    return tuple((media_type, resolved(part["schema"])[0]) for media_type, part in content.items())


def test_bodies_and_answers_have_examples():
    examples, without_answer = {}, set()
    for name, operation in UNDER_V1.items():
        bodies = [operation["requestBody"]] if "requestBody" in operation else []
        answers = [answer for status, answer in operation["responses"].items() if status in ("200", "201", "202")]
        without_answer |= set() if answers else {name.partition(" ")[0]}
        found = [resolved(part["content"]["application/json"]["schema"]) for part in bodies + answers]
        examples |= {(name, model): bool(schema.get("examples")) for model, schema in found}
    assert examples == dict.fromkeys(examples, True)
    assert without_answer <= {"DELETE"}


def test_the_examples_are_what_the_models_read():
    schemas = document()["components"]["schemas"]
    examples = [(name, json.dumps(one)) for name, schema in schemas.items() for one in schema.get("examples", [])]
    assert {name for name, _ in examples} - set(vars(wire)) == set()
    for name, example in examples:
        getattr(wire, name).model_validate_json(example)


def test_every_reference_leads_somewhere():
    schemas = {f"#/components/schemas/{name}" for name in document()["components"]["schemas"]}
    assert set(references(document())) <= schemas

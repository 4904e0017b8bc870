"""Names of the contract are members of its models: outside of `aegis_sdk.wire`, no document is read by string keys.

A key that is misspelt, or that the contract no longer has, is found by no type checker.
"""

import ast
import typing
from pathlib import Path

from pydantic import BaseModel

from aegis_sdk import wire

ROOT = Path(__file__).parents[1]
PLACES = ("app/entries", "app/advice", "app/requests", "advisor/src", "provider/src/aegis_provider/handover")
ROOTS = (wire.EntryDocument, wire.AdviceRequest, wire.Advice, wire.CoarseAdvice, wire.DataRequest)

_ROWS = "an answer is stored and sent as JSON, since a ranking can be long"
_OPEN = "the contract has an object without members there: `request`, a difference, or what others read of a schema"

#: How many keys a file still has, and why.
LEFT = {
    "advisor/src/aegis_advisor/verdict/class_counts.py": (3, "numbers by names of its own"),
    "app/advice/api/answers.py": (1, "the axes of a question, which its model has with their directions"),
    "app/advice/model.py": (2, "the digest of a question leaves out members that have their default"),
    "app/advice/pages/answer.py": (5, _OPEN),
    "app/advice/service/computation.py": (12, _ROWS),
    "app/advice/service/declared.py": (1, _ROWS),
    "app/advice/service/views.py": (6, _ROWS),
    "app/advice/service/advice_input.py": (1, "arrays by names of its own"),
    "app/advice/store/advice.py": (8, "SQL over questions and outlines that are stored as JSON"),
    "app/entries/model/documents.py": (14, "statistics of labels, which a stored schema has at another place"),
    "app/entries/pages/catalogue.py": (3, "fields of a form"),
    "app/entries/pages/entry_index.py": (4, "what a trained model reached, by which the page orders a document"),
    "app/entries/service/publications.py": (1, "the records of a document that is published"),
    "app/requests/pages/data_requests.py": (3, "claims of a receipt, and fields of a form"),
    "app/requests/pages/request.py": (6, _OPEN),
    "app/requests/pages/new_request.py": (8, "members that a form gives, not yet checked"),
    "app/requests/service/data_requests.py": (5, _ROWS),
    "app/requests/store/data_requests.py": (1, "columns of a row"),
    "provider/src/aegis_provider/handover/agent.py": (9, "keys of a file of rules"),
    "provider/src/aegis_provider/handover/fulfilling.py": (
        2,
        "a release card is any JSON object, and so is a question",
    ),
    "provider/src/aegis_provider/handover/storage.py": (1, "the size of an object, as obstore says it"),
}


def members(annotation, seen):
    """The names of all members of a model and of those that it has."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel) and annotation not in seen:
        seen.add(annotation)
        for name, field in annotation.model_fields.items():
            yield name
            yield from members(field.annotation, seen)
    for argument in typing.get_args(annotation):
        yield from members(argument, seen)


def keys_in(source):
    """The constant keys by which a module reads, writes or removes members of something."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Subscript(slice=ast.Constant(value=str(key))):
                yield key
            case ast.Call(func=ast.Attribute(attr="get" | "pop" | "setdefault"), args=[ast.Constant(str(key)), *_]):
                yield key


def test_keys_are_found():
    code = 'a["b"].c = d.get("e", f("g")); h.pop("i"); j[0]; k.setdefault("l", {})'
    assert sorted(keys_in(code)) == ["b", "e", "i", "l"]


def test_no_document_is_read_by_string_keys():
    seen = set()
    known = {name for root in ROOTS for name in members(root, seen)}
    assert {"histogram", "privacy", "measure", "ranking"} <= known
    files = [file for place in PLACES for file in (ROOT / place).rglob("*.py")]
    found = {str(file.relative_to(ROOT)): sum(key in known for key in keys_in(file.read_text())) for file in files}
    assert {name: number for name, number in found.items() if number} == {
        name: left for name, (left, _) in LEFT.items()
    }

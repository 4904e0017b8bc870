"""Entries of which a question would be refused: their provider is told when they are published."""

import json
from pathlib import Path

from tests.service import ACCEPTED, ask, example_entry

COUNTS = [[0, 0, 1, 7, 12], [15, 25, 29, 9, 2]]


def entry(*maskings):
    """The example with an attribute for each masking, of which nothing else is known."""
    made = example_entry(name=f"m{len(maskings)}-{len(json.dumps(maskings))}")
    domain = made["attributes"][0]["domain"]
    made["attributes"] = [
        {"name": f"a{place}", "type": "integer", "domain": domain, "maskings": [masking]}
        for place, masking in enumerate(maskings)
    ]
    names = [attribute["name"] for attribute in made["attributes"]]
    made["configurations"] = [
        {"id": "c1", "maskings": {f"a{place}": masking["id"] for place, masking in enumerate(maskings)}},
        {"id": "c2", "maskings": dict.fromkeys(names, "drop")},
    ]
    return made


async def published(api, made):
    answer = await api.post("/v1/entries", json=made, params=ACCEPTED)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_the_provider_is_told_when_no_question_can_be_answered(shared_api):
    mapped = {"id": "m", "domain": ["a", "b"], "mapping": [0, 0, 0, 1, 1, 1, 1, 1]}
    named = {"id": "m", "domain": ["a", "b"], "joint": COUNTS}
    cases = [
        ((mapped,), "no question can be answered", 422),  # no counts at all
        ((named,), "no question can be answered", 422),
        ((mapped, mapped | {"joint": COUNTS}), "questions about it are refused", 422),
        ((mapped | {"joint": COUNTS},), None, 202),
        ((named | {"deterministic": True},), None, 202),
    ]
    for maskings, said, status in cases:
        head = await published(shared_api, entry(*maskings))
        warned = [warning for warning in head["warnings"] if "has no counts of" in warning]
        assert len(warned) == (said is not None), maskings
        assert all(said in warning for warning in warned), warned
        answer = await ask(shared_api, head["id"])
        assert answer.status_code == status, answer.text
        if status == 422:
            assert answer.json()["code"] == "no_evidence"
            assert '"deterministic": true' in answer.json()["detail"]
    alike = entry(mapped)
    alike["configurations"] = alike["configurations"][:1]
    assert "has no counts of" not in str((await published(shared_api, alike | {"name": "alike"}))["warnings"])


async def test_the_masking_by_its_identifier_in_the_document_can_be_asked_about(shared_api):
    text = (Path(__file__).parents[3] / "docs" / "api.md").read_text(encoding="utf-8")
    shown = json.loads(text.partition("```json identifier\n")[2].partition("```")[0])
    head = await published(shared_api, entry(shown))
    assert (await ask(shared_api, head["id"])).status_code == 202

"""Bad scores of labels that are numbers, and questions that weigh a label, over HTTP."""

import copy

from tests.answers import pointers
from tests.service import ask, example_entry, publish

BINS = ["(-inf,0)", "[0,10)", "[10,20)", "[20,30)", "[30,inf)"]
SCORES = [-5.0, 5.0, 15.0, 25.0, 38.0]


def numbered(scores):
    entry = copy.deepcopy(example_entry())
    entry["format"] = 4
    entry["label"] |= {"domain": BINS, "scores": scores}
    return entry


async def test_bad_scores_are_refused_at_their_place(shared_api):
    for scores, pointer in (
        ({"values": [None, *SCORES[1:]]}, "/label/scores/values/0"),
        ({"values": [*SCORES[:4], 29.0]}, "/label/scores/values/4"),
        ({"values": [SCORES[1], SCORES[0], *SCORES[2:]]}, "/label/scores/values/1"),
        ({"values": SCORES[1:]}, "/label/scores/values"),
        ({"values": SCORES, "variance": -1.0}, "/label/scores/variance"),
        ({"values": SCORES, "variance": 0.1}, "/label/scores/variance"),
    ):
        answer = await shared_api.post("/v1/entries", json=numbered(scores))
        assert answer.status_code == 422
        assert pointer in pointers(answer), (scores, answer.text)


async def test_scores_of_another_label_are_judged_likewise(shared_api):
    entry = numbered({"values": SCORES})
    attribute = entry["attributes"][0]
    attribute["scores"] = {"values": list(range(len(attribute["domain"]))), "variance": 0.0}
    answer = await shared_api.post("/v1/entries", json=entry)
    assert answer.status_code == 422
    assert {"/attributes/0/scores", "/attributes/0/scores/variance"} & set(pointers(answer))


async def test_a_question_that_weighs_the_label_is_refused(shared_api):
    entry = await publish(shared_api, numbered({"values": SCORES}))
    for question, pointer in (
        ({"weights": {"health": 2.0}}, "/weights/health"),
        ({"attributes": ["health"]}, "/attributes/0"),
    ):
        answer = await ask(shared_api, entry["id"], **question)
        assert answer.status_code == 422
        assert pointer in pointers(answer), answer.text

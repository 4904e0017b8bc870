"""Three tasks about one entry, one for each of its labels: HTTP, SDK, command and console give the same answers."""

import json
import re
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from aegis_provider import load_plan, prepare_entry
from aegis_provider.entry import document_of
from aegis_sdk import AsyncClient, Client, InvalidError
from aegis_sdk.cli.advise import report
from aegis_sdk.wire import AdviceAnswer
from tests.app.console.html import BROWSER, Html

TABLE = Path(__file__).parents[2] / "examples" / "health" / "health.csv"
WORD = f"journey-{uuid4().hex}"
LABELS = ("health", "deductible_plan", "physical_limitation")
LISTED = ", ".join(LABELS)
PLAN = """labels: [health, deductible_plan, physical_limitation]
attributes:
  visits:
    type: integer
    maskings: {some: {bucketize: {edges: [0, 1, 4, .inf]}}, any: {bucketize: {edges: [0, 1, .inf]}}}
  coinsurance: {type: integer, maskings: {share: {bucketize: {edges: [0, 1, .inf]}}}}
  physical_limitation: {maskings: {known: {mapping: {no: no, yes: yes}, other: imputed}}}
configurations:
  fine: {visits: some, coinsurance: identity, physical_limitation: identity}
  coarse: {visits: any, coinsurance: share, physical_limitation: identity}
  known: {visits: some, coinsurance: share, physical_limitation: known}
"""


@pytest.fixture(scope="module")
def head(url, tmp_path_factory):
    """The entry of a tenth of the health study, rounded as by default, with three labels."""
    folder, (header, *lines) = tmp_path_factory.mktemp("labels"), TABLE.read_text().splitlines()
    (folder / "health.csv").write_text("\n".join([header, *lines[::10]]) + "\n")
    (folder / "plan.yaml").write_text(PLAN)
    entry = prepare_entry(folder / "health.csv", load_plan(folder / "plan.yaml"), name=WORD, pairs=True).entry
    with Client(url) as client:
        return client.publish(document_of(entry), accept_unique=True)


@pytest.fixture
def browser(url):
    """A browser without scripts."""
    with httpx.Client(base_url=url, headers=BROWSER | {"Origin": url}, timeout=60) as one:
        yield one


def seen(browser, path):
    """The text of a page."""
    return re.sub(r" (?=[,.])", "", Html(browser.get(path).text).text)


def test_every_way_to_ask_about_a_label_gives_the_same_answer(client, aegis, url, browser, head):
    entry, headlines = client.entry(head.id).entry_schema, set()
    for label in LABELS:
        advice = client.advise(head.id, "joint", label=label, limit=None)
        sent = httpx.post(
            f"{url}/v1/entries/{head.id}/advice",
            json={"measure": "joint", "label": label, "limit": None},
            headers={"Prefer": "wait=60"},
        )
        assert AdviceAnswer.model_validate(sent.json()).root == advice

        printed = aegis("advise", head.id, "--measure", "joint", "--label", label, "--limit", "10000")[1]
        assert printed.splitlines() == list(report(advice, entry))

        fields = {"measure": "joint", "label": label, "attributes": [*LABELS, "visits", "coinsurance"]}
        asked = browser.post(f"/entries/{head.id}/ask", data=fields)
        assert asked.headers["Location"] == f"/advice/{advice.id}"
        page = seen(browser, f"/advice/{advice.id}")
        first, *lines = printed.splitlines()
        assert f"{first}." in page
        assert f"About {label}, one of 3 labels of this entry: {LISTED}." in page
        [left_out] = [line for line in lines if "be compared" in line] or [""]
        assert (advice.label is not None and advice.label.left_out > 0) is bool(left_out)
        assert left_out in page
        assert (f"--label {label}" in page) is (label != LABELS[0])
        headlines.add((advice.configuration, first))
    assert len(headlines) == len(LABELS)


def test_tables_that_mask_a_label_compete_and_a_target_leaves_out_those_that_are_too_coarse(
    client, aegis, browser, head
):
    entry, label = client.entry(head.id).entry_schema, "physical_limitation"
    for target, left_out, ranked in ((None, 0, 3), ("known", 0, 3), ("identity", 1, 2)):
        advice = client.advise(head.id, "joint", label=label, target=target, limit=None)
        assert (advice.label.left_out, len(advice.ranking)) == (left_out, ranked)
        chosen = () if target is None else ("--target", target)
        printed = aegis("advise", head.id, "--measure", "joint", "--label", label, "--limit", "10000", *chosen)[1]
        assert printed.splitlines() == list(report(advice, entry))
        fields = {"measure": "joint", "label": label, "target": target or ""}
        asked = browser.post(f"/entries/{head.id}/ask", data=fields)
        assert asked.headers["Location"] == f"/advice/{advice.id}"
    form = Html(browser.get(f"/entries/{head.id}/ask").text)
    assert ("option", {"value": "known"}) in form.tags


async def test_programs_that_wait_and_those_that_do_not_get_the_same(client, url, head):
    async with AsyncClient(url) as other:
        assert await other.advise(head.id, "g3", label="deductible_plan") == client.advise(
            head.id, "g3", label="deductible_plan"
        )
    assert client.advise(head.id, "g3", label="health") == client.advise(head.id, "g3")


def test_a_request_is_for_the_table_that_serves_its_label(client, aegis, browser, head):
    best = client.advise(head.id, "joint", label="deductible_plan").configuration
    options = (
        "--measure",
        "joint",
        "--label",
        "deductible_plan",
        "--purpose",
        "a study",
        "--contact",
        "me",
        "--accept-terms",
    )
    made = json.loads(aegis("requests", "new", head.id, *options, "--accept-terms", "--json")[1])
    assert (made["configuration"], made["request"]["label"]) == (best, "deductible_plan")
    assert "label deductible_plan" in aegis("requests", "show", made["id"])[1]
    assert "joint; about deductible_plan" in seen(browser, "/operator/questions")
    assert "all attributes tell about deductible_plan" in seen(browser, f"/requests/{made['id']}")

    form = Html(browser.get(f"/requests/new?entry={head.id}&label=deductible_plan").text)
    assert "the label that you choose" in form.text
    assert "--label deductible_plan" in form.text
    hidden = {one["name"]: one["value"] for one in form.all("input") if one.get("type") == "hidden"}
    typed = {"measure": "joint", "label": "deductible_plan", "purpose": "a study", "contact": "me", "accept": "yes"}
    place = browser.post("/requests/new", data=hidden | typed).headers["Location"]
    assert client.requests.get(place.rpartition("/")[2]).request["label"] == "deductible_plan"


def test_what_cannot_be_asked_is_refused_with_a_list_of_what_can(client, aegis, browser, head):
    with pytest.raises(InvalidError) as refused:
        client.advise(head.id, "joint", label="height")
    [fault] = refused.value.problem.errors
    assert (fault.pointer, fault.detail) == (
        "/label",
        f"The entry has no column 'height'. It can be asked about {LISTED}, coinsurance.",
    )
    code, out, error = aegis("advise", head.id, "--label", "height")
    assert (code, out) == (2, "")
    assert fault.detail in error
    answer = browser.post(f"/entries/{head.id}/ask", data={"measure": "joint", "label": "height"})
    assert answer.status_code == 422
    assert fault.detail in Html(answer.text).text


def test_a_column_of_pairs_that_is_no_label_is_answered_as_an_estimate(client, aegis, browser, head):
    advice = client.advise(head.id, "mutual_information", label="coinsurance")
    assert (advice.ranking_basis, advice.label.listed) == ("estimated", False)
    said = f"about coinsurance, which is not a label of this entry ({LISTED}): estimated from its published"
    assert said in aegis("advise", head.id, "--measure", "mutual_information", "--label", "coinsurance")[1]
    options = seen(browser, f"/entries/{head.id}/ask")
    assert "health deductible_plan physical_limitation coinsurance (estimated from pairs)" in options


def test_every_label_is_found_and_shown(client, aegis, browser, head):
    assert [one.id for one in client.entries(WORD, label="physical_limitation")] == [head.id]
    assert (
        "health, deductible_plan, physical_limitation"
        in aegis("entries", "list", "--query", WORD, "--label", "deductible_plan")[1]
    )
    found = aegis("search", WORD, "--label", "deductible_plan")[1]
    assert f"predicts each of {LISTED} from the others and visits, coinsurance" in found
    assert "Predicts health, deductible_plan or physical_limitation" in seen(
        browser, f"/?query={WORD}&label=physical_limitation"
    )
    page = seen(browser, f"/entries/{head.id}")
    assert "Or, if asked deductible_plan, physical_limitation" in page

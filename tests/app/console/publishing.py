"""Publishing by the pages of the console."""

import html
import json
import re

from tests.app.console.html import SENT, Html, send
from tests.service import example_entry

SCRIPT = '<script>alert("1")</script>'


def large_counts(**changes):
    """The example with counts of five and more."""
    entry = example_entry(**changes)
    attribute = entry["attributes"][0]
    entry["records"] *= 100
    for owner, name in ((entry["label"], "histogram"), (attribute, "histogram")):
        owner[name] = [100 * count for count in owner[name]]
    attribute["maskings"][0]["joint"] = [[100 * count for count in row] for row in attribute["maskings"][0]["joint"]]
    return entry


async def check(api, content, file="entry.json", **fields):
    """Send a file from the page, and return the answer."""
    content = json.dumps(content).encode() if isinstance(content, dict) else content
    texts = [(name, (None, text)) for name, text in ({"csrf": ""} | fields).items()]
    return await api.post("/publish", files=[*texts, ("entry", (file, content))], headers=SENT)


def fields_of(answer):
    """The fields of the form on the page of a check, as they are sent without a change."""
    page = Html(answer.text)
    sent = {
        each["name"]: each.get("value") or "" for each in page.all("input") if each.get("type") in ("hidden", "text")
    }
    sent |= {each["name"]: each["value"] for each in page.all("input") if "checked" in each}
    areas = re.findall(r'<textarea[^>]* name="([^"]+)"[^>]*>([^<]*)</textarea>', answer.text)
    sent |= {name: html.unescape(text) for name, text in areas}
    assert "document" in sent, page.text
    return sent


async def confirm(api, answer, **changes):
    return await send(api, "/publish/confirm", fields_of(answer) | changes)


async def entries(api):
    return (await api.get("/v1/entries")).json()["items"]

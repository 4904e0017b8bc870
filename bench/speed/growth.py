"""The growth of time with attributes, maskings, configurations and domain size, on made-up entries."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from statistics import median
from uuid import uuid4

import numpy as np
import orjson

from aegis_advisor.evidence import evidence_of
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import Question, assess, recommend
from aegis_advisor.reconstruction import reconstruct
from aegis_sdk import Client
from app.entries.api.uploads import read_publication
from app.entries.model.configurations import unpack_configurations
from app.entries.model.documents import entry_in
from bench.measuring import MEGABYTE, MILLISECONDS, heading, run, table, timed
from bench.speed.advice import MEASURE
from bench.speed.service import running_service
from tests import made_up_entries

TIMES = 9
#: The values of a masked value are random, so that every reference needs iterations.
BASE = made_up_entries.Shape(ordered=False)
SERIES: Mapping[str, Mapping[int, made_up_entries.Shape]] = {
    "attributes": {size: replace(BASE, attributes=size) for size in (4, 8, 16, 32, 64)},
    "maskings": {size: replace(BASE, groups=tuple(range(4, 4 + 3 * size, 3))) for size in (2, 4, 8, 16)},
    "configurations": {size: replace(BASE, configurations=size) for size in (100, 1_000, 10_000, 100_000)},
    "domain size (1 attribute)": {
        size: replace(BASE, attributes=1, values=size) for size in (100, 1_000, 10_000, 100_000, 1_000_000)
    },
}


def main() -> None:
    heading("Growth on made-up entries, ms (questions: p50; the rest once)")
    print(f"Unless stated otherwise: {BASE.attributes} attributes of {BASE.values} values,")
    print(f"{len(BASE.groups)} maskings each, {BASE.labels} classes, {BASE.configurations} configurations.")
    for name, shapes in SERIES.items():
        heading(f"The advisor alone, by {name}")
        rows = [[f"{size:,}", *advisor_figures(shape)] for size, shape in shapes.items()]
        table([name, "all references", "assess all maskings", "assess and rank"], rows)
    with running_service() as service, Client(service.url) as client:
        service_figures(client, BASE)  # the first meets cold processes and is not shown
        for name, shapes in SERIES.items():
            heading(f"Over HTTP, by {name}")
            rows = [[f"{size:,}", *service_figures(client, shape)] for size, shape in shapes.items()]
            table([name, "entry, MB", "publish", "first advice", "new question"], rows)


def advisor_figures(shape: made_up_entries.Shape) -> list[str]:
    """Return milliseconds to reconstruct every reference, to assess every masking once, and to answer a question."""
    document = made_up_entries.entry(shape, "made-up")
    content = read_publication(orjson.dumps(document)).content
    configurations = unpack_configurations(content.configuration_table, content.outline)
    evidence = evidence_of(entry_in(document))
    reconstructing, references = timed(lambda: [reconstruct(one) for one in evidence])
    known = list(zip(evidence, references, strict=True))
    maskings = [masking.id for masking in evidence[0].maskings]  # the same for every attribute
    measure = MEASURES[MEASURE]
    assessing = _median(lambda: [assess(one, reference, measure, maskings) for one, reference in known])
    equal = np.full(len(evidence), 1 / len(evidence))
    question = Question(MEASURE, tuple(one.name for one in evidence), equal, limit=20)
    answering = _median(lambda: recommend(evidence, references, configurations.codes, configurations.options, question))
    return [_milliseconds(seconds) for seconds in (reconstructing, assessing, answering)]


def service_figures(client: Client, shape: made_up_entries.Shape) -> list[str]:
    """Return the entry's megabytes, and milliseconds to publish it, for its first advice, and for further ones."""
    body = orjson.dumps(made_up_entries.entry(shape, f"made-up-{uuid4().hex}"))
    publishing, head = timed(lambda: client.publish(body))
    first = timed(lambda: client.advise(head.id, MEASURE))[0]
    weights = iter(np.random.default_rng(0).random(TIMES).tolist())
    new = _median(lambda: client.advise(head.id, MEASURE, weights={"attribute-0": next(weights)}))
    return [f"{len(body) / MEGABYTE:.2f}", *map(_milliseconds, (publishing, first, new))]


def _median(work: Callable[[], object]) -> float:
    return median(timed(work)[0] for _ in range(TIMES))


def _milliseconds(seconds: float) -> str:
    return f"{seconds * MILLISECONDS:.1f}"


if __name__ == "__main__":
    run(main)

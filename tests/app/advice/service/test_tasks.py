"""What is known of a label's task before its counts are loaded is what its counts show."""

import orjson
import pytest

from aegis_advisor.evidence import evidence_of
from aegis_provider import document_of, load_plan, prepare_entry
from app.advice.service.tasks import task_of
from app.entries.api.uploads import read_publication
from app.entries.model.configurations import unpack_configurations
from app.entries.model.documents import stored_entry
from app.entries.service.publications import VerdictInput, _outline, compute_verdict
from app.platform.errors import InvalidDocumentError
from tests.labels import CONFIGURATIONS, LABELS, MAPPINGS, VALUES, entry_of, some_records


def assert_tasks(content, labels):
    """The outline of each label's task is that of its evidence, at the places of the entry's attributes."""
    table = unpack_configurations(content.configuration_table, content.outline)
    entry = stored_entry(content.schema, content.count_tables)
    for label in labels:
        task = task_of(content.schema, content.outline, table, label)
        assert task.outline == tuple(map(_outline, evidence_of(entry.about(label)))), label
        place = [attribute.name for attribute in content.outline].index(label)
        assert task.first == 20_000 * (place + 1)
        shown = [at for at, row in enumerate(table.codes) if table.options[place][row[place]] != "drop"]
        assert list(task.table.ids) == [table.ids[at] for at in shown]


def test_it_is_outlined_as_by_its_counts():
    content = read_publication(orjson.dumps(entry_of(some_records(1), LABELS))).content
    assert_tasks(content, LABELS[1:])
    assert content.labels == LABELS
    unlisted = read_publication(orjson.dumps(entry_of(some_records(1), LABELS[:1]))).content
    assert_tasks(unlisted, [*LABELS[1:], "zip"])


def written(folder, seed, size):
    """A table and a plan of several labels, in files."""
    records = some_records(seed, size)
    rows = zip(*([f"{name} {value}" for value in column] for name, column in records.items()), strict=True)
    (folder / "t.csv").write_text("\n".join([",".join(records), *map(",".join, rows), ""]))
    maskings = {name: {} for name in VALUES if name != LABELS[0]}
    for (name, masking), mapping in MAPPINGS.items():
        groups = {f"{name} {value}": f"{masking} {group}" for value, group in enumerate(mapping)}
        maskings[name].setdefault("maskings", {})[masking] = {"mapping": groups}
    configurations = {f"c{place}": one for place, one in enumerate(CONFIGURATIONS)}
    plan = {"labels": list(LABELS), "attributes": maskings, "configurations": configurations}
    (folder / "plan.yaml").write_bytes(orjson.dumps(plan))
    return folder / "t.csv", load_plan(folder / "plan.yaml")


@pytest.mark.parametrize("exact", [False, True])
def test_what_the_provider_makes_is_accepted_and_discloses_nothing_small(tmp_path, exact):
    table, plan = written(tmp_path, 2, 3_000)
    content = read_publication(
        orjson.dumps(document_of(prepare_entry(table, plan, name="several", pairs=True, exact=exact).entry))
    ).content
    assert_tasks(content, LABELS[1:])
    given = VerdictInput(content.schema, content.configurations, content.count_tables)
    assert compute_verdict(given, seconds=60).passed


def test_what_contradicts_the_counts_with_a_label_is_refused():
    document = entry_of(some_records(1), LABELS)
    place = next(at for at, one in enumerate(document["pairs"]) if "charges" in one.get("with_labels", {}))
    told = document["pairs"][place]["with_labels"]
    high = document["pairs"][place] | {"with_labels": told | {"charges": told["charges"] | {"chi_square": 1e6}}}
    pairs = [*document["pairs"][:place], high, *document["pairs"][place + 1 :]]
    for changed in ({"pairs": pairs}, {"joint_traces": {"charges": {"value": 3.5}}}):
        with pytest.raises(InvalidDocumentError) as refused:
            read_publication(orjson.dumps(document | changed))
        assert all("charges" in fault.pointer + fault.detail for fault in refused.value.faults)

"""An OpenLineage event as the project's own client reads and writes it: `openlineage_event.py event.json`.

The client's classes refuse members that the specification does not have, and values of another form.
"""

import json
import sys
from pathlib import Path

from openlineage.client import event_v2 as events
from openlineage.client.generated import base, column_lineage_dataset, dataset_version_dataset, schema_dataset
from openlineage.client.serde import Serde

KNOWN = {
    "version": dataset_version_dataset.DatasetVersionDatasetFacet,
    "schema": schema_dataset.SchemaDatasetFacet,
    "columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet,
}


def facet(name, given):
    """A facet of the standard in its class; one of another project, by its prefix, in the class of all facets."""
    producer, schema = given.pop("_producer"), given.pop("_schemaURL")
    if name not in KNOWN and "_" not in name:
        raise ValueError(f"{name} is no facet of the standard, and has no prefix")
    if name == "schema":
        given["fields"] = [schema_dataset.SchemaDatasetFacetFields(**each) for each in given["fields"]]
    if name == "columnLineage":
        given["fields"] = {column: lineage_of(each) for column, each in given["fields"].items()}
    if name not in KNOWN:
        return base.DatasetFacet(producer=producer).with_additional_properties(**given)
    made = KNOWN[name](producer=producer, **given)
    if made._schemaURL != schema:
        raise ValueError(f"{name} states {schema}, not {made._schemaURL}")
    return made


def lineage_of(field):
    inputs = []
    for each in field["inputFields"]:
        steps = [column_lineage_dataset.Transformation(**one) for one in each.pop("transformations")]
        inputs.append(column_lineage_dataset.InputField(**each, transformations=steps))
    return column_lineage_dataset.Fields(inputFields=inputs)


def dataset(kind, given):
    made = {name: facet(name, each) for name, each in given.pop("facets", {}).items()}
    return kind(**given, facets=made)


def read(event):
    if event.pop("schemaURL") != base.RunEvent._get_schema():
        raise ValueError("the event is of another version")
    return events.RunEvent(
        eventType=events.RunState[event.pop("eventType")],
        run=events.Run(**event.pop("run")),
        job=events.Job(**event.pop("job")),
        inputs=[dataset(events.InputDataset, each) for each in event.pop("inputs")],
        outputs=[dataset(events.OutputDataset, each) for each in event.pop("outputs")],
        **event,
    )


try:
    result = json.loads(Serde.to_json(read(json.loads(Path(sys.argv[1]).read_text()))))
except (KeyError, TypeError, ValueError) as error:
    result = {"error": f"{type(error).__name__}: {error}"}
sys.stdout.write(json.dumps(result) + "\n")

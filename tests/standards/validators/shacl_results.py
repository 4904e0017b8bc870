"""What pyshacl finds in a Turtle file: `shacl_results.py page.ttl shapes.ttl ...`, as severity, path and value."""

import json
import sys

from pyshacl import validate
from rdflib import SH, Graph

data, shapes = Graph().parse(sys.argv[1], format="turtle"), Graph()
for path in sys.argv[2:]:
    shapes.parse(path, format="turtle")
_, report, _ = validate(data, shacl_graph=shapes)
results = [
    [str(report.value(result, name)) for name in (SH.resultSeverity, SH.focusNode, SH.resultPath, SH.value)]
    for result in report.objects(predicate=SH.result)
]
sys.stdout.write(json.dumps(results) + "\n")

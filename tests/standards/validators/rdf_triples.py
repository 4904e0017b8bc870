"""The triples that rdflib reads from each file, with canonical blank nodes: `rdf_triples.py page.ttl page.jsonld`."""

import json
import sys
from pathlib import Path

from rdflib import Graph
from rdflib.compare import to_canonical_graph

FORMATS = {".ttl": "turtle", ".jsonld": "json-ld"}


def triples(path):
    graph = to_canonical_graph(Graph().parse(path, format=FORMATS[path.suffix]))
    return sorted([str(term) for term in triple] + [str(getattr(triple[2], "datatype", None))] for triple in graph)


sys.stdout.write(json.dumps(list(map(triples, map(Path, sys.argv[1:])))) + "\n")

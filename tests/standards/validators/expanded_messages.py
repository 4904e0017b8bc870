"""Print messages of the Dataspace Protocol, one JSON document a line, as pyld expands them with the pinned contexts.

Arguments: the file of messages, and the folder of the contexts. Any other context is an error: nothing is fetched.
"""

import json
import sys
from pathlib import Path

from pyld import jsonld
from pyld.context_resolver import ContextResolver

messages, folder = map(Path, sys.argv[1:])
PINNED = {
    "https://w3id.org/dspace/2025/1/context.jsonld": "dspace.jsonld",
    "https://w3id.org/dspace/2025/1/odrl-profile.jsonld": "odrl.jsonld",
}


def load(url, _options):
    document = json.loads((folder / PINNED[url]).read_text(encoding="utf-8"))
    return {"contentType": "application/ld+json", "contextUrl": None, "documentUrl": url, "document": document}


def expanded(line):
    """A message, with contexts read anew: pyld 3.3 changes those that it has cached and that import others."""
    options = {"documentLoader": load, "contextResolver": ContextResolver({}, load)}
    return jsonld.expand(json.loads(line), options)


sys.stdout.write(json.dumps(list(map(expanded, messages.read_text(encoding="utf-8").splitlines()))) + "\n")

"""The datasets and the next page that CKAN's harvester reads: `ckan_datasets.py PROFILE page.ttl`."""

import json
import sys
from pathlib import Path

from ckanext.dcat.processors import RDFParser

parser = RDFParser(profiles=[sys.argv[1]])
parser.parse(Path(sys.argv[2]).read_text(encoding="utf-8"), _format=Path(sys.argv[2]).suffix.removeprefix("."))
sys.stdout.write(json.dumps({"datasets": list(parser.datasets()), "next": parser.next_page()}) + "\n")

"""What an entry gives away: small counts in its tables, and cells that follow from all its tables together.

    found = disclose(read_entry(body)[1], table=Path("health.csv"), plan=load_plan(Path("plan.yaml")))
    found.attributes[0].together.smallest         # Cell(count=1, place=("[5,7)", "poor"))

Needs the distribution `aegis-advisor`, so nothing else of the provider part imports it when it loads.
"""

from aegis_provider.disclosure.disclosing import disclose
from aegis_provider.disclosure.model import (
    AttributeDisclosure,
    Cell,
    Comparison,
    Declared,
    Disclosure,
    Distance,
    PublishedTable,
    Together,
)
from aegis_provider.errors import EntryError

__all__ = [
    "AttributeDisclosure",
    "Cell",
    "Comparison",
    "Declared",
    "Disclosure",
    "Distance",
    "EntryError",
    "PublishedTable",
    "Together",
    "disclose",
]

"""The disclosure of an entry: small counts in its tables, and cells determined exactly by all its tables together.

    disclosed = disclose(read_entry(body)[1], table=Path("health.csv"), plan=load_plan(Path("plan.yaml")))
    disclosed.attributes[0].linked.smallest         # Cell(count=1, place=("[5,7)", "poor"))

Needs the distribution `aegis-masking-advisor`, so no other module of the provider imports it at load time.
"""

from aegis_provider.disclosure.entry import disclose, refuse_small_counts, verdict_on
from aegis_provider.disclosure.model import (
    AttributeDisclosure,
    Cell,
    Comparison,
    Declared,
    Disclosure,
    Distance,
    Judged,
    LinkedTables,
    PublishedTable,
)
from aegis_provider.errors import EntryError, SmallCountsError

__all__ = [
    "AttributeDisclosure",
    "Cell",
    "Comparison",
    "Declared",
    "Disclosure",
    "Distance",
    "EntryError",
    "Judged",
    "LinkedTables",
    "PublishedTable",
    "SmallCountsError",
    "disclose",
    "refuse_small_counts",
    "verdict_on",
]

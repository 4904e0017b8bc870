"""Entries in Croissant: the tables that may be requested, with made-up rows, so that a loader is ready beforehand."""

from typing import Final

import orjson

from aegis_sdk.reading import CroissantTable, columns_of, croissant_of
from app.catalogues.api.dcat import description_of, sentences_of
from app.catalogues.model import StoredOffers, listed
from app.entries.api.mapping import entry_document, head_answer
from app.entries.api.previews import made_up_rows, seed_of_others
from app.platform.errors import Fault, InvalidDocumentError

MOST_TABLES: Final = 100
"""The most tables that a document describes."""

MOST_COLUMNS: Final = 2_000
"""The most columns of all these tables together."""

ROWS: Final = 10
"""The made-up rows of each table: the first ones of its preview."""


def croissant_text(item: StoredOffers, schema: bytes, configurations: bytes, address: str) -> bytes:
    """An entry in Croissant, with nothing that depends on who reads it. Slow for large entries.

    Args:
        item: the entry, with `schema` and `configurations` as stored.
        address: that of the entry as a dataset.

    Raises:
        InvalidDocumentError: it states no licence.
    """
    entry, document = listed(item), entry_document(schema, configurations, in_full=False)
    tables: list[CroissantTable] = []
    columns = 0
    for offer in entry.offers[:MOST_TABLES]:
        described = columns_of(document, offer.configuration)
        if described and columns + len(described) <= MOST_COLUMNS:
            columns += len(described)
            seed = f"{seed_of_others(entry.head)} {offer.configuration}"
            rows = made_up_rows(described, None, seed)[:ROWS]
            words = " ".join(("Made-up rows, none of which is in the table.", *sentences_of(entry.head, offer)))
            tables.append(CroissantTable(offer.configuration, words, described, rows))
    try:
        made_of = croissant_of(head_answer(entry.head), tables, url=address, description=description_of(entry))
    except ValueError as error:
        raise InvalidDocumentError(f"There is no Croissant of it: {error}.", (Fault("/license", str(error)),)) from None
    return orjson.dumps(made_of)

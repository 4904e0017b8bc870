"""The measure of a question that names none."""

from collections.abc import Mapping, Sequence

from aegis_sdk._client import Client
from aegis_sdk.reading import declares_joint


def usual_measure(client: Client, entry_id: str, weights: Mapping[str, float], kinds: Sequence[str] | None) -> str:
    """The measure that lost least in the evaluation, of those that the entry has the counts or the figures for.

    Attributes that are taken together cannot have weights, except that some may be left out.
    """
    if any(weights.values()):
        return "mutual_information"
    schema = client.entry(entry_id).entry_schema
    has_joint = declares_joint(schema) if "generated" in (kinds or ()) else bool(schema.get("pairs"))
    return "joint" if has_joint else "mutual_information"

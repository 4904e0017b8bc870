"""Questions about generated configurations, which are ranked by declared transfer utilities."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from app.advice.model.advice import AdviceQuestion, ReferenceKind
from app.entries.model.configurations import ConfigurationTable
from app.entries.model.published import ALL_TOGETHER, JOINT, MEASURES, Figures
from app.platform.errors import Fault, InvalidDocumentError


def declared_faults(question: AdviceQuestion, scored: Sequence[str], names: Sequence[str]) -> Iterator[Fault]:
    """The faults of a question about generated configurations, for which declared utilities do not suffice.

    Args:
        scored: the scored attributes.
        names: all attributes of the entry.
    """
    if not question.ranks_declared:
        return
    if question.measure not in MEASURES:
        known = ", ".join(MEASURES)
        yield Fault(
            "/measure", f"Generated configurations are ranked by declared transfer utilities; use one of {known}."
        )
    if question.bias_correction:
        yield Fault("/bias_correction", "Declared transfer utilities have no bias correction; leave this out.")
    if question.reference is ReferenceKind.OWN:
        yield Fault("/reference", "Declared transfer utilities have a common reference; ask with 'pooled'.")
    if question.measure == JOINT and len(scored) < len(names):
        where = "/attributes" if question.attributes is not None else "/weights"
        yield Fault(where, "The declared utility by 'joint' is for all attributes together; select all of them.")


def scored_places(question: AdviceQuestion, scored: Sequence[str], names: Sequence[str]) -> list[int]:
    """The places of the attributes for which a configuration needs a declared utility, in order."""
    if question.measure == JOINT:
        return [ALL_TOGETHER]
    return [place for place, name in enumerate(names) if name in scored]


def figures_for(measure: str, places: Sequence[int], table: ConfigurationTable) -> tuple[Figures, NDArray[np.int64]]:
    """The declared utilities for a question, and the configurations that have all of them."""
    figures = table.figures.by(measure, places)
    return figures, figures.complete(places)


def refuse_undeclared(
    question: AdviceQuestion, places: Sequence[int], table: ConfigurationTable, kept: NDArray[np.bool_]
) -> None:
    """Refuse a question if none of the remaining configurations declares the utilities that it needs.

    Args:
        question: the question, without faults.
        places: the scored attributes (`scored_places`).
        table: the configurations.
        kept: (configurations,) whether each meets all requirements.

    Raises:
        InvalidDocumentError: none does.
    """
    _, complete = figures_for(question.measure, places, table)
    if not kept[complete].any():
        known = [measure for at, measure in enumerate(MEASURES) if (table.figures.places[:, 2] == at).any()]
        said = f"The entry declares some by {', '.join(known)}." if known else "The entry declares none."
        raise InvalidDocumentError(
            "Generated configurations are ranked by the transfer utilities that their provider declares. Of "
            f"{int(kept.sum())} that meet all requirements, none declares these by {question.measure!r} for all "
            f"scored attributes. {said} Change the question, or ask the provider to declare them.",
            code="no_evidence",
        )

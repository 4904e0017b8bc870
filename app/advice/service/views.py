"""The parts of an answer that a caller may read. Others get only the fields named here."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import msgspec

from app.advice.model import Advice, AdviceQuestion, ReferenceKind, View
from app.advice.service.frontier import FRONTIER
from app.advice.service.questions import FAULTS_FOUND, scored_names
from app.entries.model.documents import changed, decompress
from app.entries.model.entries import AttributeOutline, Head
from app.platform.callers import Caller
from app.platform.errors import Fault, InvalidDocumentError, pointer

#: The weights allowed in questions with coarse answers: few, since each makes the order reveal more.
COARSE_WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)

#: The fields of an answer with the order. Others get those of the order by rounded deviations.
_ORDER = ("configuration", "tied", "indistinguishable", "indistinguishable_count")

_ANSWER = ("label", *_ORDER, "about", "considered", "ranking_basis", "unit", "better", "ranking", "attributes")

#: The field that only answers by declared utilities have.
TRANSFER = "transfer"

#: The field of an answer and of its rows with what a model should reach.
EXPECTED = "expected"

#: The fields of a result by level of detail; null until there is one.
RESULT_FIELDS = {View.COARSE: _ANSWER, View.FULL: (*_ANSWER, "deviation", "joint", EXPECTED)}


def view_for(caller: Caller, head: Head) -> View:
    """Full for callers who may read the counts, and for all if the provider has opened the answers."""
    return View.FULL if head.shows_counts_to(caller) or head.has_open_answers else View.COARSE


def shown(advice: Advice, view: View) -> dict[str, Any] | None:
    """The answer of an advice at a level of detail, in the contract's names; None until there is one."""
    if advice.result is None:
        return None
    result: dict[str, Any] = decompress(advice.result)
    names: Mapping[str, str] = result.get("names") or {}
    if view is View.COARSE:
        answer = coarse_declared(result) if TRANSFER in result else coarse(result)
        answer |= {FRONTIER: result["coarse"][FRONTIER]} if FRONTIER in result else {}
    else:
        answer = {
            name: value for name, value in result.items() if name in (*RESULT_FIELDS[View.FULL], TRANSFER, FRONTIER)
        }
        answer = {EXPECTED: None} | answer  # answers of earlier models have none
    ranking = [{EXPECTED: None, **row, "about": names.get(row["configuration"])} for row in answer["ranking"]]
    about = {"label": result.get("label"), "about": names.get(answer["configuration"])}
    if FRONTIER in answer:
        named = [{**point, "about": names.get(point["configuration"])} for point in answer[FRONTIER]["points"]]
        about[FRONTIER] = answer[FRONTIER] | {"points": named}
    return answer | about | {"ranking": ranking}


def coarse_declared(result: Mapping[str, Any]) -> dict[str, Any]:
    """The coarse form of an answer by declared utilities: the order by shares, without utilities."""
    order = result["coarse"]
    return {
        **{name: result[name] for name in ("considered", "unit", "better", "ranking_basis")},
        **{name: order[name] for name in (*_ORDER, "ranking")},
        "attributes": [],
        TRANSFER: {name: result[TRANSFER][name] for name in ("source", "left_out")},
    }


@dataclass(frozen=True, slots=True)
class _Score:
    kept: str | None


@dataclass(frozen=True, slots=True)
class _Attribute:
    """The coarse data on an attribute: for each masking a word for the share that it keeps, if there are shares."""

    name: str
    maskings: Mapping[str, _Score]


@dataclass(frozen=True, slots=True)
class _Attributes:
    attributes: Sequence[_Attribute]


def coarse(result: Mapping[str, Any]) -> dict[str, Any]:
    """The coarse form of a full answer; without shares for a single attribute and for most measures."""
    attributes = msgspec.convert(result, _Attributes).attributes
    words = [score.kept for attribute in attributes for score in attribute.maskings.values()]
    with_shares = len(attributes) > 1 and None not in words
    order, names = result["coarse"], ("configuration", "rank", "utility_share", "deviation_share")
    shown = {
        **{name: result[name] for name in ("considered", "unit", "better")},
        "ranking_basis": "estimated",  # its deviations are rounded
        **{name: order[name] for name in (*_ORDER, "ranking")},
        "attributes": list(map(asdict, attributes)) if with_shares else [],
    }

    def coarse_row(row: Mapping[str, Any]) -> dict[str, Any]:
        kept = {name: row[name] if with_shares or not name.endswith("_share") else None for name in names}
        return kept | {EXPECTED: row.get(EXPECTED) if len(attributes) > 1 else None}

    return changed(shown, ("ranking", "*"), coarse_row)  # type: ignore[no-any-return]


def refuse_beyond_coarse(question: AdviceQuestion, outline: Sequence[AttributeOutline]) -> None:
    """Refuse a question whose coarse answer would reveal too much about single attributes.

    Raises:
        InvalidDocumentError: with every fault of the question.
    """
    faults = tuple(islice(_beyond_coarse(question, [attribute.name for attribute in outline]), FAULTS_FOUND))
    if faults:
        raise InvalidDocumentError(
            "Callers who may not read an entry's counts may ask only some questions, so that answers do not reveal "
            "the counts.",
            faults,
            code="beyond_view",
        )


def _beyond_coarse(question: AdviceQuestion, names: Sequence[str]) -> Iterator[Fault]:
    if question.reference is ReferenceKind.OWN:
        yield Fault("/reference", "The reference 'own' is for the entry's provider; ask with 'pooled'.")
    allowed = ", ".join(f"{weight:g}" for weight in COARSE_WEIGHTS)
    for name, weight in (question.weights or {}).items():
        if weight not in COARSE_WEIGHTS:
            yield Fault(pointer("weights", name), f"The weight {weight:g} is not one of {allowed}.")
    if len(names) > 1 and len(scored_names(question, names)) < 2:  # noqa: PLR2004 -- of one, shares would be its own
        where = "/attributes" if question.weights is None else "/weights"
        yield Fault(where, "Select at least two attributes with a positive weight.")

"""Whether a version can answer a question, and at what cost: from its outline, before any computation."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, combinations, islice
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.evidence import DROP, IDENTITY
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import lacks_evidence, lacks_own_reference
from app.advice.model import EXPECTED, AdviceQuestion, ReferenceKind
from app.advice.service.frontier import missing
from app.entries.model.configurations import ConfigurationTable
from app.entries.model.entries import AttributeOutline
from app.entries.model.published import ALL_TOGETHER, JOINT
from app.entries.model.published import MEASURES as DECLARED
from app.entries.service.checks import CELLS
from app.platform.errors import Fault, InvalidDocumentError, pointer, some
from app.platform.queue.model import Lane

#: Pairs of attributes, by their names.
CountedPairs: TypeAlias = Collection[frozenset[str]]

MUTUAL_INFORMATION: Final = "mutual_information"

#: The largest number of reported faults: a question can name any number of unknown attributes.
FAULTS_FOUND = 100


def refuse_unanswerable(
    question: AdviceQuestion,
    outline: Sequence[AttributeOutline],
    table: ConfigurationTable,
    counted: CountedPairs | None,
) -> None:
    """Refuse a question that this version cannot answer.

    Args:
        counted: the pairs of attributes with counts; None: all have, or none are needed (`needs_pairs`).

    Raises:
        InvalidDocumentError: the version cannot answer the question; the error lists its faults.
    """
    names = [attribute.name for attribute in outline]
    about_kinds = declared_faults(question, scored_names(question, names), names)
    faults = tuple(islice(chain(_faults(question, names), about_kinds), FAULTS_FOUND))
    if faults:
        raise InvalidDocumentError("This entry cannot answer the question.", faults)
    kept = table.meeting(question.required, question.policy, question.kinds)
    if lacking := tuple(missing(question, table, kept)):
        raise InvalidDocumentError("This entry cannot answer the question.", lacking)
    if question.ranks_declared:
        refuse_undeclared(question, scored_places(question, scored_names(question, names), names), table, kept)
        return
    uncounted = None if counted is None else _lacking_pair(question, outline, table, kept, counted)
    if uncounted is not None:
        known = ", ".join(measure.id for measure in MEASURES.values() if not measure.is_joint)
        raise InvalidDocumentError(
            f"The measure {question.measure!r} needs counts of pairs of attributes, but the entry has none of "
            f"{uncounted[0]!r} and {uncounted[1]!r}. Ask its provider for them (`aegis summarize --pairs`), use "
            "another measure, or select a single attribute.",
            (Fault("/measure", f"It can be asked by {known}."),),
            code="no_pairs",
        )
    weights = question.weights or {}
    for place in selected_places(question, outline):
        used = np.unique(table.codes[kept, place])
        # Counts with masked labels are not in the outline.
        if weights.get(outline[place].name, 1.0) > 0 and table.label_codes is None:
            _refuse_without_evidence(question, outline[place], [table.options[place][code] for code in used])


def selected_places(question: AdviceQuestion, outline: Sequence[AttributeOutline]) -> list[int]:
    """The places of the attributes whose counts an answer needs, in the entry's order: the selected ones.

    Declared utilities need no counts.
    """
    if question.ranks_declared:
        return []
    chosen = question.attributes
    return [i for i, attribute in enumerate(outline) if chosen is None or attribute.name in chosen]


def _faults(question: AdviceQuestion, names: Sequence[str]) -> Iterator[Fault]:
    if question.measure not in MEASURES:
        yield Fault("/measure", f"Unknown measure {question.measure!r}; use one of {', '.join(MEASURES)}.")
    elif question.bias_correction and MEASURES[question.measure].correction is None:
        known = ", ".join(measure.id for measure in MEASURES.values() if measure.correction is not None)
        yield Fault("/bias_correction", f"The bias of {question.measure!r} is not known; only that of {known} is.")
    attributes = frozenset(names)
    for i, name in enumerate(question.attributes or ()):
        if name not in attributes:
            yield Fault(f"/attributes/{i}", f"The entry has no attribute {name!r}; it has {some(names)}.")
    if _is_joint(question):
        yield from _joint_faults(question, names)
    if EXPECTED in question.axes and (question.ranks_declared or not _is_joint(question)):
        detail = "What a model should reach is known for joint measures and masked tables only."
        yield Fault(f"/frontier/{question.axes.index(EXPECTED)}", detail)
    weights = question.weights or {}
    for name in weights:
        if name not in attributes:
            yield Fault(pointer("weights", name), f"The entry has no attribute {name!r}.")
    if weights and all(weights.get(name, 1.0) == 0.0 for name in question.attributes or names):
        yield Fault("/weights", "All weights are zero.")


def _joint_faults(question: AdviceQuestion, names: Sequence[str]) -> Iterator[Fault]:
    """The faults of a question by a joint measure."""
    if question.reference is ReferenceKind.OWN:
        detail = f"{question.measure!r} takes attributes together, but the reference 'own' is for single maskings."
        yield Fault("/reference", detail)
    weights = question.weights or {}
    if len({weights.get(name, 1.0) for name in scored_names(question, names)}) > 1:
        detail = f"{question.measure!r} takes attributes together: give them equal weights, or 0 to leave one out, or "
        detail += "choose a measure that takes weights, such as mutual_information."
        yield Fault("/weights", detail)


def weights_of(question: AdviceQuestion, names: Sequence[str]) -> NDArray[np.float64]:
    """(attributes,) The weights of the scored attributes, with the sum 1."""
    weights = np.array([(question.weights or {}).get(name, 1.0) for name in names])
    weights /= weights.max()  # before the sum, which stays finite so
    return np.asarray(weights / weights.sum())


def needs_pairs(question: AdviceQuestion, outline: Sequence[AttributeOutline]) -> bool:
    """Whether the question takes several attributes together, so that it may need pair counts.

    Declared utilities need none.
    """
    if question.ranks_declared or not _is_joint(question):
        return False
    return len(scored_names(question, [attribute.name for attribute in outline])) > 1


def _is_joint(question: AdviceQuestion) -> bool:
    measure = MEASURES.get(question.measure)
    return measure is not None and measure.is_joint


def _lacking_pair(
    question: AdviceQuestion,
    outline: Sequence[AttributeOutline],
    table: ConfigurationTable,
    kept: NDArray[np.bool_],
    counted: CountedPairs,
) -> tuple[str, str] | None:
    """Two of the attributes without counts that a configuration shares, each with more than one masked value."""
    scored = scored_names(question, [attribute.name for attribute in outline])
    shared = {
        attribute.name: np.array([_tells(attribute, option) for option in options])[column[kept]]
        for attribute, options, column in zip(outline, table.options, table.codes.T, strict=True)
        if attribute.name in scored
    }
    if np.sum(list(shared.values()), axis=0).max(initial=0) < 2:  # noqa: PLR2004 -- no pair
        return None
    pairs = (pair for pair in combinations(shared, 2) if frozenset(pair) not in counted)
    return next((pair for pair in pairs if (shared[pair[0]] & shared[pair[1]]).any()), None)


def usual_measure(
    question: AdviceQuestion,
    outline: Sequence[AttributeOutline],
    table: ConfigurationTable,
    counted: CountedPairs | None,
) -> str:
    """The best measure in the evaluation among those for which a version has what they take.

    Args:
        counted: the pairs of attributes with counts, whether or not the question needs them; None: all have.
    """
    if any((question.weights or {}).values()) or question.reference is ReferenceKind.OWN:
        return MUTUAL_INFORMATION
    kept = table.meeting(question.required, question.policy, question.kinds)
    if question.ranks_declared:
        declares = kept[table.figures.by(JOINT, [ALL_TOGETHER]).complete([ALL_TOGETHER])].any()
        return JOINT if declares and question.attributes is None else MUTUAL_INFORMATION
    lacks = counted is not None and (not counted or _lacking_pair(question, outline, table, kept, counted) is not None)
    return MUTUAL_INFORMATION if lacks else JOINT


def _tells(attribute: AttributeOutline, option: str) -> bool:
    """Whether records may have several masked values with this option."""
    if option in {IDENTITY, DROP}:
        return option == IDENTITY and attribute.values > 1
    masking = next(one for one in attribute.maskings if one.id == option)
    return masking.occupied > 1 or not masking.counted


def scored_names(question: AdviceQuestion, names: Sequence[str]) -> list[str]:
    """The names of the selected attributes with a positive weight."""
    chosen, weights = question.attributes, question.weights or {}
    return [name for name in names if (chosen is None or name in chosen) and weights.get(name, 1.0) > 0]


def _refuse_without_evidence(question: AdviceQuestion, attribute: AttributeOutline, used: Sequence[str]) -> None:
    flags = attribute.flags
    known = dict(zip((masking.id for masking in attribute.maskings), flags.maskings, strict=True))
    if question.reference is ReferenceKind.OWN:
        for masking in used:
            if masking in known and lacks_own_reference([known[masking]]):
                raise InvalidDocumentError(
                    f"The reference 'own' needs the mapping and exact counts of every masking; {masking!r} of "
                    f"{attribute.name!r} lacks one of them.",
                    code="no_own_reference",
                )
    if question.rounding_seed is not None and attribute.cells > CELLS:
        raise InvalidDocumentError(
            f"Rounding needs the whole table of {attribute.name!r} with {attribute.cells} cells; the limit is {CELLS}. "
            "Ask without rounding_seed.",
            code="too_heavy",
        )
    if len(used) > 1 and lacks_evidence(flags):
        raise InvalidDocumentError(
            f"The entry has no counts of {attribute.name!r} against the label, but the configurations mask it "
            "differently. Select other attributes, or ask the provider for the joint counts of one of its "
            "maskings. That masking must have at least two masked values with records. If it has no mapping, its "
            'counts must be exact and the provider must say "deterministic": true, or else give its mapping or '
            "transition matrix too.",
            code="no_evidence",
        )


def declared_faults(question: AdviceQuestion, scored: Sequence[str], names: Sequence[str]) -> Iterator[Fault]:
    """The faults of a question about generated configurations, for which declared utilities do not suffice."""
    if not question.ranks_declared:
        return
    if question.label is not None:
        yield Fault("/label", "The utilities of generated configurations are about the default label; leave this out.")
    if question.measure not in DECLARED:
        known = ", ".join(DECLARED)
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


def refuse_undeclared(
    question: AdviceQuestion, places: Sequence[int], table: ConfigurationTable, kept: NDArray[np.bool_]
) -> None:
    """Refuse a question if none of the remaining configurations declares the utilities that it needs.

    Args:
        question: the question, without faults.
        places: the scored attributes (`scored_places`).
        kept: (configurations,) whether each meets all requirements.

    Raises:
        InvalidDocumentError: none does.
    """
    if not kept[table.figures.by(question.measure, places).complete(places)].any():
        known = [measure for at, measure in enumerate(DECLARED) if (table.figures.places[:, 2] == at).any()]
        said = f"The entry declares some by {', '.join(known)}." if known else "The entry declares none."
        raise InvalidDocumentError(
            "Generated configurations are ranked by the transfer utilities that their provider declares. Of "
            f"{int(kept.sum())} that meet all requirements, none declares these by {question.measure!r} for all "
            f"scored attributes. {said} Change the question, or ask the provider to declare them.",
            code="no_evidence",
        )


#: The largest cost of a job in the light lane, so that large computations do not block small ones.
#:
#: The unit is about one cell constrained by a masking. Measured on one core: two to five random mappings of 10 to 800
#: values, 97 to 24,000 units, took 0.01 to 0.24 s. Four mappings that cross and leave most cells empty, 4,900 units,
#: took 0.4 s. Transition matrices of 10 x 10 and 30 x 30 values with six labels, 6,000 and 54,000 units, took 0.1 and
#: 8 s.
LIGHT = 5_000

#: Transition matrices are fitted by many more iterations than mappings.
TRANSITION = 10

#: A cell is summed once for each masking, which is cheaper than fitting: this many per unit. 300,000 take 0.2 s.
SUMS = 50

#: A configuration is looked up for each attribute: this many lookups per unit. 500,000 take 0.15 s.
LOOKUPS = 250

#: A joint measure solves equations for each configuration: this many products of two dimensions per unit.
PRODUCTS = 10_000


def lane_of(cost: float) -> Lane:
    """The lane of a job with this cost."""
    return Lane.LIGHT if cost <= LIGHT else Lane.HEAVY


def reference_cost(attribute: AttributeOutline) -> int:
    """The approximate cost of a reference: its cells times the maskings that constrain them; 1 for at most one.

    Bins of an ordered domain split it into at most as many atoms as all maskings have bins together. Nested maskings
    and other closed forms cost less, but only the mappings would show that. For a transition matrix, each cell is
    multiplied with each masked value.
    """
    views = [masking for masking in attribute.maskings if masking.counted and (masking.mapped or masking.drawn)]
    matrices = [masking for masking in views if masking.drawn and not masking.mapped]
    if attribute.joint or (len(views) <= 1 and not matrices):
        return 1
    if matrices:
        return 1 + TRANSITION * attribute.values * attribute.labels * sum(one.occupied for one in matrices)
    atoms = min(attribute.values, sum(view.occupied for view in views))
    return 1 + atoms * attribute.labels * len(views)


def advice_cost(
    question: AdviceQuestion, outline: Sequence[AttributeOutline], places: Iterable[int], configurations: int
) -> float:
    """The approximate cost of an answer: the cells of its attributes under every masking, and all configurations.

    With declared utilities, no cell is summed.
    """
    if question.ranks_declared:
        return configurations / LOOKUPS
    chosen = [outline[place] for place in places]
    cells = sum(attribute.cells * (1 + len(attribute.maskings)) for attribute in chosen)
    cost = cells / SUMS + configurations * len(chosen) / LOOKUPS
    if needs_pairs(question, outline):
        dimensions = sum(attribute.values for attribute in chosen)
        cost += configurations * dimensions**2 / PRODUCTS
    return cost

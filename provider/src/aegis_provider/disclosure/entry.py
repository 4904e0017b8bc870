"""The analysis of an entry's disclosure: the service's verdict, and the command for a safer entry.

With the provider's own table, also the distance of a guess from the truth.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from math import floor, log10
from typing import Final

from aegis_advisor.cell_bounds import CellBounds, bound_cells
from aegis_advisor.errors import AdvisorError
from aegis_advisor.evidence import AttributeEvidence, evidence_of, with_declared_rounding
from aegis_advisor.verdict import ENOUGH, PublishedCounts, judge, spent_epsilon
from aegis_advisor.verdict.model import Finding, Path
from aegis_provider.disclosure.comparison import Truth, compare, refuse_other_counts, true_counts
from aegis_provider.disclosure.model import AttributeDisclosure, Disclosure, Judged
from aegis_provider.disclosure.tables import (
    attribute_tables,
    label_table,
    linked_tables,
    pair_tables,
    rounding_of,
    tables_with,
)
from aegis_provider.entry import consistent_evidence, content_of, published_counts, tables_in
from aegis_provider.errors import EntryError, PlanError, SmallCountsError, nearest
from aegis_provider.plan.model import Plan
from aegis_provider.processes import Progress, after
from aegis_provider.table import Source
from aegis_sdk.reading import shown, verdict_in_words
from aegis_sdk.wire import Attribute, EntryDocument, Verdict, VerdictFinding, pointer_of

_PARTS = 1000
"""The number of steps that the progress of an attribute is divided into."""


def disclose(
    entry: EntryDocument,
    attributes: Sequence[str] | None = None,
    *,
    below: int = 5,
    within: int = 2,
    table: "Source | None" = None,
    plan: Plan | None = None,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    seconds: float = 60.0,
    progress: Progress = lambda _done, _total: None,
) -> Disclosure:
    """Return the disclosure of an entry's counts: each table alone, and all tables of an attribute and a label linked.

    Args:
        attributes: The names of the attributes to examine; by default all.
        below: Counts above 0 and smaller than this are small.
        within: Cells known to within this many records are counted too.
        table: The table of the entry; every attribute is then compared with the truth.
        plan: The plan by which the table was summarised; needed with a table, and only then.
        seconds: Time limit for the bounds of an attribute. Bounds that stop early are valid, but may be wider than
            necessary.
        progress: Called with (done, total), counting bounds.

    Raises:
        EntryError: The entry lacks an attribute, or its counts contradict each other.
        PlanError: There is a table without a plan, or a plan without a table, or the plan is not the entry's.
        TableError: The table cannot be read, or is not the entry's.
    """
    if (table is None) != (plan is None):
        raise PlanError("table and plan go together, because the plan says what the entry counts; give both")
    refuse_false_declarations(entry)
    chosen, rounding = _chosen(entry, attributes), rounding_of(entry)
    published = consistent_evidence(entry, chosen)
    evidence = [with_declared_rounding(attribute) for attribute in published]
    truths: Sequence[Truth | None] = [None] * len(chosen)
    if table is not None and plan is not None:
        truths = true_counts(table, plan, entry, chosen, delimiter=delimiter, memory_limit=memory_limit)
    examined = list(zip(repeat(entry.label.name), chosen, evidence)) + list(_with_other_labels(entry, chosen))
    disclosed: list[AttributeDisclosure] = []
    known_bounds: dict[str, CellBounds] = {}
    for number, (label, attribute, known) in enumerate(examined):
        bounds = _bounds(known, seconds, _part(progress, number, len(examined)))
        truth = truths[number] if number < len(chosen) else None
        if truth is not None:
            refuse_other_counts(truth, known, bounds)
        if number < len(chosen):
            known_bounds[attribute.name] = bounds
        disclosed.append(_disclosed(entry, attribute, label, known, bounds, below, within, truth))
    names = [attribute.name for attribute in chosen]
    disclosure = Disclosure(
        entry=entry.name,
        records=entry.records,
        label=entry.label.name,
        below=below,
        within=within,
        epsilon=entry.disclosure_control.epsilon if entry.disclosure_control else None,
        histogram=label_table(entry.label, below, rounding),
        attributes=tuple(disclosed),
        pairs=tuple(pair_tables(entry, names, below)),
        associations=sum(
            pair.with_label is not None and not set(names).isdisjoint(pair.attributes) for pair in entry.pairs
        ),
    )
    if len(chosen) < len(entry.attributes):
        return disclosure
    return replace(disclosure, judged=judged(entry, published, known_bounds, after(seconds)))


def _with_other_labels(
    entry: EntryDocument, chosen: Sequence[Attribute]
) -> Iterator[tuple[str, Attribute, AttributeEvidence]]:
    """Yield each other label with each of these attributes but itself, and what is known of both."""
    for label in (entry.labels or ())[1:]:
        task = content_of(entry).about(label)
        beside = [attribute for attribute in chosen if attribute.name != label]
        evidence = evidence_of(task, [entry.attributes.index(attribute) for attribute in beside])
        yield from zip(repeat(label), beside, map(with_declared_rounding, evidence))


def _disclosed(
    entry: EntryDocument,
    attribute: Attribute,
    label: str,
    known: AttributeEvidence,
    bounds: CellBounds,
    below: int,
    within: int,
    truth: Truth | None,
) -> AttributeDisclosure:
    """Return the disclosure of an attribute's counts with a label."""
    if label == entry.label.name:
        domain = entry.label.domain
        tables = attribute_tables(attribute, domain, below, rounding_of(entry))
    else:
        domain = next(one.domain for one in entry.attributes if one.name == label)
        tables = tables_with(entry, attribute, label, below)
    return AttributeDisclosure(
        name=attribute.name,
        other_label=None if label == entry.label.name else label,
        tables=tuple(tables),
        linked=linked_tables(attribute, domain, known, bounds, below=below, within=within),
        compared=None if truth is None else compare(known, truth.joint),
    )


def verdict_on(entry: EntryDocument, seconds: float) -> Judged:
    """Return only the verdict on an entry. Checks that take longer than `seconds` are undecided.

    Raises:
        EntryError: The entry contradicts its declared controls, or its counts contradict each other.
    """
    refuse_false_declarations(entry)
    return judged(entry, consistent_evidence(entry), {}, after(seconds))


def refuse_small_counts(disclosure: Disclosure, source: str) -> None:
    """Reject an entry that certainly discloses a small count: a table shows it, or several together determine it.

    Raises:
        SmallCountsError: The entry does not pass, or a count below the chosen limit is or may be known for certain.
    """
    small = disclosure.small_and_certain
    if small:
        where = ", ".join(f"{count} of {name}" for name, count in small.items())
        raise SmallCountsError(f"{source}: counts below {disclosure.below} are known for certain: {where}")
    if disclosure.unfinished:
        names = ", ".join(map(shown, disclosure.unfinished))
        raise SmallCountsError(
            f"{source}: bounds stopped early, so small counts may be known for certain (see --seconds): {names}"
        )
    if disclosure.judged is not None and not disclosure.judged.verdict.passed:
        raise SmallCountsError(verdict_in_words(source, disclosure.judged.verdict))


def _chosen(entry: EntryDocument, names: Sequence[str] | None) -> list[Attribute]:
    known = {attribute.name: attribute for attribute in entry.attributes}
    for name in names or ():
        if name not in known:
            raise EntryError(f"no attribute {name!r}; {nearest(name, [*known])}")
    return [attribute for attribute in entry.attributes if not names or attribute.name in names]


def _bounds(evidence: AttributeEvidence, seconds: float, progress: Progress) -> CellBounds:
    try:
        return bound_cells(evidence, progress=progress, stop=after(seconds))
    except AdvisorError as error:
        raise EntryError(f"{evidence.name!r}: {error}") from error


def _part(progress: Progress, number: int, numbers: int) -> Progress:
    """Turn the progress of one attribute into progress of them all."""
    progress(number * _PARTS, numbers * _PARTS)
    return lambda done, total: progress(number * _PARTS + done * _PARTS // max(total, 1), numbers * _PARTS)


_SMALLEST: Final = 5
"""The smallest count that counts as safe."""


def refuse_false_declarations(entry: EntryDocument) -> None:
    """Reject an entry whose counts contradict its declared controls.

    Raises:
        EntryError: A count is not a multiple of the declared base, or is below the declared minimum.
    """
    control = entry.disclosure_control
    if control is None:
        return
    base, least = control.rounded_to or 1, control.min_cell or 0
    for counts in tables_in(entry):
        if (counts % base).any():
            raise EntryError(f"/disclosure_control/rounded_to: not all counts are multiples of {base}, as declared")
        if control.rounded_to is None and control.epsilon is None and ((counts > 0) & (counts < least)).any():
            raise EntryError(f"/disclosure_control/min_cell: some counts are below the declared minimum {least}")


def judged(
    entry: EntryDocument,
    evidence: Sequence[AttributeEvidence],
    bounds: Mapping[str, CellBounds],
    stop: Callable[[], bool],
) -> Judged:
    """Return the verdict on an entry.

    `bounds`: the bounds of the cells of attributes, by name, as far as computed; `stop`: called regularly; if true, the
    rest is undecided.

    Raises:
        EntryError: Its pair counts contradict the rest.
    """
    published = published_counts(entry, evidence)

    def bound(one: AttributeEvidence) -> CellBounds:
        known = bounds.get(one.name) if any(one is attribute for attribute in evidence) else None
        return bound_cells(one, stop=stop) if known is None else known

    verdict = judge(published, bound=bound, stop=stop)
    places = tuple(_in_words(entry, finding.path) for finding in verdict.findings)
    told = Verdict(
        passed=verdict.passed,
        findings=told_findings(verdict.findings),
        few=verdict.few,
        rows_per_person=entry.rows_per_person,
    )
    return Judged(told, places, _mending_options(entry, published, verdict.findings))


def told_findings(findings: Sequence[Finding]) -> tuple[VerdictFinding, ...]:
    """Return the findings of the advisor as the contract writes them."""
    return tuple(
        VerdictFinding(reason=finding.reason.value, pointer=pointer_of(finding.path), cells=finding.cells)
        for finding in findings
    )


def _in_words(entry: EntryDocument, path: Path) -> str:  # noqa: PLR0911 - a place of each kind
    """Name a place of an entry."""
    match path:
        case ("attributes", int(place), "maskings", int(masking), _):
            attribute = entry.attributes[place]
            return f"{attribute.name}, {attribute.maskings[masking].id}"
        case ("attributes", int(place), *member):
            kinds = ("unmasked" if one == "joint" else str(one) for one in member)
            return ", ".join([entry.attributes[place].name, *kinds])
        case ("pairs", int(place), *_):
            pair = entry.pairs[place]
            return " x ".join(map(": ".join, zip(pair.attributes, pair.maskings, strict=True)))
        case ("configurations", int(place), "privacy", str(name)):
            return f"{name} of {(entry.configurations or [])[place].id}"
        case ("configurations", int(place), "privacy_by_label", str(label), str(name)):
            return f"{name} of {(entry.configurations or [])[place].id} for {label}"
        case ("configurations", int(place), kind):
            what = "cells" if kind == "suppressed_cells" else "records"
            return f"suppressed {what} of {(entry.configurations or [])[place].id}"
        case ("configuration_table", _, name, place):
            return f"{name} of configuration {place}"
        case _:
            return f"{entry.label.name}, histogram"


def _mending_options(entry: EntryDocument, published: PublishedCounts, findings: Sequence[Finding]) -> str:
    """Return the options of `aegis summarize` for a safer version of a failing entry.

    The remedy for exact counts, and for counts rounded table by table, is the default, which needs no option; for the
    default, a minimum, which leaves out pairs that disclose too much; for a minimum, noise that is always enough.
    """
    control, pairs = entry.disclosure_control, " --pairs" if entry.pairs else ""
    if control is not None and control.rounding is not None and all("privacy" in finding.path for finding in findings):
        return pairs.strip()  # the default publishes privacy in steps
    if control is not None and control.epsilon is not None:
        split = f" --split {control.split}" if control.split else ""
        spent = spent_epsilon(published) or control.epsilon  # so large an epsilon adds no noise
        return f"--epsilon {_at_most(control.epsilon * ENOUGH / spent)}{split}{pairs}"
    if control is not None and control.min_cell is not None:
        return f"--epsilon {_at_most(ENOUGH)}{pairs}"
    if control is not None and control.rounding is not None:
        return f"--min-cell {_SMALLEST}{pairs}"
    return pairs.strip()


def _at_most(epsilon: float) -> str:
    """Round down to two significant digits."""
    unit = 10.0 ** (floor(log10(epsilon)) - 1)
    return f"{floor(epsilon / unit) * unit:.6g}"

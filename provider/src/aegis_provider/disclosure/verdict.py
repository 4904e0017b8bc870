"""The verdict on an entry, by the same mathematics as in the service, and the command for a safer entry."""

from collections.abc import Callable, Mapping, Sequence
from math import floor, log10
from typing import Final

from aegis_advisor.cell_bounds import CellBounds, bound_cells
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.verdict import ENOUGH, PublishedCounts, judge, spent_epsilon
from aegis_advisor.verdict.model import Finding, Path
from aegis_provider.disclosure.model import Judged
from aegis_provider.entry_evidence import published_counts
from aegis_provider.entry_warnings import tables_in
from aegis_provider.errors import EntryError
from aegis_sdk.wire import EntryDocument, Verdict, VerdictFinding, pointer_of

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

    Args:
        entry: The entry.
        evidence: The evidence on each attribute.
        bounds: The bounds of the cells of attributes, by name, as far as computed.
        stop: Called regularly; if true, the rest is undecided.

    Raises:
        EntryError: Its pair counts contradict the rest.
    """
    published = published_counts(entry, evidence)

    def bound(one: AttributeEvidence) -> CellBounds:
        known = bounds.get(one.name) if any(one is attribute for attribute in evidence) else None
        return bound_cells(one, stop=stop) if known is None else known

    verdict = judge(published, bound=bound, stop=stop)
    findings = (
        VerdictFinding(reason=finding.reason.value, pointer=pointer_of(finding.path), cells=finding.cells)
        for finding in verdict.findings
    )
    places = tuple(_in_words(entry, finding.path) for finding in verdict.findings)
    told = Verdict(passed=verdict.passed, findings=tuple(findings), few=verdict.few)
    return Judged(told, places, _mending_options(entry, published, verdict.findings))


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

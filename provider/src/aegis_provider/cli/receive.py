"""The verdict on a delivered table, for `aegis receive`."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from aegis_provider.files import digest_of
from aegis_provider.privacy import CRITERIA
from aegis_provider.receiving.comparison import UnknownText
from aegis_provider.receiving.verification import Measured, Verified, verify
from aegis_sdk.cli.group import LocalVerification
from aegis_sdk.cli.terminal import aligned, progress_bar, say, warn
from aegis_sdk.reading import number, shown
from aegis_sdk.wire import (
    LARGEST_DIFFERENCES,
    LONGEST_REASON,
    DataRequest,
    DeliveryVerdict,
    Difference,
    DisclosureControl,
    Evidence,
)

_SHOWN: Final = 10
_LONG: Final = 40
_WORDS: Final = {
    "equal": "must be equal",
    "left_out": "may be lower by the records left out",
    "rounded": "may differ by less than the base",
    "noise": "may differ by the declared noise",
    "stars": "as many cells must be *",
    "unknown": "must be listed",
    "total": "may be lower by the records left out",
}


def verify_delivery(path: Path, request: DataRequest, evidence: Evidence, delimiter: str | None) -> LocalVerification:
    """Count the file and compare it with the evidence."""
    say(f"counting {path} ...")
    with progress_bar("counting") as progress:
        verified = verify(path, request, evidence, delimiter=delimiter, progress=progress)
    if said := verified.formulas.in_words():
        warn(f"{path}: {said}; import its columns as text")
    lines = tuple(_report(verified, evidence))
    return LocalVerification(verified.is_as_agreed, _verdict(path, request, verified), lines, _details(verified))


def _verdict(path: Path, request: DataRequest, verified: Verified) -> DeliveryVerdict:
    """Return the verdict to post: without texts of the file, and short enough whatever texts are published."""
    delivery = request.delivery  # the download has this digest; otherwise nothing is verified
    first = list(verified.compared.first)
    size = sum(len(each.model_dump_json().encode()) + 1 for each in first)
    while size > LARGEST_DIFFERENCES - 2:
        size -= len(first.pop().model_dump_json().encode()) + 1
    reason = "; ".join(fault.reason for fault in verified.faults)
    return DeliveryVerdict(
        sha256=digest_of(path) if delivery is None else delivery.sha256,
        size=path.stat().st_size,
        records=verified.records,
        privacy={} if verified.privacy is None else verified.privacy.kept,
        cells_compared=verified.compared.cells,
        cells_differing=verified.compared.differing,
        differences=first,
        **({"reason": reason[:LONGEST_REASON]} if reason else {}),
    )


def _details(verified: Verified) -> dict[str, Any]:
    """Return details for the consumer only, since they may contain raw values."""
    return {
        "faults": [fault.text for fault in verified.faults],
        "k_by_all": None if verified.privacy is None else verified.privacy.k_by_all,
        "formulas": asdict(verified.formulas),
        "unknown_texts": [asdict(unknown) for unknown in verified.compared.unknown],
    }


def _report(verified: Verified, evidence: Evidence) -> Iterator[str]:
    compared = verified.compared
    for fault in verified.faults:
        yield shown(fault.text, 300)
    if verified.comparison is None:
        return
    of = f"{len(evidence.attributes)} attributes and {len(evidence.pairs)} pairs"
    yield f"counts: {compared.cells:,} compared, of {of}; {compared.differing or 'none'} differ"
    uncounted = [attribute.attribute for attribute in evidence.attributes if attribute.joint is None]
    if uncounted:
        yield f"not compared, because the entry has no counts of them: {', '.join(shown(name) for name in uncounted)}"
    yield _left_out(verified, evidence)
    yield from _measured(verified)
    yield from _differing(verified)


def _differing(verified: Verified) -> Iterator[str]:
    """Yield the counts that differ and the unlisted texts; only the number of these is posted."""
    compared = verified.compared
    counts = [each for each in compared.first if each.rule != "unknown"]
    rows = [_unknown_row(unknown) for unknown in compared.unknown[: _SHOWN // 2]]
    rows += [_row(count) for count in counts[: _SHOWN - len(rows)]]
    if rows:
        yield from aligned(("attribute", "masked value", "class", "published", "delivered", "but"), rows)
    if compared.unknown:
        yield "unlisted texts may be raw values: only their number is posted"
    if compared.differing > len(rows):
        listed = f"{len(counts)} counts and {len(compared.unknown)} texts"
        yield f"and {compared.differing - len(rows):,} more: --json has the first {listed}"


def _left_out(verified: Verified, evidence: Evidence) -> str:
    """Report how many records are missing, and how many may be."""
    if verified.comparison is None:
        return ""
    missing, declared = verified.comparison.missing, evidence.suppressed
    missed = f"{missing.least:,}" if missing.least == missing.most else f"{missing.least:,} to {missing.most:,}"
    said = "the entry does not say how many may be" if declared is None else f"{declared:,} are declared"
    if declared is None and not verified.comparison.left_out.most:
        said = "none is declared"
    if declared and evidence.disclosure_control is not None:
        base = DisclosureControl(**evidence.disclosure_control).rounded_to
        said += "" if base is None else f", rounded to a multiple of {base}"
    return f"records: {verified.records:,}; {missed} left out by the published counts, {said}"


def _measured(verified: Verified) -> Iterator[str]:
    privacy = verified.privacy
    if privacy is None or not privacy.reached:
        return
    yield f"measured: {', '.join(_reached(name, privacy) for name in privacy.reached)}"
    if privacy.k_by_all is not None and privacy.k_by_all != privacy.reached.get("k"):
        named = ", ".join(shown(name) for name in privacy.quasi_identifiers)
        k = number(privacy.k_by_all, 6)
        yield f"the provider says that only {named} identify people; by all but the label, k = {k}"
    if privacy.unit is not None and "k" in privacy.reached:
        k = number(privacy.reached["k"], 6)
        yield f"k counts people, who are not in the table: at least {k} rows a class are there"
    if unmeasured := [name for name in privacy.promised if name not in privacy.reached]:
        named = ", ".join(
            f"{CRITERIA[name].word} ({name} = {number(privacy.promised[name], 6)})" for name in unmeasured
        )
        yield f"promised, but not measured here: {named}"
    if privacy.undecided:
        names = [f"{name} (promised: {number(privacy.promised[name], 6)})" for name in privacy.undecided]
        yield f"not decided: {', '.join(names)}; {privacy.reason}"


def _reached(name: str, privacy: Measured) -> str:
    """Return a criterion's value, and its promise if that could be verified."""
    reached, promised = f"{name} = {number(privacy.reached[name], 4)}", privacy.promised.get(name)
    if promised is None or name in privacy.undecided:
        return reached
    return f"{reached} ({CRITERIA[name].sign} {number(promised, 6)} promised)"


def _unknown_row(unknown: UnknownText) -> tuple[str, ...]:
    text = shown(unknown.text, _LONG)
    place = ("records", "all", text) if unknown.attribute is None else (shown(unknown.attribute, _LONG), text, "all")
    return *place, "not there", f"{unknown.records:,}", _WORDS["equal"]


def _row(difference: Difference) -> tuple[str, ...]:
    names = " x ".join(
        f"{shown(name, _LONG)} ({shown(masking, _LONG)})"
        for name, masking in zip(difference.attributes, difference.maskings, strict=True)
    )
    values = " x ".join(shown(value, _LONG) for value in difference.values)
    published = "not there" if difference.published is None else f"{difference.published:,}"
    label = "all" if difference.label is None else shown(difference.label, _LONG)
    return names or "records", values or "all", label, published, f"{difference.delivered:,}", _WORDS[difference.rule]

"""Privacy and risk as text and as JSON: what `aegis risk` prints."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aegis_sdk.cli.saying import aligned

if TYPE_CHECKING:
    from aegis_sdk.provider.privacy import Assessed, Assessment, ClassSizes, Risk

_SHOWN_KS = (2, 3, 5, 10, 20, 50)
_USUAL_K = 5
_BANDS = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, None))


def all_releases(found: "Assessment") -> Iterator[str]:
    """Lines: the table as it is and every configuration, one line each."""
    yield from _roles(found)
    header = ("configuration", "k", "l", "t", "alone", f"left out for k={_USUAL_K}", "promise")
    rows = [_row(each) for each in (found.as_it_is, *found.releases)]
    yield from ("", *aligned(header, rows), "")
    yield "alone: share of the records that no other agrees with on all quasi-identifiers"
    yield f"left out for k={_USUAL_K}: share of the records to suppress so that the others have k={_USUAL_K}"


def one_release(found: "Assessment") -> Iterator[str]:
    """Lines: everything about the only release, or about the table where there is none."""
    release = found.releases[0] if found.releases else found.as_it_is
    yield f"{release.id or 'the table as it is'}: {release.in_words()}"
    yield from _roles(found)
    if release.suppressed:
        yield f"suppressed: {release.suppressed} records"
    if release.sizes is None or release.risk is None:
        return
    promised = {each.name: _plain(each.promised) for each in release.verdicts}
    broken = {each.name for each in release.broken}
    rows = [
        (name, reached, promised.get(name, ""), ("BROKEN" if name in broken else "held") if name in promised else "")
        for name, reached in release.privacy.items()
    ]
    yield from ("", *aligned(("privacy", "reached", "promised", ""), rows))
    yield from ("", "re-identification:", *aligned(("risk", ""), list(_risks(release.risk))))
    bands = [(name, classes, records) for name, classes, records in _bands(release.sizes) if classes]
    yield from ("", "equivalence classes:", *aligned(("records in each", "classes", "records"), bands))
    suppression = [(f"k={k}", records, share) for k, records, share in _suppression(release.sizes)]
    yield from ("", "to suppress, so that the others have:", *aligned(("", "records", "share"), suppression))


def as_document(release: "Assessed", *, in_full: bool) -> dict[str, Any]:
    """The release as JSON values; `holds` is null where it cannot be told. `in_full`: with the class sizes."""
    measured = release.sizes is not None
    return {
        "id": release.id or None,
        "promise": dict(release.promise),
        "holds": release.holds,
        "broken": [vars(each) for each in release.broken],
        "left_to_chance": list(release.left_to_chance),
        "suppressed": release.suppressed if measured else None,
        "privacy": dict(release.privacy),
        "risk": _risk_document(release.risk),
        "suppression": {} if release.sizes is None else {k: records for k, records, _ in _suppression(release.sizes)},
        **({"class_sizes": _class_sizes(release.sizes)} if in_full and release.sizes is not None else {}),
    }


def _roles(found: "Assessment") -> Iterator[str]:
    yield f"quasi-identifiers: {', '.join(found.plan.quasi_identifiers) or 'none'}"
    yield f"sensitive: {', '.join(found.plan.sensitive) or 'none'}"


def _row(release: "Assessed") -> tuple[str | float, ...]:
    privacy = [release.privacy.get(name, "-") for name in ("k", "l", "t")]
    share: str | float = "-"
    if release.sizes is not None and release.risk is not None:
        share = next(share for k, _, share in _suppression(release.sizes) if k == _USUAL_K)
    alone = "-" if release.risk is None else release.risk.unique_share
    return (release.id or "(as it is)", *privacy, alone, share, release.in_words())


def _risks(risk: "Risk") -> Iterator[tuple[str, float]]:
    yield "prosecutor, highest", risk.highest
    yield "prosecutor, average", risk.average
    for threshold, share in risk.above.items():
        yield f"records above {threshold:g}, share", share
    yield "marketer", risk.marketer
    yield "records alone in their class", risk.uniques
    yield "records alone in their class, share", risk.unique_share


def _bands(sizes: "ClassSizes") -> Iterator[tuple[str, int, int]]:
    for least, most in _BANDS:
        name = f"{least}+" if most is None else str(least) if most == least else f"{least}-{most}"
        yield (name, *sizes.within(least, most))


def _suppression(sizes: "ClassSizes") -> Iterator[tuple[int, int, float]]:
    """For some k: the records to suppress, and their share."""
    for k, records in zip(_SHOWN_KS, sizes.suppressed_for(_SHOWN_KS).tolist(), strict=True):
        yield k, records, records / sizes.records


def _class_sizes(sizes: "ClassSizes") -> list[list[int]]:
    return [list(pair) for pair in zip(sizes.sizes.tolist(), sizes.classes.tolist(), strict=True)]


def _risk_document(risk: "Risk | None") -> dict[str, Any] | None:
    return None if risk is None else {**vars(risk), "above": {f"{key:g}": share for key, share in risk.above.items()}}


def _plain(number: float) -> float:
    return int(number) if float(number).is_integer() else number

"""Privacy and risk as text and as JSON: what `aegis risk` prints."""

from collections.abc import Iterator, Sequence
from typing import Any

from aegis_provider.privacy import CRITERIA, Assessment, ClassSizes, ReleasePrivacy, Risk
from aegis_sdk.cli.terminal import aligned
from aegis_sdk.reading import shown

_SHOWN_KS = (2, 3, 5, 10, 20, 50)
_USUAL_K = 5
_LEAST_SHOWN = 0.001
_WORDS = 100
_BANDS = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, None))


def compared_with_itself() -> str:
    """Said below a table without plan, which may be a release that was measured with its plan, too."""
    names = ", ".join(name for name, each in CRITERIA.items() if each.compares)
    return (
        f"{names}: against this table. With its plan, a release is compared with the whole\n"
        "table, before anything is suppressed, so that they may differ a little."
    )


def all_releases(found: Assessment) -> Iterator[str]:
    """Lines: the table as it is and every configuration, one line each."""
    yield from _roles(found)
    header = ("configuration", "k", "l", "t", "alone", f"left out for k={_USUAL_K}", "promise")
    releases = (found.as_it_is, *found.releases)
    names = [found.unmasked_id, *(each.id for each in found.releases)]
    alone = _percents([None if each.risk is None else each.risk.unique_share for each in releases])
    left_out = _percents([_left_out(each) for each in releases])
    measured = ([each.privacy.get(name, "-") for name in ("k", "l", "t")] for each in releases)
    words = (each.in_words() for each in releases)
    rows = [
        (name, *privacy, *rest) for name, privacy, *rest in zip(names, measured, alone, left_out, words, strict=True)
    ]
    yield from ("", *aligned(header, rows), "")
    if found.binned:
        yield f"in bins: the plan's, of the numbers of {', '.join(found.binned)}"
    yield "alone: share of the records that no other agrees with on all quasi-identifiers"
    yield f"left out for k={_USUAL_K}: share of the records to suppress so that the others have k={_USUAL_K}"


def one_release(found: Assessment) -> Iterator[str]:
    """Lines: everything about the only release, or about the table where there is none."""
    release = found.releases[0] if found.releases else found.as_it_is
    yield f"{release.id or f'the {found.unmasked_name}'}: {release.in_words()}"
    yield from _columns(found) if found.releases else _roles(found)
    if release.suppressed:
        yield from ("", f"suppressed: {release.suppressed} records")
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
    ks, records, shares = zip(*_suppression(release.sizes), strict=True)
    suppression = list(zip((f"k={k}" for k in ks), records, _percents(shares), strict=True))
    yield from ("", "to suppress, so that the others have:", *aligned(("", "records", "share"), suppression))


def as_document(release: ReleasePrivacy, *, in_full: bool) -> dict[str, Any]:
    """The release as JSON values; `holds` is null where it cannot be told. `in_full`: with the class sizes."""
    measured = release.sizes is not None
    return {
        "id": release.id or None,
        "promise": dict(release.promise),
        "holds": release.holds,
        "broken": [vars(each) for each in release.broken],
        "left_to_chance": list(release.left_to_chance),
        "masked_elsewhere": list(release.masked_elsewhere),
        "suppressed": release.suppressed if measured else None,
        "privacy": dict(release.privacy),
        "risk": _risk_document(release.risk),
        "suppression": {} if release.sizes is None else {k: records for k, records, _ in _suppression(release.sizes)},
        **({"class_sizes": _class_sizes(release.sizes)} if in_full and release.sizes is not None else {}),
    }


def _roles(found: Assessment) -> Iterator[str]:
    yield f"quasi-identifiers: {', '.join(found.plan.quasi_identifiers) or 'none'}"
    yield f"sensitive: {', '.join(found.plan.sensitive) or 'none'}"
    if found.neither:
        yield f"neither: {', '.join(found.neither)}"


def _columns(found: Assessment) -> Iterator[str]:
    """What becomes of each column in the only release."""
    rows = [
        (shown(each.name), each.role, shown(each.masking) if each.masking else "", shown(each.becomes, _WORDS))
        for each in found.columns
    ]
    yield from ("", *aligned(("column", "taken for", "masking", "the values become"), rows))


def _left_out(release: ReleasePrivacy) -> float | None:
    if release.sizes is None or release.risk is None:
        return None
    return next(share for k, _, share in _suppression(release.sizes) if k == _USUAL_K)


def _percents(shares: Sequence[float | None]) -> list[str]:
    """A column of shares in per cent, with what is above zero never shown as zero."""
    texts = ["-" if each is None else "<0.1%" if 0 < each < _LEAST_SHOWN else f"{each:.1%}" for each in shares]
    return [text.rjust(max(map(len, texts))) for text in texts]


def _risks(risk: Risk) -> Iterator[tuple[str, str]]:
    """The average prosecutor risk and the marketer risk are one number: classes over records."""
    above = {f"records with a risk above 1 in {round(1 / each)}": share for each, share in risk.above.items()}
    shares = {
        "prosecutor, highest": risk.highest,
        "prosecutor, average; marketer": risk.average,
        **above,
        "records alone in their class": risk.unique_share,
    }
    yield from zip(shares, _percents(list(shares.values())), strict=True)


def _bands(sizes: ClassSizes) -> Iterator[tuple[str, int, int]]:
    for least, most in _BANDS:
        name = f"{least}+" if most is None else str(least) if most == least else f"{least}-{most}"
        yield (name, *sizes.within(least, most))


def _suppression(sizes: ClassSizes) -> Iterator[tuple[int, int, float]]:
    """For some k: the records to suppress, and their share."""
    for k, records in zip(_SHOWN_KS, sizes.suppressed_for(_SHOWN_KS).tolist(), strict=True):
        yield k, records, records / sizes.records


def _class_sizes(sizes: ClassSizes) -> list[list[int]]:
    return [list(pair) for pair in zip(sizes.sizes.tolist(), sizes.classes.tolist(), strict=True)]


def _risk_document(risk: "Risk | None") -> dict[str, Any] | None:
    return None if risk is None else {**vars(risk), "above": {f"{key:g}": share for key, share in risk.above.items()}}


def _plain(number: float) -> float:
    return int(number) if float(number).is_integer() else number

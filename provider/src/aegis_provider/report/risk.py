"""The report on privacy and risk as text and as JSON, which `aegis risk` prints, and what its page says alike."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from aegis_provider.privacy import CRITERIA, Assessment, ClassSizes, ReleasePrivacy, Risk, roles_of
from aegis_provider.report.model import Section, TextTable, text_lines
from aegis_sdk.reading import shown

_SHOWN_KS = (2, 3, 5, 10, 20, 50)
_USUAL_K = 5
_LEAST_SHOWN = 0.001
_WORDS = 100

BANDS: Final = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, None))
"""Sizes of equivalence classes that are told together: the least and the most of each."""

SHOWN_OF_ALL: Final = ("k", "l", "t")
"""The criteria that are shown of every release, beside each other."""


def compared_with_itself() -> str:
    """Said below a table without plan, which may be a release that was measured with its plan, too."""
    names = ", ".join(name for name, each in CRITERIA.items() if each.compares)
    return (
        f"{names}: against this table. With its plan, a release is compared with the whole\n"
        "table, before anything is suppressed, so that they may differ a little."
    )


def risk_text(assessment: Assessment, *, in_full: bool) -> Iterator[str]:
    """Lines: every release in a line, or in full the only one, or the table where there is none."""
    return text_lines(_one_release(assessment) if in_full else _all_releases(assessment))


def _all_releases(assessment: Assessment) -> Iterator[Section]:
    yield Section("", list(_roles(assessment)))
    header = ("configuration", *SHOWN_OF_ALL, "alone", f"left out for k={_USUAL_K}", "promise")
    releases = (assessment.as_it_is, *assessment.releases)
    names = [assessment.unmasked_id, *(each.id for each in assessment.releases)]
    unique = _percents([None if each.risk is None else each.risk.unique_share for each in releases])
    left_out = _percents([_left_out(each) for each in releases])
    measured = ([each.privacy.get(name, "-") for name in SHOWN_OF_ALL] for each in releases)
    words = (each.in_words() for each in releases)
    rows = [
        (name, *privacy, *rest) for name, privacy, *rest in zip(names, measured, unique, left_out, words, strict=True)
    ]
    yield Section("", [TextTable(header, rows)])
    bins = [f"in bins: the plan's, of the numbers of {', '.join(assessment.binned)}"] if assessment.binned else []
    yield Section(
        "",
        [
            *bins,
            "alone: share of the records that no other agrees with on all quasi-identifiers",
            f"left out for k={_USUAL_K}: share of the records to suppress so that the others have k={_USUAL_K}",
        ],
    )


def _one_release(assessment: Assessment) -> Iterator[Section]:
    release = assessment.releases[0] if assessment.releases else assessment.as_it_is
    headline = f"{release.id or f'the {assessment.unmasked_name}'}: {release.in_words()}"
    yield Section("", [headline, *(() if assessment.releases else _roles(assessment))])
    if assessment.releases:
        yield Section("", [columns_table(assessment)])
    if release.suppressed:
        yield Section("", [f"suppressed: {release.suppressed} records"])
    if release.sizes is not None and release.risk is not None:
        yield Section("", [_privacy_table(release)])
        yield Section("what that says of the worst class:", list(_consequences(release)))
        yield Section("re-identification:", [TextTable(("risk", ""), list(_risk_rows(release.risk)))])
        yield Section("equivalence classes:", [_band_table(release.sizes)])
        yield Section("to suppress, so that the others have:", [_suppression_table(release.sizes)])


def _privacy_table(release: ReleasePrivacy) -> TextTable:
    promised = {each.name: _plain(each.promised) for each in release.verdicts}
    rows = [
        (name, reached, promised.get(name, ""), verdict_in_words(release, name))
        for name, reached in release.privacy.items()
    ]
    return TextTable(("privacy", "reached", "promised", ""), rows)


def _consequences(release: ReleasePrivacy) -> Iterator[str]:
    """What each number means, a sentence each."""
    for name, reached in release.privacy.items():
        yield f"  {name}: {CRITERIA[name].consequence(reached)}"


def _band_table(sizes: ClassSizes) -> TextTable:
    bands = ((band_name(*band), *sizes.within(*band)) for band in BANDS)
    return TextTable(("records in each", "classes", "records"), [(name, n, of) for name, n, of in bands if n])


def _suppression_table(sizes: ClassSizes) -> TextTable:
    ks, records, shares = zip(*_suppression(sizes), strict=True)
    rows = list(zip((f"k={k}" for k in ks), records, _percents(shares), strict=True))
    return TextTable(("", "records", "share"), rows)


def verdict_in_words(release: ReleasePrivacy, name: str) -> str:
    """Whether the promise of that name is held; empty if there is none."""
    if name not in release.promise:
        return ""
    return "BROKEN" if name in {each.name for each in release.broken} else "held"


def columns_table(assessment: Assessment) -> TextTable:
    """What becomes of each column in the only release; without one, what each is taken for."""
    header = ("column", "taken for", "masking", "the values become")
    if not assessment.columns:
        roles = roles_of(assessment.plan, assessment.configurations)
        return TextTable(header[:2], [(shown(name), role) for name, role in roles.items()])
    rows = [
        (shown(each.name), each.role, shown(each.masking) if each.masking else "", shown(each.becomes, _WORDS))
        for each in assessment.columns
    ]
    return TextTable(header, rows)


def band_name(least: int, most: int | None) -> str:
    """`1`, `3-4` or `100+`."""
    return f"{least}+" if most is None else str(least) if least == most else f"{least}-{most}"


def risk_shares(risk: Risk) -> dict[str, float]:
    """The risks by name; the average prosecutor risk and the marketer risk are one number: classes over records."""
    above = {f"records with a risk above 1 in {round(1 / each)}": share for each, share in risk.above.items()}
    return {"prosecutor, highest": risk.highest, "prosecutor, average; marketer": risk.average, **above}


def risk_document(assessment: Assessment, *, in_full: bool) -> dict[str, Any]:
    """All that was measured, as JSON values. `in_full`: with the class sizes."""
    releases = [
        _release_document(release, in_full=in_full) | {"maskings": dict(configuration.maskings)}
        for release, configuration in zip(assessment.releases, assessment.configurations, strict=True)
    ]
    return {
        "quasi_identifiers": list(assessment.plan.quasi_identifiers),
        "sensitive": list(assessment.plan.sensitive),
        "neither": list(assessment.neither),
        "binned": list(assessment.binned),
        "as_it_is": _release_document(assessment.as_it_is, in_full=in_full),
        "configurations": releases,
    }


def _release_document(release: ReleasePrivacy, *, in_full: bool) -> dict[str, Any]:
    """`holds` is null where it cannot be told."""
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


def _roles(assessment: Assessment) -> Iterator[str]:
    yield f"quasi-identifiers: {', '.join(assessment.plan.quasi_identifiers) or 'none'}"
    yield f"sensitive: {', '.join(assessment.plan.sensitive) or 'none'}"
    if assessment.neither:
        yield f"neither: {', '.join(assessment.neither)}"


def _left_out(release: ReleasePrivacy) -> float | None:
    if release.sizes is None or release.risk is None:
        return None
    return next(share for k, _, share in _suppression(release.sizes) if k == _USUAL_K)


def _percents(shares: Sequence[float | None]) -> list[str]:
    """A column of shares in per cent, with what is above zero never shown as zero."""
    texts = ["-" if each is None else "<0.1%" if 0 < each < _LEAST_SHOWN else f"{each:.1%}" for each in shares]
    return [text.rjust(max(map(len, texts))) for text in texts]


def _risk_rows(risk: Risk) -> Iterator[tuple[str, str]]:
    shares = {**risk_shares(risk), "records alone in their class": risk.unique_share}
    yield from zip(shares, _percents(list(shares.values())), strict=True)


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

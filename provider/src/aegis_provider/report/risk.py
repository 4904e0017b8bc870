"""The report of `aegis risk` on the privacy of a table and its releases, and its JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from aegis_provider.privacy import (
    CERTAIN_VALUES_REMEDY,
    CRITERIA,
    IN_BINS,
    Assessment,
    ClassSizes,
    KnownRows,
    ReleasePrivacy,
    Risk,
    maskings_in_short,
    promises_nothing,
    roles_of,
)
from aegis_provider.report.model import Part, Report, Section, TextTable, risk_terms
from aegis_provider.report.verdicts import RiskVerdict
from aegis_sdk.charts import BAD, GOOD, OTHER, Axis, Lengths, Plane, Series, SeriesBars, Spot, Tone
from aegis_sdk.reading import Alone, Share, as_sentence, number, shown

_DRAWN_KS = range(2, 51)
_USUAL_K = 5
_HIGH_RISK = 0.2
_WORDS = 100
_CURVES = 100
_ROWS = 30
_CRITERIA = ("k", "l", "t")
_BANDS: Final = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, None))
"""Bands of equivalence class sizes: their minimum and maximum."""
_RISKY: Final = {
    ("alone", BAD): (1, 1),
    ("in a class of 2 to 4: risk above 1 in 5", Tone("red", 0.5)): (2, 4),
    ("in a class of 5 to 19: risk above 1 in 20", Tone("blue", 0.35)): (5, 19),
    ("in a class of 20 or more", GOOD): (20, None),
}


def risk_report(assessment: Assessment, table: str, verdict: RiskVerdict, alone: Alone | None = None) -> Report:
    """Report one release in detail, several side by side, or the table if there is no release.

    Args:
        assessment: The measurements.
        table: The table's name.
        verdict: The verdict, shown at the top.
        alone: The records that are alone on all shared columns, shown below it.
    """
    only = assessment.releases[0] if len(assessment.releases) == 1 else None
    title = f"Privacy of {table}" + (f", as {only.id} masks it" if only else "")
    looked_at = (
        f"According to {assessment.plan.source}. Someone who knows other attributes of a person than these is a "
        "greater danger."
    )
    sections = [Section("What was examined", [looked_at, _columns(assessment)])]
    if len(assessment.releases) > 1:
        sections.append(Section("The configurations", list(_configurations(assessment))))
    else:
        sections += _in_detail(assessment, only or assessment.as_it_is)
    terms = risk_terms(of_people=_unit(assessment.as_it_is.sizes) == "people")
    sections.append(Section("What the numbers mean", terms))
    return Report(title, list(_summary(assessment, verdict, alone)), sections)


def _unit(sizes: ClassSizes | None) -> str:
    return "records" if sizes is None or not sizes.of_people else "people"


def _summary(assessment: Assessment, verdict: RiskVerdict, alone: Alone | None) -> Iterator[str]:
    yield verdict.line
    if alone is not None:
        yield as_sentence(alone.sentence)
    if len(assessment.releases) < 2:  # noqa: PLR2004 - of several, each has a row
        yield from _of_one(assessment)
    if assessment.certain_values:
        yield f"Warning: {assessment.certain_values}. {CERTAIN_VALUES_REMEDY}."
    if len(assessment.releases) == 1 and assessment.releases[0].known is not None:
        yield as_sentence(assessment.releases[0].known.shares.sentence)
    before = assessment.as_it_is.risk
    if before is not None:
        told, other = f"The table has {before.records:,} records.", "no other record"
        if _unit(assessment.as_it_is.sizes) == "people":
            told, other = "All numbers count people, each once in every class with a record of theirs.", "nobody else"
        yield (
            f"{told} As it is{IN_BINS if assessment.binned else ''}, "
            f"{Share(before.unique_share)} of them are alone: {other} agrees with them on all "
            f"quasi-identifiers. {Share(before.above[_HIGH_RISK])} have a risk of re-identification above 1 in 5."
        )


def _of_one(assessment: Assessment) -> Iterator[str]:
    """Report the highest risk of the only release, or of the table, and the suppression."""
    [release] = assessment.releases or [assessment.as_it_is]
    told = [f"The highest risk of re-identification is {Share(release.risk.highest)}."] if release.risk else []
    told += [f"{release.suppressed:,} records are left out."] if release.suppressed else []
    told += [f"{release.suppressed_cells:,} single cells are suppressed."] if release.suppressed_cells else []
    if told:
        yield " ".join(told)


def _columns(assessment: Assessment) -> TextTable:
    """Show the masking of each column in the only release; without a release, each column's role."""
    header = ("column", "role", "masking", "the values become")
    if not assessment.columns:
        roles = roles_of(assessment.plan, assessment.configurations)
        return TextTable(header[:2], [(shown(name), role) for name, role in roles.items()])
    rows = [
        (
            shown(column.name),
            column.role,
            shown(column.masking) if column.masking else "",
            shown(column.becomes, _WORDS),
        )
        for column in assessment.columns
    ]
    return TextTable(header, rows)


def _configurations(assessment: Assessment) -> Iterator[Part]:
    unit = _unit(assessment.as_it_is.sizes)
    is_apart = assessment.as_it_is.sizes is not None and assessment.as_it_is.sizes.is_apart
    if any(each.risk for each in assessment.releases):
        yield _classes_of_all(assessment)
        if is_apart:
            yield _suppression_curves(assessment)
    left_out = f"left out for k={_USUAL_K}"
    header = ("configuration", *_CRITERIA, "alone", "risk above 1 in 5", left_out, "suppressed", "promise", "maskings")
    rows = [_release_row(assessment.as_it_is, assessment.unmasked_id, "")]
    for release, configuration in zip(assessment.releases, assessment.configurations, strict=True):
        rows.append(_release_row(release, release.id, maskings_in_short(assessment.plan, configuration)))
    yield TextTable(header, rows, wide=1)
    if known := [(each.id, *_known(each.known)) for each in assessment.releases if each.known is not None]:
        yield TextTable(("configuration", "k", *_KNOWN), known, _KNOWN_CAPTION)
    if assessment.binned:
        yield f"in bins: the numbers of {', '.join(assessment.binned)} are in the plan's bins"
    yield f"alone: share of the {unit} that agree with no other on all quasi-identifiers"
    if by_label := [
        (each.id or assessment.unmasked_id, *row) for each in assessment.releases for row in _by_label(each)
    ]:
        yield TextTable(("configuration", "label", *_CRITERIA), by_label, _BY_LABEL_CAPTION)
    if is_apart:
        yield f"{left_out}: share of the records to suppress so that the others have k={_USUAL_K}"


def _release_row(release: ReleasePrivacy, name: str, maskings: str) -> tuple[str | float, ...]:
    privacy = [release.privacy.get(criterion, "-") for criterion in _CRITERIA]
    shares: tuple[str | float, ...] = ("-", "-", "-")
    if release.sizes is not None and release.risk is not None:
        shares = (
            Share(release.risk.unique_share),
            Share(release.risk.above[_HIGH_RISK]),
            *(_left_out(release.sizes, [_USUAL_K]) if release.sizes.is_apart else ["-"]),
        )
    return (name, *privacy, *shares, release.suppressed, release.in_words(), maskings)


def _in_detail(assessment: Assessment, release: ReleasePrivacy) -> Iterator[Section]:
    yield Section("Privacy criteria", list(_criteria(assessment, release)))
    compared = {assessment.unmasked_name: assessment.as_it_is}
    if release.id and release.risk is not None:
        compared[f"as {release.id} masks it"] = release
    yield Section("Risk of re-identification", list(_risk(compared)))
    name, measured = list(compared.items())[-1]
    if measured.sizes is not None and measured.risk is not None:
        yield Section(f"Equivalence classes, {name}", list(_classes(measured.sizes, compared)))
        suppressed = suppression_document(measured.sizes).items()
        if not suppressed:
            return
        rows = [(f"k={k}", records, Share(records / measured.sizes.records)) for k, records in suppressed]
        table = TextTable(("so that the others have", "records", "share"), rows)
        yield Section(f"Records to suppress, {name}", [table, _suppression_curves(assessment)])


def _criteria(assessment: Assessment, release: ReleasePrivacy) -> Iterator[Part]:
    broken = {breach.name for breach in release.broken}
    promised = {
        name: f"{number(promise, 6)}, {'BROKEN' if name in broken else 'held'}"
        for name, promise in release.promise.items()
        if not promises_nothing(name, promise)
    }
    rows = [
        (
            f"{name}: {CRITERIA[name].word}",
            number(reached, 4),
            promised.get(name, ""),
            CRITERIA[name].in_worst_class(reached, of_people=_unit(release.sizes) == "people"),
        )
        for name, reached in release.privacy.items()
    ]
    header = ("criterion", "reached", "promised", "in the worst class")
    yield TextTable(header, rows) if rows else "Nothing could be measured."
    if release.by_label:
        yield TextTable(("label", *_CRITERIA), list(_by_label(release)), _BY_LABEL_CAPTION)
    if release.known is not None:
        yield TextTable(("k", *_KNOWN), [_known(release.known)], _KNOWN_CAPTION)
    if release.unmeasured:
        yield f"Cannot be checked here: {', '.join(release.unmeasured)}."
    if assessment.plan.sensitive and not any(attribute.maskings for attribute in assessment.plan.attributes):
        names = ", ".join(name for name in release.privacy if CRITERIA[name].compares)
        yield (
            f"{names}: compared with this table. With its plan, a release is compared with the whole table before "
            "anything is suppressed, so these numbers may differ slightly."
        )


_KNOWN: Final = ("one row", "two rows", "all rows")
_KNOWN_CAPTION: Final = (
    "the share of the people of whom fewer than k look alike, to someone who knows one, two or all of their rows"
)


_BY_LABEL_CAPTION: Final = "each label as the sensitive one, to someone who knows all others; the worst counts"


def _by_label(release: ReleasePrivacy) -> Iterator[tuple[str | float, ...]]:
    for label, privacy in release.by_label.items():
        yield shown(label), *(privacy.get(criterion, "-") for criterion in _CRITERIA)


def _known(known: KnownRows) -> tuple[str | float, ...]:
    shares = known.shares
    numbers = (shares.one, shares.two, shares.all)
    return known.k, *("-" if share is None else Share(share) for share in numbers)


def _risk(compared: Mapping[str, ReleasePrivacy]) -> Iterator[Part]:
    unit = _unit(next(iter(compared.values())).sizes)
    risks = {name: _risks(each.risk, unit) for name, each in compared.items() if each.risk is not None}
    names = next(iter(risks.values()), {})
    yield TextTable(("risk", *risks), [(name, *(risk[name] for risk in risks.values())) for name in names])
    when = "before and after masking" if len(compared) > 1 else "as the table is"
    caption = f"The risk that a record is re-identified, {when}. Lower is safer."
    yield _beside(f"risk, or share of the {unit}", risks, caption)


def _risks(risk: Risk, unit: str) -> dict[str, Share]:
    """Return the risks by name. The average prosecutor risk and the marketer risk are equal: classes over `unit`."""
    above = {f"{unit} with a risk above 1 in {round(1 / each)}": share for each, share in risk.above.items()}
    shares = {"prosecutor, highest": risk.highest, "prosecutor, average; marketer": risk.average, **above}
    return {name: Share(share) for name, share in {**shares, f"{unit} alone in their class": risk.unique_share}.items()}


def _classes(sizes: ClassSizes, compared: Mapping[str, ReleasePrivacy]) -> Iterator[Part]:
    bands = {
        (f"{least}+" if most is None else f"{least}-{most}" if most > least else f"{least}"): (least, most)
        for least, most in _BANDS
    }
    rows = [(name, *sizes.within(*band)) for name, band in bands.items()]
    unit = _unit(sizes)
    yield TextTable((f"{unit} in each", "classes", unit), [row for row in rows if row[1]])
    shares = {name: {band: _share(each.sizes, *bands[band]) for band in bands} for name, each in compared.items()}
    caption = f"How many {unit} are in equivalence classes of each size. Larger classes are safer."
    yield _beside(f"share of the {unit}, by the size of their equivalence class", shares, caption)


def _beside(axis: str, compared: Mapping[str, Mapping[str, float]], caption: str) -> SeriesBars:
    """Draw shares of the unmasked table, the first of `compared`, and of any release."""
    series = [
        Lengths(name, tone, list(shares.values()))
        for (name, shares), tone in zip(compared.items(), (BAD, GOOD), strict=False)
    ]
    groups = list(next(iter(compared.values()), ()))
    return SeriesBars(caption, Axis("share", axis, "share"), groups, series)


def _classes_of_all(assessment: Assessment) -> SeriesBars:
    """Draw the share of records in small classes: of the unmasked table, and of the configurations, worst first."""
    measured = [release for release in assessment.releases if release.risk is not None]
    at_risk = [(tuple(_share(each.sizes, 1, most) for most in (4, 19, 1)), each) for each in measured]
    worst = [each for _, each in sorted(at_risk, key=lambda pair: pair[0], reverse=True)[:_ROWS]]
    releases = [assessment.as_it_is, *worst]
    series = [
        Lengths(name, tone, [_share(release.sizes, *band) for release in releases])
        for (name, tone), band in _RISKY.items()
    ]
    few = f" These are the worst {_ROWS} of {len(measured)}." if len(measured) > _ROWS else ""
    notes = [f"The configuration with most {_unit(assessment.as_it_is.sizes)} at risk comes first.{few}"]
    names = [assessment.unmasked_id, *(each.id for each in worst)]
    unit = _unit(assessment.as_it_is.sizes)
    axis = Axis("share", f"share of the {unit}", "share")
    return SeriesBars(f"How many {unit} are in small classes", axis, names, series, is_stacked=True, notes=notes)


def _suppression_curves(assessment: Assessment) -> Plane:
    measured = [release for release in assessment.releases if release.sizes is not None and release.risk is not None]
    is_one = len(measured) == 1
    name, tone = (f"as {measured[0].id} masks it", GOOD) if is_one else ("configurations", OTHER)
    curves = [_curve(name, tone, release.sizes, is_faint=not is_one) for release in measured[:_CURVES]]
    curves.append(_curve(assessment.unmasked_name, BAD, assessment.as_it_is.sizes))
    first = f" The first {_CURVES} configurations." if len(measured) > _CURVES else ""
    caption = f"How many records must be suppressed so that all others have k-anonymity.{first}"
    up = Axis("share", "share to suppress", "share")
    return Plane(Axis("k", "k"), up, curves, notes=[caption], is_whole=False)


def _curve(name: str, tone: Tone, sizes: ClassSizes | None, *, is_faint: bool = False) -> Series:
    spots = [Spot(k, share) for k, share in zip(_DRAWN_KS, _left_out(sizes, _DRAWN_KS), strict=True)]
    return Series(name, tone, spots, is_joined=True, has_marks=False, is_faint=is_faint)


def _share(sizes: ClassSizes | None, least: int, most: int | None) -> float:
    if sizes is None or not sizes.records:
        return 0.0
    return sizes.within(least, most)[1] / sizes.records


def _left_out(sizes: ClassSizes | None, ks: Sequence[int]) -> list[Share]:
    """Return for each k the share of records to suppress."""
    if sizes is None or not sizes.records:
        return [Share(0)] * len(ks)
    return [Share(records / sizes.records) for records in sizes.suppressed_for(ks).tolist()]


_SHOWN_KS = (2, 3, 5, 10, 20, 50)


def risk_document(assessment: Assessment, verdict: RiskVerdict, *, in_full: bool) -> dict[str, Any]:
    """Return the verdict and the measurements as JSON values; `in_full` adds the class sizes."""
    releases = [
        _release_document(release, in_full=in_full) | {"maskings": dict(configuration.maskings)}
        for release, configuration in zip(assessment.releases, assessment.configurations, strict=True)
    ]
    return {
        "verdict": {"passed": verdict.passed, "line": verdict.line, "mend": verdict.mend},
        "quasi_identifiers": list(assessment.plan.quasi_identifiers),
        "sensitive": list(assessment.plan.sensitive),
        "neither": list(assessment.neither),
        "binned": list(assessment.binned),
        **({"unit": "person"} if _unit(assessment.as_it_is.sizes) == "people" else {}),
        "as_it_is": _release_document(assessment.as_it_is, in_full=in_full),
        "configurations": releases,
    }


def _release_document(release: ReleasePrivacy, *, in_full: bool) -> dict[str, Any]:
    """Return a release as JSON values; `holds` is null if not verifiable."""
    sizes, risk = release.sizes, release.risk
    pairs = [] if sizes is None else zip(sizes.sizes.tolist(), sizes.classes.tolist(), strict=True)
    above = {} if risk is None else {f"{limit:g}": share for limit, share in risk.above.items()}
    return {
        "id": release.id or None,
        "promise": dict(release.promise),
        "holds": release.holds,
        "broken": [vars(breach) for breach in release.broken],
        "left_to_chance": list(release.left_to_chance),
        "masked_elsewhere": list(release.masked_elsewhere),
        "suppressed": None if sizes is None else release.suppressed,
        "suppressed_cells": None if sizes is None else release.suppressed_cells,
        "privacy": dict(release.privacy),
        **(
            {"privacy_by_label": {name: dict(each) for name, each in release.by_label.items()}}
            if release.by_label
            else {}
        ),
        "risk": None if risk is None else {**vars(risk), "above": above},
        "suppression": suppression_document(sizes),
        **({} if release.known is None else {"known_rows": vars(release.known)}),
        **({"class_sizes": list(map(list, pairs))} if in_full and sizes is not None else {}),
    }


def suppression_document(sizes: ClassSizes | None) -> dict[int, int]:
    """Return by k the number of records to suppress so that the others have k-anonymity.

    Empty for people and for several labels: who leaves one class leaves others, too, so sizes do not show it.
    """
    if sizes is None or not sizes.is_apart:
        return {}
    return dict(zip(_SHOWN_KS, sizes.suppressed_for(_SHOWN_KS).tolist(), strict=True))

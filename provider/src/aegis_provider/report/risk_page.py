"""The page about the privacy of a table and its releases: `aegis risk --html`."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from aegis_provider.output import written_whole
from aegis_provider.privacy import CRITERIA, IN_BINS, Assessment, ReleasePrivacy, maskings_in_short, percent
from aegis_provider.report.model import Part, Section, Term, Terms, TextTable
from aegis_provider.report.page import render_page
from aegis_provider.report.risk import SHOWN_OF_ALL, columns_table, risk_shares, verdict_in_words
from aegis_provider.report.risk_figures import class_sizes, class_sizes_of_all, risks, suppression

ROLES: Final = (
    Term(
        "Quasi-identifiers",
        "attributes by which someone may know a person from elsewhere: age, place, dates, visits. None of them names "
        "anyone; together they may.",
    ),
    Term("Sensitive attributes", "what nobody should learn of a person from the table."),
    Term(
        "Equivalence class",
        "all records that agree on every quasi-identifier. Who knows these values of a person finds the class, and "
        "cannot tell its records apart.",
    ),
    Term(
        "Suppressed",
        "left out of the release altogether: the records of all classes that break what is promised.",
    ),
)

RECORDS: Final = (
    "All numbers are of records, not of people: a person with several records (stays, years) can be all records of a "
    "class. Make one record per person first, if that matters."
)

RISKS: Final = (
    Term(
        "Prosecutor risk",
        "someone knows that a certain person is in the table, and all of the person's quasi-identifiers. The chance to "
        "pick the right record is one over the size of the person's class; the highest is that of the smallest class.",
    ),
    Term(
        "Records above a risk",
        "the share of the records whose prosecutor risk is higher than 1 in 20 (often asked of public tables) or than "
        "1 in 5 (often asked of tables that are shared under contract).",
    ),
    Term(
        "Marketer risk",
        "someone links all records with a register of the same people, whoever they are: the share that is expected to "
        "be matched right. It is the number of classes over the number of records.",
    ),
    Term(
        "Alone",
        "records that no other agrees with on all quasi-identifiers: who knows these of the person knows the record.",
    ),
)


def write_risk_page(assessment: Assessment, table: str, path: Path) -> None:
    """Writes the page as one HTML file, whole or not at all.

    Args:
        assessment: What was measured.
        table: Its name.
        path: Of the page.

    Raises:
        OutputError: The file cannot be written.
    """
    with written_whole(path) as part:
        part.write_text(risk_page(assessment, table), encoding="utf-8")


def risk_page(assessment: Assessment, table: str) -> str:
    """The page: of one release in detail, of several beside each other, of the table where there is none."""
    only = assessment.releases[0] if len(assessment.releases) == 1 else None
    title = f"Privacy of {table}" + (f", as {only.id} masks it" if only else "")
    sections = [Section("At a glance", list(_glance(assessment))), _looked_at(assessment)]
    if len(assessment.releases) > 1:
        sections += [_all_releases(assessment)]
    else:
        sections += [_criteria(only or assessment.as_it_is), _risk(assessment, only)]
    terms = Terms([Term(f"{name}: {each.word}", each.meaning) for name, each in CRITERIA.items() if each.is_measured])
    sections.append(Section("What the numbers mean", [Terms(ROLES), Terms(RISKS), terms]))
    return render_page(title, sections)


def _glance(assessment: Assessment) -> Iterator[str]:
    before = assessment.as_it_is.risk
    if before is not None:
        binned = IN_BINS if assessment.binned else ""
        yield (
            f"The table has {before.records:,} records. As it is{binned}, {percent(before.unique_share)} of them are "
            "alone: no other record agrees with them on all quasi-identifiers. "
            f"{percent(before.above[0.2])} have a risk of re-identification above 1 in 5."
        )
    if len(assessment.releases) > 1:
        yield _tally(assessment)
    elif assessment.releases:
        yield _verdict_sentence(assessment.releases[0])
    elif assessment.as_it_is.promise:
        yield _verdict_sentence(assessment.as_it_is)
    yield RECORDS


def _verdict_sentence(release: ReleasePrivacy) -> str:
    left_out = f" {release.suppressed:,} records are left out." if release.suppressed else ""
    risk = f" The highest risk of re-identification is {percent(release.risk.highest)}." if release.risk else ""
    return f"{release.id or 'The table'}: {release.in_words()}.{risk}{left_out}"


def _tally(assessment: Assessment) -> str:
    broken = [each.id for each in assessment.releases if each.broken]
    unknown = sum(each.holds is None for each in assessment.releases)
    held = sum(bool(each.verdicts and each.holds) for each in assessment.releases)
    tally = f"Of {len(assessment.releases)} configurations, {held} hold what they promise and {len(broken)} break it."
    tally += f" These break it: {', '.join(broken)}." if broken else ""
    return tally + (f" Of {unknown} this cannot be told here." if unknown else "")


def _looked_at(assessment: Assessment) -> Section:
    text = f"As {assessment.plan.source} says. Who knows other attributes of a person than these is a greater danger."
    return Section("What was looked at", [text, columns_table(assessment)])


def _all_releases(assessment: Assessment) -> Section:
    header = ("configuration", "maskings", *SHOWN_OF_ALL, "alone", "risk above 1 in 5", "suppressed", "promise")
    rows = [_release_row(assessment.as_it_is, assessment.unmasked_id, "")]
    for release, configuration in zip(assessment.releases, assessment.configurations, strict=True):
        rows.append(_release_row(release, release.id, maskings_in_short(assessment.plan, configuration)))
    plots: list[Part] = []
    if any(each.risk for each in assessment.releases):
        plots += [class_sizes_of_all(assessment), suppression(assessment)]
    return Section("The configurations", [*plots, TextTable(header, rows)])


def _release_row(release: ReleasePrivacy, name: str, maskings: str) -> tuple[str | float, ...]:
    privacy = [release.privacy.get(name, "-") for name in SHOWN_OF_ALL]
    risk = release.risk
    shares = ("-", "-") if risk is None else (percent(risk.unique_share), percent(risk.above[0.2]))
    return (name, maskings, *privacy, *shares, release.suppressed, release.in_words())


def _criteria(release: ReleasePrivacy) -> Section:
    rows = [
        (
            f"{name}: {CRITERIA[name].word}",
            reached,
            _promise(release, name),
            CRITERIA[name].consequence(reached),
        )
        for name, reached in release.privacy.items()
    ]
    parts: list[Part] = [TextTable(("criterion", "reached", "promised", "in the worst class"), rows)] if rows else []
    if not rows:
        parts.append("Nothing could be measured.")
    if release.unmeasured:
        parts.append(f"Whether this is held cannot be told here: {', '.join(release.unmeasured)}.")
    return Section("Privacy criteria", parts)


def _promise(release: ReleasePrivacy, name: str) -> str:
    verdict = verdict_in_words(release, name)
    return f"{release.promise[name]:g}, {verdict}" if verdict else ""


def _risk(assessment: Assessment, release: ReleasePrivacy | None) -> Section:
    compared = {assessment.unmasked_name: assessment.as_it_is}
    if release is not None and release.risk is not None:
        compared[f"as {release.id} masks it"] = release
    plots = [risks(compared), class_sizes(compared), suppression(assessment)]
    rows = list(_risk_rows(compared.values()))
    return Section("Risk of re-identification", [TextTable(("", *compared), rows), *plots])


def _risk_rows(compared: Iterable[ReleasePrivacy]) -> Iterator[tuple[str, ...]]:
    known = [each.risk for each in compared if each.risk is not None]
    yield ("records", *(f"{each.records:,}" for each in known))
    yield ("equivalence classes", *(f"{each.classes:,}" for each in known))
    shares = [risk_shares(each) for each in known]
    yield from ((name, *(percent(each[name]) for each in shares)) for name in (shares[0] if shares else ()))
    yield ("records alone", *(f"{each.uniques:,} ({percent(each.unique_share)})" for each in known))

"""The page about the privacy of a table and its releases: `aegis risk --html`."""

from collections.abc import Iterable, Iterator
from dataclasses import astuple
from pathlib import Path

from aegis_provider.output import written_whole
from aegis_provider.privacy import CRITERIA, IN_BINS, Assessment, ReleasePrivacy, maskings_in_short, percent, roles_of
from aegis_provider.report.model import Part, Section, Terms, TextTable
from aegis_provider.report.page import render_page
from aegis_provider.report.risk_figures import class_sizes, class_sizes_of_all, risks, suppression
from aegis_provider.report.risk_words import RECORDS, RISKS, ROLES

_HEADER = ("column", "taken for", "masking", "the values become")


def write_risk_page(found: Assessment, table: str, path: Path) -> None:
    """Writes the page as one HTML file, whole or not at all; `table`: its name. Raises `OutputError`."""
    with written_whole(path) as part:
        part.write_text(risk_page(found, table), encoding="utf-8")


def risk_page(found: Assessment, table: str) -> str:
    """The page: of one release in detail, of several beside each other, of a table alone where there is none."""
    alone = found.releases[0] if len(found.releases) == 1 else None
    title = f"Privacy of {table}" + (f", as {alone.id} masks it" if alone else "")
    sections = [Section("At a glance", list(_glance(found))), _looked_at(found)]
    if len(found.releases) > 1:
        sections += [_all_releases(found)]
    else:
        sections += [_criteria(alone or found.as_it_is), _risk(found, alone)]
    terms = Terms([(f"{name}: {each.word}", each.meaning) for name, each in CRITERIA.items() if each.is_measured])
    sections.append(Section("What the numbers mean", [Terms(ROLES), Terms(RISKS), terms]))
    return render_page(title, sections)


def _glance(found: Assessment) -> Iterator[str]:
    before = found.as_it_is.risk
    if before is not None:
        binned = IN_BINS if found.binned else ""
        yield (
            f"The table has {before.records:,} records. As it is{binned}, {percent(before.unique_share)} of them are "
            "alone: no other record agrees with them on all quasi-identifiers. "
            f"{percent(before.above[0.2])} have a risk of re-identification above 1 in 5."
        )
    if len(found.releases) > 1:
        yield _tally(found)
    elif found.releases:
        yield _verdict_sentence(found.releases[0])
    elif found.as_it_is.promise:
        yield _verdict_sentence(found.as_it_is)
    yield RECORDS


def _verdict_sentence(release: ReleasePrivacy) -> str:
    left_out = f" {release.suppressed:,} records are left out." if release.suppressed else ""
    risk = f" The highest risk of re-identification is {percent(release.risk.highest)}." if release.risk else ""
    return f"{release.id or 'The table'}: {release.in_words()}.{risk}{left_out}"


def _tally(found: Assessment) -> str:
    broken = [each.id for each in found.releases if each.broken]
    unknown = sum(each.holds is None for each in found.releases)
    held = sum(bool(each.verdicts and each.holds) for each in found.releases)
    said = f"Of {len(found.releases)} configurations, {held} hold what they promise and {len(broken)} break it."
    said += f" These break it: {', '.join(broken)}." if broken else ""
    return said + (f" Of {unknown} this cannot be told here." if unknown else "")


def _looked_at(found: Assessment) -> Section:
    roles = TextTable(_HEADER[:2], list(roles_of(found.plan, found.configurations).items()))
    columns = TextTable(_HEADER, [astuple(each) for each in found.columns])
    text = f"As {found.plan.source} says. Who knows other attributes of a person than these is a greater danger."
    return Section("What was looked at", [text, columns if found.columns else roles])


def _all_releases(found: Assessment) -> Section:
    header = ("configuration", "maskings", "k", "l", "t", "alone", "risk above 1 in 5", "suppressed", "promise")
    rows = [_release_row(found.as_it_is, found.unmasked_id, "")]
    for release, configuration in zip(found.releases, found.configurations, strict=True):
        rows.append(_release_row(release, release.id, maskings_in_short(found.plan, configuration)))
    plots: list[Part] = []
    if any(each.risk for each in found.releases):
        plots += [class_sizes_of_all(found), suppression(found)]
    return Section("The configurations", [*plots, TextTable(header, rows)])


def _release_row(release: ReleasePrivacy, name: str, maskings: str) -> tuple[str | float, ...]:
    privacy = [release.privacy.get(name, "-") for name in ("k", "l", "t")]
    risk = release.risk
    shares = ("-", "-") if risk is None else (percent(risk.unique_share), percent(risk.above[0.2]))
    return (name, maskings, *privacy, *shares, release.suppressed, release.in_words())


def _criteria(release: ReleasePrivacy) -> Section:
    broken = {each.name for each in release.broken}
    rows = [
        (
            f"{name}: {CRITERIA[name].word}",
            reached,
            _promise(release, name, broken),
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


def _promise(release: ReleasePrivacy, name: str, broken: set[str]) -> str:
    if name not in release.promise:
        return ""
    return f"{release.promise[name]:g}, BROKEN" if name in broken else f"{release.promise[name]:g}, held"


def _risk(found: Assessment, release: ReleasePrivacy | None) -> Section:
    compared = {found.unmasked_name: found.as_it_is}
    if release is not None and release.risk is not None:
        compared[f"as {release.id} masks it"] = release
    plots = [risks(compared), class_sizes(compared), suppression(found)]
    rows = list(_risk_rows(compared.values()))
    return Section("Risk of re-identification", [TextTable(("", *compared), rows), *plots])


def _risk_rows(compared: Iterable[ReleasePrivacy]) -> Iterator[tuple[str, ...]]:
    known = [each.risk for each in compared if each.risk is not None]
    yield ("records", *(f"{each.records:,}" for each in known))
    yield ("equivalence classes", *(f"{each.classes:,}" for each in known))
    yield ("prosecutor risk, highest", *(percent(each.highest) for each in known))
    yield ("prosecutor risk, average; marketer risk", *(percent(each.average) for each in known))
    yield ("records above 1 in 5", *(percent(each.above[0.2]) for each in known))
    yield ("records above 1 in 20", *(percent(each.above[0.05]) for each in known))
    yield ("records alone", *(f"{each.uniques:,} ({percent(each.unique_share)})" for each in known))

"""The report on the frontier of a search: the best configuration for each requirement."""

from collections.abc import Iterator, Sequence
from typing import Final

from aegis_provider.report.model import BASELINES, Part, Report, Section, TextTable
from aegis_provider.search import FrontierPoint, SearchResult, in_words
from aegis_sdk.charts import TONES, Axis, Interval, Measured, Plane, Series, Tone
from aegis_sdk.reading import Share, shown

_NONE: Final = "-"


def frontier_report(result: SearchResult, table: str, label: str) -> Report:
    """Return the frontier as a table and a picture: a point for each requirement, a line for each share left out."""
    summary = (
        f"The best of {result.nodes:,} combinations of maskings of {result.records:,} records, for each requirement. "
        f"What they keep is a share of what the table tells about {shown(label)}, by the measure {result.measure}."
    )
    sections = [Section("What more privacy costs", list(_parts(result, label)))]
    return Report(f"Configurations of {table}", [summary], sections)


def proof_of(point: FrontierPoint) -> str:
    """Return what is proven about the optimality of the best configuration."""
    if point.complete:
        return "no combination meets it" if point.configuration is None else "no combination keeps more"
    if point.at_most_more is None:
        return "the best found"
    if point.at_most_more >= 1:
        return "the best found; it is not known how much more others keep"
    return f"the best found; no combination keeps over {Share(point.at_most_more)} more"


def _parts(result: SearchResult, label: str) -> Iterator[Part]:
    rows = [_row(point) for point in result.frontier]
    yield TextTable(("required", "left out at most", "configuration", "records left out", "keeps", ""), rows)
    places = list(dict.fromkeys(in_words(point.requirement.privacy) for point in result.frontier))
    shares = list(dict.fromkeys(point.requirement.suppress_at_most for point in result.frontier))
    yield Plane(
        Axis("privacy", "required privacy"),
        Axis("kept", f"kept of what the table tells about {shown(label)}", "share", levels=BASELINES),
        [_series(result.frontier, places, share, TONES[number % len(TONES)]) for number, share in enumerate(shares)],
        places,
        notes=["What the best configuration keeps. A line upwards ends where it is proven that nothing keeps more."],
    )


def _row(point: FrontierPoint) -> tuple[str, ...]:
    best, most = point.configuration, str(Share(point.requirement.suppress_at_most))
    found = (_NONE, _NONE, _NONE) if best is None else (best.id, f"{best.suppressed or 0:,}", str(Share(point.share)))
    return (in_words(point.requirement.privacy), most, *found, proof_of(point))


def _series(points: Sequence[FrontierPoint], places: Sequence[str], share: float, tone: Tone) -> Series:
    """Return the kept utility at each place if at most this share of the records is left out."""
    there = {
        in_words(point.requirement.privacy): point for point in points if point.requirement.suppress_at_most == share
    }
    numbers = [_measured(there.get(place)) for place in places]
    return Series.at_places(f"at most {Share(share)} of the records left out", tone, numbers, is_joined=True)


def _measured(point: FrontierPoint | None) -> Measured | None:
    if point is None or point.configuration is None:
        return None
    known = point.complete or point.at_most is None
    limits = None if known else Interval(point.share, max(point.share, point.at_most or 0.0))
    return Measured(point.share, limits)

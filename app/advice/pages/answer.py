"""The view of an answer, at the viewer's level of detail."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import quote_plus, urlencode

from pydantic import BaseModel, Field

from aegis_sdk import wire
from aegis_sdk.charts import Bar, Bars, Group, Markup, rendered
from aegis_sdk.charts.costs import (
    ABOUT_BANDS,
    LIMITS,
    MOST_ATTRIBUTES,
    axis_of,
    band_bar,
    cost_bar,
    costs_chart,
    nothing_scored,
    whole_legend,
)
from aegis_sdk.charts.kept import OFFERED, PROTECTION, frontier_chart, protections_of
from aegis_sdk.reading import (
    Alone,
    ConfigurationNames,
    as_sentence,
    expectation,
    expected_words,
    headline,
    kept_by_best,
    label_of,
    maskings_about,
    number,
    outcome,
    percent,
    promises_of,
    records_of,
    shown,
    whole_of,
)
from app.advice.api.answers import advice_body
from app.advice.service.advice import SeenAdvice
from app.entries.api.mapping import entry_document

#: Rows of the ranking on a page.
ROWS: Final = 25

#: The largest number of points of a frontier on the page.
_TRADES: Final = 100

#: The number of criteria with a column in the ranking.
_COLUMNS: Final = 4

#: Placeholder for an id in addresses; not allowed in ids.
_PLACE: Final = "\0"

#: Approximate memory of the rows and facts of a page, in bytes.
_FEW_BYTES: Final = 50_000

Answer = wire.Advice | wire.CoarseAdvice


class Choices(BaseModel):
    """The reader's choices, from the address of the page.

    Attributes:
        across: the axis to the right of the frontier; by default the most useful one.
        up: its upward axis; by default what is kept of the utility.
        first: the left configuration of the comparison; the best by default.
        second: the right one; without it, there is no comparison.
        start: the number of rows of the ranking before this page.
    """

    across: str = Field(default="", max_length=40)
    up: str = Field(default="", max_length=40)
    first: str = Field(default="", max_length=1000)
    second: str = Field(default="", max_length=1000)
    start: int = Field(default=0, ge=0, le=wire.ROWS)

    def link(self, advice_id: str, **changed: str | int) -> str:
        """The address of the page with other choices."""
        chosen = {name: value for name, value in (self.model_dump() | changed).items() if value}
        return f"/advice/{advice_id}" + (f"?{urlencode(chosen)}" if chosen else "")


@dataclass(frozen=True, slots=True)
class Row:
    """A configuration in the ranking.

    Attributes:
        about: its name, which may be empty.
        rank: its rank; empty if the answer has none.
        kept: the share kept in percent, or the deviation.
        expected: what a model should reach, with its interval; empty if not known.
        sure: whether its difference from the best is significant, in words.
        request: the address of a request for it.
    """

    id: str
    about: str
    rank: str
    kept: str
    expected: str
    records: str
    promises: tuple[str, ...]
    sure: str
    link: str
    request: str


@dataclass(frozen=True, slots=True)
class Trade:
    """A point of the frontier that a question asks for: `values` by axis, `request` the address of a request for it."""

    id: str
    about: str
    values: tuple[str, ...]
    is_knee: bool
    request: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two configurations side by side: their facts, and by attribute their maskings. Each row begins with its name."""

    facts: tuple[tuple[str, str, str], ...]
    maskings: tuple[tuple[str, str, str], ...]
    chart: Markup
    left_out: int


@dataclass(frozen=True, slots=True)
class AnswerView:
    """The page of an answer.

    Attributes:
        kept: the header of the column about utility; empty if the answer has no utilities.
        expects: whether a row has what a model should reach.
        tells_difference: whether the answer has the significance of differences from the best.
        start: the number of rows before them.
        protections: the possible axes to the right of the frontier, in words.
        frontier_asked: the frontier that the question asks for, if any; `trades`: its first points.
        verb: whether the bars show what each masking `costs` or, in coarse answers, `keeps`.
        unknown: a chosen configuration that is not ranked.
        names: the attributes of the answer's task.
    """

    sentence: str
    facts: tuple[str, ...]
    kept: str
    columns: tuple[str, ...]
    tells_difference: bool
    expects: bool
    rows: tuple[Row, ...]
    start: int
    ranked: int
    protections: Mapping[str, str]
    across: str
    frontier: Markup
    frontier_asked: wire.AdviceFrontier | None
    trades: tuple[Trade, ...]
    costs: Markup
    verb: str
    first: str
    comparison: Comparison | None
    unknown: str
    names: tuple[str, ...]

    @property
    def size(self) -> int:
        """Approximate size in bytes."""
        charts = len(self.frontier) + len(self.costs) + (0 if self.comparison is None else len(self.comparison.chart))
        return _FEW_BYTES + 2 * charts + sum(64 + len(name) for name in self.names)


def answer_view(
    seen: SeenAdvice,
    schema: bytes,
    configurations: bytes,
    in_full: bool,  # noqa: FBT001 -- a child process takes arguments by position
    choices: Choices,
) -> AnswerView:
    """The view of a succeeded answer. Slow for long rankings: run it in a child process then.

    Args:
        schema: the schema of its entry, as stored.
        configurations: likewise.
        in_full: whether the reader may read the entry in full.
    """
    advice = wire.AdviceAnswer.model_validate(advice_body(seen)).root
    document = entry_document(schema, configurations, in_full=in_full)
    ranking = advice.ranking or []
    if choices.start >= len(ranking):
        choices = choices.model_copy(update={"start": 0})
    shown = ranking[choices.start : choices.start + ROWS]
    protections = protections_of(advice, document)
    promised = [name for name in protections if name in PROTECTION]
    columns = tuple(sorted(promised[:_COLUMNS], key=[*PROTECTION].index))
    across = choices.across if choices.across in protections else next(iter(protections), "")
    first, second = choices.first or advice.configuration or "", choices.second
    ranked = {row.configuration for row in ranking}
    unknown = next((one for one in (first, second) if one and one not in ranked), "")
    sentence, *facts = _told(advice, document)
    return AnswerView(
        sentence=sentence,
        facts=tuple(facts),
        kept=_kept_name(advice),
        columns=columns,
        tells_difference=_tells_difference(advice),
        expects=any(row.expected for row in shown),
        rows=tuple(_rows(advice, document, shown, columns, choices)),
        start=choices.start,
        ranked=len(ranking),
        protections={name: {**PROTECTION, **OFFERED}[name] for name in protections},
        across=across,
        frontier=rendered(frontier_chart(advice, document, across, choices.up, link=_comparing(advice, choices))),
        frontier_asked=advice.frontier,
        trades=tuple(_trades(advice)),
        costs=rendered(costs_chart(advice, document)),
        verb="keeps" if isinstance(advice, wire.CoarseAdvice) else "costs",
        first=first,
        comparison=_comparison(advice, document, first, second) if second and not unknown else None,
        unknown=unknown,
        names=tuple(_task_names(advice, document)),
    )


def _task_names(advice: Answer, document: Mapping[str, Any]) -> Iterator[str]:
    """The attributes of the task of an answer: about another label than the default one, that one takes its place."""
    label, default = label_of(advice.request, document), document["label"]["name"]
    for attribute in document["attributes"]:
        yield default if attribute["name"] == label else attribute["name"]


def _told(advice: Answer, document: Mapping[str, Any]) -> Iterator[str]:
    """What a model should reach, if that is known, how much the best configuration keeps, and what else is known."""
    expected = expectation(advice, document)
    yield from [f"{expected}."] * bool(expected)
    yield f"{headline(advice, document)}."
    yield from _named(advice, document)
    yield as_sentence(Alone.of(document, advice.configuration).line())
    yield from _sentences(advice, outcome(advice, document))


def _named(advice: Answer, document: Mapping[str, Any]) -> Iterator[str]:
    """The best configuration by its name, if it has one."""
    if about := ConfigurationNames.of(document).name(advice.configuration):
        yield f"{advice.configuration}: {about}."


def _sentences(advice: Answer, lines: Iterable[str]) -> Iterator[str]:
    """Lines of the command as sentences; the id of the best configuration at the beginning is not capitalised.

    If the headline already has the number of configurations, the first sentence has only the basis.
    """
    best = f"it is the best of {advice.considered} "
    again = "ranked " if kept_by_best(advice) is None else best
    for text in lines:
        line = f"{again}{text.removeprefix(best)}" if text.startswith(best) else text
        begins_with_id = line.startswith(advice.configuration or "\0")
        yield f"{line[:1] if begins_with_id else line[:1].upper()}{line[1:]}."


def _comparing(advice: Answer, choices: Choices) -> Callable[[str], str]:
    """Returns a function of a configuration that gives the address of its comparison with the best."""
    # An answer has up to 10,000 of them, so only the id is inserted each time.
    link = choices.link(advice.id, first=advice.configuration or "", second=_PLACE)
    before, _, after = link.rpartition(f"second={quote_plus(_PLACE)}")
    return lambda configuration: f"{before}second={quote_plus(configuration)}{after}#compared"


def _kept_name(advice: Answer) -> str:
    if isinstance(advice, wire.CoarseAdvice):
        return "kept, about" if any(row.utility_share is not None for row in advice.ranking or ()) else ""
    return "deviation" if whole_of(advice) is None else "kept"


def _kept(advice: Answer, row: wire.CoarseRow) -> str:
    """The share that a configuration keeps, with its interval if any."""
    if not isinstance(row, wire.RankedConfiguration):
        return "" if row.utility_share is None else percent(row.utility_share)
    whole = whole_of(advice) if isinstance(advice, wire.Advice) else None
    return number(row.deviation) if whole is None else percent(whole.kept(row.deviation).share)


def _expected(row: wire.CoarseRow) -> str:
    return "" if row.expected is None else expected_words(row.expected)


def _rows(
    advice: Answer,
    document: Mapping[str, Any],
    shown: Sequence[wire.CoarseRow],
    columns: Sequence[str],
    choices: Choices,
) -> Iterator[Row]:
    alike, compared = {*(advice.indistinguishable or ())}, _comparing(advice, choices)
    ids, names = [row.configuration for row in shown], ConfigurationNames.of(document)
    promises, records = promises_of(document, ids), records_of(document, ids)
    for place, row in enumerate(shown):
        rank = choices.start + place + 1 if row.rank is None else row.rank
        numbers = (promises.get(name, [None] * len(shown))[place] for name in columns)
        yield Row(
            id=row.configuration,
            about=names.name(row.configuration),
            rank=str(rank),
            kept=_kept(advice, row),
            expected=_expected(row),
            records=records[place],
            promises=tuple(map(_number, numbers)),
            sure=_sure(advice, row.configuration, alike),
            link=compared(row.configuration),
            request=request_link(advice.id, row.configuration),
        )


def _trades(advice: Answer) -> Iterator[Trade]:
    frontier = advice.frontier
    if frontier is None or frontier.knee is None:
        return
    for point in frontier.points[:_TRADES]:
        name, values = point.configuration, (number(point.values[axis.name], 6) for axis in frontier.axes)
        is_knee = name == frontier.knee.configuration
        yield Trade(name, point.about or "", tuple(values), is_knee, request_link(advice.id, name))


def request_link(advice_id: str, configuration: str) -> str:
    """The address of the form that requests a configuration by the question of an advice."""
    return f"/requests/new?{urlencode({'advice': advice_id, 'configuration': configuration})}"


def _number(value: float | None) -> str:
    return "" if value is None else number(value, 6)


def _tells_difference(advice: Answer) -> bool:
    return advice.indistinguishable is not None or len(advice.tied or ()) > 1


def _sure(advice: Answer, configuration: str, alike: set[str]) -> str:
    """The significance of the difference from the best, in words, if the answer has it."""
    if configuration == advice.configuration:
        return "the best"
    if configuration in (advice.tied or ()):
        return "tied with the best"
    if advice.indistinguishable is None:
        return "not known"
    return "within chance" if configuration in alike else "real"


def _comparison(advice: Answer, schema: Mapping[str, Any], first: str, second: str) -> Comparison:
    rows = {row.configuration: row for row in advice.ranking or ()}
    promises = promises_of(schema, [first, second])
    alike = {*(advice.indistinguishable or ())}
    facts = [(name, _number(pair[0]), _number(pair[1])) for name, pair in promises.items()]
    names = ConfigurationNames.of(schema)
    facts.insert(0, ("in words", names.name(first), names.name(second)))
    if _tells_difference(advice):
        facts.insert(0, ("difference from the best", _sure(advice, first, alike), _sure(advice, second, alike)))
    if kept := _kept_name(advice):
        facts.insert(0, (kept, _kept(advice, rows[first]), _kept(advice, rows[second])))
    if rows[first].expected or rows[second].expected:
        facts.insert(0, ("expected", _expected(rows[first]), _expected(rows[second])))
    one, other = (maskings_about(advice, schema, each) for each in (first, second))
    maskings = [(name, one.get(name, ""), other.get(name, "")) for name in {**one, **other}]
    maskings.sort(key=lambda row: row[1] == row[2])
    chart = rendered(compared_chart(advice, schema, first, second))
    return Comparison(tuple(facts), tuple(maskings[:ROWS]), chart, max(len(maskings) - ROWS, 0))


def compared_chart(advice: Answer, schema: Mapping[str, Any], first: str, second: str) -> Bars:
    """Two configurations side by side: the costs of their maskings by attribute, the largest difference first.

    Args:
        first: The id of a configuration; A in the chart.
        second: The id of another; B in the chart.
    """
    one, other = (maskings_about(advice, schema, each) for each in (first, second))
    pairs = [
        pair for attribute in advice.attributes or [] if (pair := _pair(advice, attribute, one, other)) is not None
    ]
    pairs.sort(key=lambda group: -abs(group.bars[0].end - group.bars[1].end))
    differing = [group for group in pairs if group.bars[0].name != group.bars[1].name]
    alike = [group for group in pairs if group.bars[0].name == group.bars[1].name]
    drawn, rest = differing[:MOST_ATTRIBUTES], [*differing[MOST_ATTRIBUTES:], *alike]
    return Bars(
        "compared",
        f"{shown(first)} (A) and {shown(second)} (B), side by side",
        axis_of(advice),
        drawn,
        LIMITS if isinstance(advice, wire.CoarseAdvice) else None,
        legend=(
            ("plain", f"A: {shown(first)}"),
            ("second", f"B: {shown(second)}"),
            *whole_legend([bar for group in drawn for bar in group.bars]),
        ),
        notes=tuple(_about_pairs(advice, drawn, len(differing), len(alike))),
        rest=rest,
        empty="Both have the same masking of every attribute." if alike else nothing_scored(advice),
    )


def _pair(
    advice: Answer,
    attribute: wire.AttributeAdvice | wire.CoarseAttribute,
    first: Mapping[str, str],
    second: Mapping[str, str],
) -> Group | None:
    """The bars of two configurations' maskings of an attribute; `None` unless both are scored."""
    one, other = (_single(advice, attribute, maskings.get(attribute.name, "")) for maskings in (first, second))
    if one is None or other is None:
        return None
    return Group(attribute.name, [replace(one, mark="A"), replace(other, mark="B", tone="second")])


def _single(advice: Answer, attribute: wire.AttributeAdvice | wire.CoarseAttribute, masking: str) -> Bar | None:
    """The bar of a masking; `None` unless it is scored."""
    if masking not in attribute.maskings:
        return None
    if isinstance(attribute, wire.AttributeAdvice):
        return cost_bar(advice, attribute, masking)
    return band_bar(masking, attribute.maskings[masking].kept)


def _about_pairs(advice: Answer, drawn: Sequence[Group], differing: int, alike: int) -> Iterator[str]:
    """The number of omitted attributes, with the reason."""
    if isinstance(advice, wire.CoarseAdvice) and drawn:
        yield ABOUT_BANDS
    if len(drawn) < differing:
        yield f"Drawn are the {len(drawn)} attributes that differ most, of {differing:,}; the table has all."
    if alike:
        yield f"{number(alike)} {'attributes have' if alike > 1 else 'attribute has'} the same masking in both."

"""The release card for people: its sections, and their words."""

from collections.abc import Iterator, Mapping
from typing import Final

from aegis_provider.privacy import CERTAIN_VALUES_REMEDY, CRITERIA
from aegis_provider.report.model import GOOD, Bars, Part, Report, Section, Term, Terms, TextTable
from aegis_provider.workflow.card import Card
from aegis_sdk.printable import Share
from aegis_sdk.reading import shown

_UNKNOWN: Final = "not known"
_LABELS_SHOWN: Final = 30
_COLUMNS_SHOWN: Final = 200


def card_report(card: Card) -> Report:
    """Return the card as a report."""
    sections = [
        Section("What is shared", list(_shared(card))),
        Section("Who is protected, and how", list(_privacy(card))),
        Section("What it is good for", list(_utility(card))),
        Section("What it could have been", list(_choices(card))),
        Section("What this does not say", list(_limits(card))),
        Section("How it was made", list(_origin(card))),
    ]
    top = [card.verdict, card.privacy_verdict, f"{card.headline}.", *_warnings(card)]
    return Report(f"Release card of {card.table}", top, sections)


def _warnings(card: Card) -> Iterator[str]:
    for each in card.warnings:
        yield f"{each[0].upper()}{each[1:]}. {CERTAIN_VALUES_REMEDY}."
    for each in card.unfinished:
        yield f"Not finished: {each}."


def _shared(card: Card) -> Iterator[Part]:
    left_out = f"{card.left_out:,} records of the table are left out" if card.left_out else "no record is left out"
    cells = f", and {card.suppressed_cells:,} single cells are suppressed: they are *" if card.suppressed_cells else ""
    yield f"{card.records:,} records, masked by the configuration {card.configuration}; {left_out}{cells}."
    rows = [(shown(each.name), each.role, shown(each.becomes, 100), _share(each.kept)) for each in card.columns]
    caption = f"keeps: the share of what the column alone tells about {shown(card.label)}"
    yield TextTable(("column", "role", "its values become", "keeps"), rows, caption, most=_COLUMNS_SHOWN)
    if card.never_shared:
        reasons = [(shown(name), reason) for name, reason in card.never_shared.items()]
        yield TextTable(("never shared", "because"), reasons)
    yield TextTable(
        (card.label, "records", "released", "share", "share released"),
        list(_labels(card.labels)),
        "how leaving out records moved the label",
        most=_LABELS_SHOWN,
    )


def _labels(labels: Mapping[str, tuple[int, int]]) -> Iterator[tuple[str | float, ...]]:
    before, after = (max(1, sum(each[place] for each in labels.values())) for place in (0, 1))
    for value, (records, released) in labels.items():
        yield shown(value), records, released, Share(records / before), Share(released / after)


def _privacy(card: Card) -> Iterator[Part]:
    named = [name for name in card.required if name in card.reached]
    rows = [
        (name, CRITERIA[name].word, _number(card.promised.get(name)), _number(card.reached[name])) for name in named
    ]
    yield TextTable(("privacy", "which is", "promised", "measured in the masked table"), rows)
    release, before = card.highest_risk
    if release is not None and before is not None:
        yield (
            f"Someone who knows all quasi-identifiers of a person picks the person's record with a chance of at most "
            f"{Share(release)}. In the table as it is, that is {Share(before)}."
        )
    yield Terms([Term(f"{name}: {CRITERIA[name].word}", CRITERIA[name].meaning) for name in named])


def _utility(card: Card) -> Iterator[Part]:
    yield (
        f"Of what the table tells about {shown(card.label)}, by the measure {card.measure}, it keeps "
        f"{_share(card.kept)}. It is the best of {card.considered:,} configurations; their order is {card.basis}."
    )
    if card.runner_up is not None:
        yield f"The next best, {card.runner_up[0]}, keeps {_share(card.runner_up[1])}."
    if card.measured:
        rows = [(each.table, each.model, each.auc, f"{each.low:.3f} to {each.high:.3f}") for each in card.measured]
        yield TextTable(("trained on", "model", "AUC", "95 % interval"), rows, "models were tested on other records")
        yield f"{card.check[0].upper()}{card.check[1:]}."


def _choices(card: Card) -> Iterator[Part]:
    cells = any(each.suppressed_cells is not None for each in card.frontier)
    rows = [
        (
            each.in_words,
            each.configuration or "-",
            "-" if each.suppressed is None else each.suppressed,
            *(["-" if each.suppressed_cells is None else each.suppressed_cells] if cells else []),
            _share(each.kept),
        )
        for each in card.frontier
    ]
    header = ("required", "configuration", "records left out", *(["cells suppressed"] if cells else []), "keeps")
    yield TextTable(header, rows, "-: none, or not in the plan")
    known = [each for each in card.frontier if each.kept is not None]
    if len(known) > 1:
        groups = [each.in_words for each in known]
        kept = [each.kept or 0.0 for each in known]
        yield Bars(groups, {("kept", GOOD): kept}, "share kept", "what the best configuration keeps at each privacy")


def _limits(card: Card) -> Iterator[Part]:
    yield (
        "The privacy numbers hold against someone who knows the quasi-identifiers of a person and nothing else. "
        "Whoever knows more, or has another release of the same people, can learn more."
    )
    yield "Numbers count records, not people: if one person has several records, the groups are smaller than they look."
    yield _rounded(card)
    if card.suppressed_cells:
        yield "What it keeps is of its records before cells are suppressed. What models reach is of the masked table."
    yield (
        f"What it keeps is about {shown(card.label)} only. For another question, another configuration may be better."
    )


def _rounded(card: Card) -> str:
    rounded = "The counts in the entry are rounded at random."
    if card.service is None:
        return f"{rounded} A service that ranks configurations by them may prefer another one that keeps about as much."
    return f"{rounded} The service ranked the configurations by them, so another one may keep a little more."


def _ranked_by(card: Card) -> str:
    if card.service is None:
        return "the exact counts, on the provider's machine"
    return f"the service at {card.service.address}, by the published counts of the entry {card.service.entry}"


def _origin(card: Card) -> Iterator[Part]:
    versions = ", ".join(f"{name} {number}" for name, number in card.versions.items())
    rows = [
        ("table", shown(card.table)),
        ("label", shown(card.label)),
        ("had to have", card.aim),
        ("configuration", card.configuration),
        ("ranked by", _ranked_by(card)),
        ("plan, SHA-256", card.plan_digest),
        ("made by", versions),
        ("on", card.made),
    ]
    yield TextTable(("what", "value"), rows)


def _share(share: float | None) -> str:
    return _UNKNOWN if share is None else f"{100 * share:.0f} %"


def _number(number: float | None) -> str:
    return "-" if number is None else f"{number:.6g}"

"""The report on attacks on a release: what `aegis risk --against` prints and draws."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from aegis_provider.attacks import Judgement, Opened, Outcome
from aegis_provider.attacks.exact_copies import NAME as EXACT_COPIES
from aegis_provider.check import Interval
from aegis_provider.report.model import (
    BAD,
    GOOD,
    NEUTRAL,
    Levels,
    Measured,
    Part,
    Report,
    Section,
    Series,
    Term,
    Terms,
    TextTable,
)
from aegis_sdk.printable import Share, some
from aegis_sdk.reading import shown

_SHOWN: Final = 5
_WORDS: Final = 60
_NEARLY_ALL: Final = 0.9

ATTACK_TERMS: Final = Terms(
    [
        Term("Success", "how often the attack succeeds on records that the release was made of, with a 95 % interval."),
        Term(
            "Without the release",
            "what the attacker achieves by guessing, or with a release whose columns are shuffled, which tells how "
            "frequent values are and no more.",
        ),
        Term(
            "Held out",
            "the same attack on records of the table that the release never saw. What succeeds there follows from what "
            "is true of people in general; only what succeeds beyond it is due to being in the table.",
        ),
    ]
)


def attacks_report(opened: Opened, judgement: Judgement, release: str, seconds: float) -> Report:
    """Report what the attacks achieved: the strongest first, then a table of all.

    Args:
        opened: The case.
        judgement: What the attacks achieved.
        release: The name of the release.
        seconds: The time limit.
    """
    sections = [
        Section("The attacks", list(attack_parts(judgement))),
        Section("What to know about them", list(attack_notes(opened, judgement, seconds))),
        Section("What the numbers mean", [ATTACK_TERMS]),
    ]
    return Report(f"Attacks on {release}", [attacks_headline(judgement)], sections)


def attacks_headline(judgement: Judgement) -> str:
    """Say what the strongest attack achieved, in one line."""
    if saw := _saw_held_out(judgement):
        return saw
    strongest = judgement.strongest
    if not any(each.is_attack for each in judgement.outcomes):
        return "No attack was tried, so nothing is known about the release."
    if strongest is None and judgement.is_too_small:
        return "The release has too few records to tell what attacks achieve."
    if strongest is None:
        return "No attack clearly achieved more than chance."
    name = f"{strongest.name} ({shown(strongest.variant, _WORDS)})"
    reached = _success(strongest)
    beside = f"{_number(strongest, strongest.baseline)} without the release"
    if strongest.held_out is not None:
        beside += f" and {_number(strongest, strongest.held_out)} on held-out records"
    if judgement.gain(strongest) > 0:
        return f"The strongest attack works: {name} reaches {reached}, beside {beside}."
    return (
        f"No attack does clearly better on records that the release was made of than on others. The one that achieves "
        f"most beyond chance, {name}, reaches {reached}, beside {beside}."
    )


def _saw_held_out(judgement: Judgement) -> str:
    """Say so if the release has nearly all records that it is taken never to have seen, which chance does not give."""
    for copies in (each.details for each in judgement.outcomes if each.name == EXACT_COPIES):
        found, records = int(copies["held_out_found"]), int(copies["held_out_records"])
        if found > _NEARLY_ALL * records > copies["held_out_by_chance"]:
            return (
                f"The release has {found:,} of the {records:,} held-out records, so it was probably made of them, too, "
                "and nothing can be compared with them: say --holdout 0."
            )
    return ""


def attacks_document(opened: Opened, judgement: Judgement) -> dict[str, Any]:
    """Return what the attacks achieved as JSON values."""
    case, strongest = opened.case, judgement.strongest
    return {
        "headline": attacks_headline(judgement),
        "strongest": None if strongest is None else {"attack": strongest.name, "variant": strongest.variant},
        "attacks": [_document(each) for each in judgement.outcomes],
        "unfinished": list(judgement.unfinished),
        "impossible": dict(judgement.impossible),
        "records": {"released": opened.released, "seen": len(case.seen), "held_out": len(case.held_out)},
        "holdout": opened.share,
        "quasi_identifiers": list(case.quasi_identifiers),
        "sensitive": list(case.secrets),
        "not_released": list(opened.lacking),
        "not_understood": {name: list(texts) for name, texts in case.release.not_understood.items()},
    }


def _document(outcome: Outcome) -> dict[str, Any]:
    derived = {"beyond_chance": asdict(outcome.beyond_chance), "risk": outcome.risk and asdict(outcome.risk)}
    return {**asdict(outcome), **derived}


def attack_parts(judgement: Judgement) -> Iterator[Part]:
    """Yield what the attacks achieved, as a table and as a picture."""
    best = judgement.best()
    header = ("attack", "variant", "tried", "success", "interval", "without the release", "held out", "what happened")
    yield TextTable(header, [_row(each) for each in best], "Of each attack, the variant that gained most.", wide=1)
    if best:
        yield _drawn([each for each in best if each.is_attack])


def _row(outcome: Outcome) -> tuple[str | float, ...]:
    low, high = (_number(outcome, Interval(each, each, each)) for each in (outcome.success.low, outcome.success.high))
    return (
        outcome.name,
        shown(outcome.variant, _WORDS),
        f"{outcome.attacked:,}",
        _success(outcome),
        f"{low} to {high}",
        _number(outcome, outcome.baseline),
        "-" if outcome.held_out is None else _number(outcome, outcome.held_out),
        outcome.sentence,
    )


def _success(outcome: Outcome) -> str:
    """Return the success; if it is no plain share, after the name of what it is."""
    measure = f"{outcome.measure} " if outcome.measure in {"AUC", "macro recall"} else ""
    return f"{measure}{_number(outcome, outcome.success)}"


def _number(outcome: Outcome, interval: Interval) -> str:
    return f"{interval.value:.3f}" if outcome.measure == "AUC" else str(Share(interval.value))


def _drawn(best: list[Outcome]) -> Levels:
    held_out = [None if each.held_out is None else _measured(each.held_out) for each in best]
    series = [
        Series("success", BAD, [_measured(each.success) for each in best]),
        Series("without the release", NEUTRAL, [_measured(each.baseline) for each in best]),
        *([Series("held out", GOOD, held_out)] if any(held_out) else []),
    ]
    places = [f"{each.name}\n{shown(each.variant)}" for each in best]
    caption = (
        "What each attack achieves, with 95 % intervals. An attack whose success is no higher than the others fails."
    )
    return Levels(places, series, {}, ("attack", "success"), caption)


def _measured(interval: Interval) -> Measured:
    return Measured(interval.value, (interval.low, interval.high))


def attack_notes(opened: Opened, judgement: Judgement, seconds: float, *, sure: bool = False) -> Iterator[str]:
    """Yield what readers should know about the attacks; `sure`: the release surely never saw the held-out records."""
    case = opened.case
    held_out = f"{len(case.held_out):,} were held out" if len(case.held_out) else "none is taken as held out"
    drawn = f", drawn from {opened.of_records:,}" if opened.of_records > len(case.seen) + len(case.held_out) else ""
    yield f"Of {len(case.seen) + len(case.held_out):,} real records{drawn}, {held_out}."
    if len(case.held_out) and not sure:
        yield "If the release was made of them too, their numbers mean nothing: say --holdout 0."
    if opened.released > len(case.release):
        yield (
            f"Of the {opened.released:,} released records, {len(case.release):,} were drawn for the attacks. With all "
            "of them, copies and near records would be found more often."
        )
    yield f"The attacker knows {some(list(case.quasi_identifiers), _SHOWN)}."
    if case.secrets:
        yield f"Nobody should learn {some(list(case.secrets), _SHOWN)}."
    for each in judgement.outcomes:
        if not each.is_attack:
            yield each.sentence
    if judgement.unfinished:
        yield f"Not finished within {seconds:g} seconds: {', '.join(judgement.unfinished)}."
    for name, reason in judgement.impossible.items():
        yield f"Not tried: {name}, because {reason}."
    for name, texts in case.release.not_understood.items():
        yield f"Not understood in {shown(name)}, so taken to tell nothing: {some(texts, _SHOWN)}."
    if opened.lacking:
        yield f"Not in the release: {some(list(opened.lacking), _SHOWN)}."
    yield "No attack proves that a release is safe: others may do better."

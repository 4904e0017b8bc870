"""The report of `aegis risk --against` on attacks on a release."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from aegis_provider.check import Interval
from aegis_provider.report.model import Part, Report, Section, Term, Terms, TextTable
from aegis_provider.synth.attacks.article29 import SINGLING_OUT
from aegis_provider.synth.attacks.attack import OpenedCase, Outcome
from aegis_provider.synth.attacks.judging import Judgement, Result
from aegis_provider.synth.released.opening import SEEN_ALL
from aegis_provider.synth.report.fidelity import NOT_JUDGED, documents_of, drawn, notes_on, why_not_judged
from aegis_sdk.charts import BAD, GOOD, NEUTRAL, Axis, Plane, Series
from aegis_sdk.printable import some
from aegis_sdk.reading import Share, shown

_SHOWN: Final = 5
_WORDS: Final = 60
_NO_SHARES: Final = ("AUC", "macro recall")
_ROUNDING: Final = 1e-6
_FEW: Final = "Too little was tried to tell what the attack achieves."

ATTACK_TERMS: Final = Terms(
    [
        Term("Success", "how often the attack succeeds on records that the release was made of, with a 95 % interval."),
        Term(
            "Without the release",
            "what the attacker achieves by guessing, or with a release whose columns are shuffled, which tells how "
            "frequent values are and no more.",
        ),
        Term("Result", "of each variant alone; - where less than 20 tries tell nothing, and another variant decides."),
        Term(
            "Held out",
            "the same attack on records of the table that the release never saw. What succeeds there follows from what "
            "is true of people in general; only what succeeds beyond it is due to being in the table.",
        ),
    ]
)


def attacks_report(opened: OpenedCase, judgement: Judgement, release: str, seconds: float) -> Report:
    """Report the results of attacks: the strongest first, then a table of all."""
    sections = [
        Section("The attacks", list(attack_parts(judgement))),
        Section("What to know about them", list(attack_notes(opened, judgement, seconds))),
        Section("What the numbers mean", [ATTACK_TERMS]),
    ]
    return Report(f"Attacks on {release}", [attacks_headline(judgement)], sections)


def attacks_headline(judgement: Judgement) -> str:
    """Return one line with the conclusion and the strongest attack."""
    why, said = "; ".join(_not_judged(judgement)), _strongest(judgement)
    is_read = not (judgement.not_understood or judgement.not_read)
    if judgement.result is Result.NOT_JUDGED:
        return f"{NOT_JUDGED}: {why}." + (f" {said}" if said and is_read else "")
    return f"{judgement.result.upper()}: {said}" + ("" if is_read else f" {NOT_JUDGED}: {why}.")


def _not_judged(judgement: Judgement) -> Iterator[str]:
    """Yield why some attacks have no result, starting with reasons that concern all attacks."""
    if judgement.not_understood:
        yield why_not_judged(judgement.not_understood)
    if judgement.not_read:
        names = some([shown(each) for each in judgement.not_read], _SHOWN)
        yield f"the table or its plan has no column {names}; rename it or leave it out"
    if copied := judgement.copied_held_out:
        found, records = copied
        yield (
            f"the release has {found:,} of the {records:,} held-out records, so it was probably made of them, too, "
            "and nothing can be compared with them: say --holdout 0"
        )
    elif judgement.is_too_small:
        yield "the release has too few records to tell what attacks achieve"
    elif not any(outcome.is_attack for outcome in judgement.outcomes):
        yield "no attack was tried, so nothing is known about the release"
    elif judgement.is_as_large:
        yield (
            "the release has about as many records as the table, so it may be made of the held-out ones, too, and "
            "nothing can be compared with them: name the --configuration that masked it, say --holdout 0, or generate "
            "fewer records"
        )
    elif not (judgement.not_understood or judgement.not_read):
        left = [name for name, result in judgement.results.items() if result is Result.NOT_JUDGED]
        others = dict.fromkeys(left, "there was too little to try")
        others |= dict.fromkeys(judgement.unfinished, "time ran out (--seconds)")
        others.update(judgement.impossible)
        reasons = list(dict.fromkeys(others[name] for name in left))
        number = f"{len(left)} of {len(judgement.results)} attacks"
        yield f"{number} could not be tried in full ({some(left, _SHOWN)}), because {' and '.join(reasons)}"
        if reasons == [SEEN_ALL]:
            yield (
                "no option changes that, so judge by the others, which were tried and failed; only from generated "
                "tables, records can be held out (aegis synth generate)"
            )


def _strongest(judgement: Judgement) -> str:
    """Return the result of the strongest attack in a sentence; empty if no attack can be compared."""
    strongest = judgement.strongest
    is_compared = not (judgement.copied_held_out or judgement.is_as_large) or judgement.result is Result.FAIL
    if not is_compared or not any(outcome.is_attack for outcome in judgement.outcomes):
        return ""
    if strongest is None:
        return "" if judgement.is_too_small else "No attack clearly achieved more than chance."
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


def attacks_document(opened: OpenedCase, judgement: Judgement) -> dict[str, Any]:
    """Return the results of attacks as JSON values."""
    case, strongest = opened.case, judgement.strongest
    attacks = [
        asdict(each) | {"beyond_chance": asdict(each.beyond_chance), "risk": each.risk and asdict(each.risk)}
        for each in judgement.outcomes
    ]
    return {
        "headline": attacks_headline(judgement),
        "result": judgement.result,
        "results": dict(judgement.results),
        "strongest": None if strongest is None else {"attack": strongest.name, "variant": strongest.variant},
        "attacks": attacks,
        "unfinished": list(judgement.unfinished),
        "impossible": dict(judgement.impossible),
        "records": {"released": opened.released, "seen": len(case.seen), "held_out": len(case.held_out)},
        "holdout": opened.share,
        "quasi_identifiers": list(case.quasi_identifiers),
        "sensitive": list(case.secrets),
        "not_released": list(opened.lacking),
        "not_understood": documents_of(case.release.not_understood),
        "not_judged": list(judgement.not_understood),
        "not_read": list(judgement.not_read),
    }


def attack_parts(judgement: Judgement) -> Iterator[Part]:
    """Yield the results of attacks, as a table and as a picture."""
    best = judgement.best()
    header = (
        "attack",
        "result",
        "variant",
        "tried",
        "success",
        "interval",
        "without the release",
        "held out",
        "what happened",
    )
    rows = [*(_row(outcome, judgement) for outcome in best), *_rows_of_others(judgement)]
    yield TextTable(header, rows, "Of each attack, the variant that gained most.", wide=1)
    if drawn := [outcome for outcome in best if outcome.is_attack and not outcome.is_few]:
        yield _drawn(drawn)


def _rows_of_others(judgement: Judgement) -> Iterator[tuple[str | float, ...]]:
    """Yield a row for each untried attack."""
    tried = {outcome.name for outcome in judgement.outcomes}
    reasons = {
        **dict.fromkeys(judgement.unfinished, "not finished in time"),
        **judgement.impossible,
        **dict.fromkeys(judgement.nobody, "no released record is alone in anything"),
    }
    for name, reason in reasons.items():
        if name not in tried:
            yield name, _word(judgement.results.get(name)), "-", "0", *["-"] * 4, reason


def _word(result: Result | None) -> str:
    return "-" if result is None else "FAIL" if result is Result.FAIL else str(result)


def _row(outcome: Outcome, judgement: Judgement) -> tuple[str | float, ...]:
    low, high = (_number(outcome, Interval(each, each, each)) for each in (outcome.success.low, outcome.success.high))
    shows_share = not outcome.is_few
    # A share of few tries would feign precision, so the number of successes is shown.
    hits = outcome.success.value * outcome.attacked
    is_count = outcome.measure not in _NO_SHARES and abs(hits - round(hits)) < _ROUNDING
    few = f"{round(hits)} of {outcome.attacked}" if is_count else "-"
    return (
        outcome.name,
        _word(judgement.result_of(outcome)),
        shown(outcome.variant, _WORDS),
        f"{outcome.attacked:,}",
        _success(outcome) if shows_share else few,
        f"{low} to {high}" if shows_share else "-",
        _number(outcome, outcome.baseline),
        _number(outcome, outcome.held_out) if shows_share and outcome.held_out is not None else "-",
        outcome.sentence if shows_share or outcome.name == SINGLING_OUT else _FEW,
    )


def _success(outcome: Outcome) -> str:
    """Return the success, after its name unless it is a plain share."""
    measure = f"{outcome.measure} " if outcome.measure in _NO_SHARES else ""
    return f"{measure}{_number(outcome, outcome.success)}"


def _number(outcome: Outcome, interval: Interval) -> str:
    return f"{interval.value:.3f}" if outcome.measure == "AUC" else str(Share(interval.value))


def _drawn(best: list[Outcome]) -> Plane:
    held_out = [None if outcome.held_out is None else drawn(outcome.held_out) for outcome in best]
    series = [
        Series.at_places("success", BAD, [drawn(outcome.success) for outcome in best]),
        Series.at_places("without the release", NEUTRAL, [drawn(outcome.baseline) for outcome in best]),
        *([Series.at_places("held out", GOOD, held_out)] if any(held_out) else []),
    ]
    places = [f"{each.name}\n{shown(each.variant)}" for each in best]
    caption = (
        "What each attack achieves, with 95 % intervals. An attack whose success is no higher than the others fails."
    )
    return Plane(Axis("attack", "attack"), Axis("success", "success", "share"), series, places, notes=[caption])


def attack_notes(opened: OpenedCase, judgement: Judgement, seconds: float, *, sure: bool = False) -> Iterator[str]:
    """Yield notes on the attacks; `sure`: the release certainly never saw the held-out records."""
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
    is_default = case.nameable and set(case.quasi_identifiers) == set(case.release.names)
    named = "; no column was named as sensitive or known, so all count as known" if is_default else ""
    yield f"The attacker knows {some(list(case.quasi_identifiers), _SHOWN)}{named}."
    if case.secrets:
        yield f"Nobody should learn {some(list(case.secrets), _SHOWN)}."
    for outcome in judgement.outcomes:
        if not outcome.is_attack:
            yield outcome.sentence
    if judgement.unfinished:
        yield f"Not finished within {seconds:g} seconds: {', '.join(judgement.unfinished)}."
    for name, reason in judgement.impossible.items():
        yield f"Not tried: {name}, because {reason}."
    yield from notes_on(case.release.not_understood)
    if opened.lacking:
        yield f"Not in the release: {some(list(opened.lacking), _SHOWN)}."
    yield "No attack proves that a release is safe: others may do better."

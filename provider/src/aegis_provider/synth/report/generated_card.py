"""Attacks a generated table, measures its utility, and writes the release card with both."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import Any, Final

from aegis_provider.errors import TableError
from aegis_provider.plan.model import Plan
from aegis_provider.processes import Progress
from aegis_provider.report.model import FIDELITY, Part, Report, Section, TextTable
from aegis_provider.synth.attacks.attack import OpenedCase, open_case
from aegis_provider.synth.attacks.judging import Judgement, judge
from aegis_provider.synth.attacks.membership import COPIES
from aegis_provider.synth.fidelity import Fidelity, fidelity
from aegis_provider.synth.fidelity.contradictions import Contradictions, contradictions_of
from aegis_provider.synth.generate.generated import Generated
from aegis_provider.synth.generate.levels import FEWEST
from aegis_provider.synth.report.attacks import (
    ATTACK_TERMS,
    attack_notes,
    attack_parts,
    attacks_document,
    attacks_headline,
)
from aegis_provider.synth.report.fidelity import fidelity_document, fidelity_headline, likeness, model_parts
from aegis_provider.table import Source, table_name
from aegis_provider.workflow.card_files import write_card
from aegis_sdk.reading import Share, shown, some

_PACKAGES: Final = ("aegis-masking-provider", "aegis-masking")
_COLUMNS_SHOWN: Final = 200
COVERED: Final = ("sha256", "records", "accepted")
"""The members of the card that follow from the generated records alone, so that differential privacy covers them."""

EXACT: Final = (
    "learnt_from",
    "validated",
    "held_out",
    "people",
    "holdout_note",
    "pair_total_variation",
    "auc",
    "r2",
    "frechet_distance",
    "best",
    "looks",
    "ended",
    "weights",
    "copies",
    "contradictions",
    "attacked",
    "worth",
)
"""The members counted from the real records, which it does not cover."""

_PROVIDER_ONLY: Final = "This card is counted exactly from the real records, so it is for the provider only."


@dataclass(frozen=True, eq=False)
class GeneratedCard:
    """A generated table and the results of judging it.

    Attributes:
        seconds: The time limit of the attacks.
        fidelity: The utility of the records for predicting the label, or why it could not be measured.
        other_labels: Columns that others may predict, too, of which it says nothing.
    """

    table: str
    label: str
    plan_digest: str
    generated: Generated
    opened: OpenedCase
    judgement: Judgement
    seconds: float
    fidelity: Fidelity | str
    contradictions: Contradictions
    other_labels: tuple[str, ...] = ()

    @property
    def copies(self) -> str:
        """A sentence on generated records that equal a real one; empty if not counted in time."""
        return next((outcome.sentence for outcome in self.judgement.outcomes if outcome.name == COPIES), "")

    @property
    def findings(self) -> tuple[str, ...]:
        """Contradictions, the results of attacks and the utility of the records, in a few sentences."""
        worth = "" if isinstance(self.fidelity, str) else fidelity_headline(self.fidelity)
        return tuple(filter(None, [self.contradictions.sentence, attacks_headline(self.judgement), self.copies, worth]))

    def as_json(self) -> dict[str, Any]:
        """Return the card as JSON values."""
        generated = self.generated
        return {
            "table": self.table,
            "label": self.label,
            "plan_sha256": self.plan_digest,
            **made_document(generated),
            "guaranteed": generated.promise,
            "copies": self.copies,
            "contradictions": self.contradictions.as_json(),
            "attacked": attacks_document(self.opened, self.judgement),
            "worth": self.fidelity if isinstance(self.fidelity, str) else fidelity_document(self.fidelity),
            "versions": _versions(),
            "made": _today(),
        }


def made_document(generated: Generated) -> dict[str, Any]:
    """Return the method and parameters of generation, as JSON values."""
    training, guarantee, people = generated.training, generated.guarantee, generated.people
    return {
        "output": None if generated.output is None else str(generated.output),
        "sha256": generated.sha256 or None,
        "records": generated.table.num_rows,
        "method": generated.method,
        "privacy": generated.knobs.privacy,
        "value": generated.knobs.value,
        "guarantee": None
        if guarantee is None
        else {
            "epsilon": guarantee[0],
            "delta": guarantee[1],
            "covers": COVERED,
            "does_not_cover": [each for each in EXACT if people is not None or each != "people"],
            "budget": generated.steps,
        },
        "learnt_from": generated.learnt_from,
        "validated": generated.validated,
        "held_out": generated.held_out,
        "holdout": generated.holdout,
        "holdout_note": generated.holdout_note,
        "pair_total_variation": training.quality.pair_total_variation,
        "auc": training.quality.auc,
        "r2": training.quality.r2,
        "frechet_distance": training.quality.frechet_distance,
        "best": training.best,
        "looks": [
            {"seconds": look.seconds, "number": look.number, "losses": dict(look.losses), **asdict(look.quality)}
            for look in training.looks
        ],
        "ended": training.ended,
        **({} if people is None else {"people": people.number, "rows_per_person": people.rows}),
        "left_out": list(generated.left_out),
        "accepted": dict(generated.accepted),
        "weights": {name: {"privacy": one, "importance": two} for name, (one, two) in generated.weights.items()},
    }


def generated_report(card: GeneratedCard) -> Report:
    """Return the card as a report."""
    covered = [] if card.generated.guarantee is None else list(_covered(card.generated))
    sections = [
        Section("What is shared", list(_shared(card))),
        *([Section("What differential privacy covers", covered)] if covered else []),
        Section("What attacks achieved", [*attack_parts(card.judgement), ATTACK_TERMS]),
        Section("What it is good for", list(_worth(card))),
        Section("What this does not say", list(_limits(card))),
        Section("How it was made", list(_origin(card))),
    ]
    contradictions, *findings = card.findings
    top = [contradictions, _guarantee(card.generated), *findings]
    return Report(f"Release card of records generated from {PurePath(card.table).name}", top, sections)


def _guarantee(generated: Generated) -> str:
    """Return the formal guarantee in words."""
    if generated.guarantee is None:
        return (
            "No formal guarantee follows from how these records were made. That they are generated does not make them "
            f"anonymous: what attacks achieve is below. {_PROVIDER_ONLY}"
        )
    promise = generated.promise
    return (
        f"{promise[0].upper()}{promise[1:]}, is guaranteed for each {_whose(generated)}: it bounds what any attack "
        f"on them can achieve. {_PROVIDER_ONLY}"
    )


def _whose(generated: Generated) -> str:
    return "real record" if generated.people is None else "person"


def _covered(generated: Generated) -> Iterator[Part]:
    """Yield what the guarantee covers, and the budget spent by each step."""
    yield (
        "Covered are the generated records: which values they have, how often each of them and each pair occurs, and "
        f"how many they are. One {_whose(generated)} more or less hardly changes how likely any of that is, whatever "
        "else is known. The plan is taken as given: what was written into it after a look at the table is not covered. "
        "Nor is that a run was refused."
    )
    sides = "the values of each" if generated.people is None else "whose they are"
    rows = [(step, Share(share).whole) for step, share in generated.steps.items()]
    rows += [
        (f"which records are held out: by {sides} alone", "none"),
        ("which records judge the model: by coins that look at none", "none"),
        ("weights: by the plan", "none"),
        ("when to stop, and checkpoints: there is one model, and none is kept", "none"),
        ("drawing records: by the model", "none"),
    ]
    yield TextTable(("step", "share of the budget"), rows, "of epsilon; half of delta is for the levels")
    yield (
        "Not covered are all other numbers of this card, which are counted from the real records: how many were learnt "
        "from, judged and held out, what attacks achieved, how many copies and contradictions there are, and what the "
        "records are worth."
    )


def _shared(card: GeneratedCard) -> Iterator[Part]:
    generated = card.generated
    yield (
        f"{generated.table.num_rows:,} records that a model drew. Of {generated.of_records:,} real ones, it learnt "
        f"from {generated.learnt_from:,}, its models were judged by {generated.validated:,} during the training, and "
        f"{generated.held_out:,} were held out for this card."
    )
    if generated.people is not None:
        yield (
            f"Of the real records, {'; '.join(generated.people.in_words())}. People were split into these parts, and "
            "attacked, with all of their records. A generated record is nobody's: no column links it with others."
        )
    if generated.holdout_note:
        yield f"{generated.holdout_note}."
    rows = [(shown(name), _role(card, name), *_weights(card, name)) for name in generated.table.column_names]
    header = ("column", "role", "weight for privacy", "weight for value")
    yield TextTable(header, rows, _weights_caption(generated), most=_COLUMNS_SHOWN)
    if generated.left_out:
        yield f"Left out, as the plan asks (identity: false): {', '.join(map(shown, generated.left_out))}."


def _role(card: GeneratedCard, name: str) -> str:
    case = card.opened.case
    if name in case.secrets:
        return "sensitive"
    return "quasi-identifier" if name in case.quasi_identifiers else "label" if name == card.label else "other"


def _weights(card: GeneratedCard, name: str) -> tuple[str, str]:
    """Return the weights of a column for privacy and for value; a dash for unused ones."""
    generated = card.generated
    privacy, value = generated.weights.get(name, (0.0, 0.0))
    counts = generated.knobs.privacy > 0 and name in card.opened.case.quasi_identifiers
    return f"{privacy:.2g}" if counts else "-", f"{value:.2g}" if value else "-"


def _weights_caption(generated: Generated) -> str:
    knobs = generated.knobs
    used = {"privacy": knobs.privacy, "value": knobs.value}
    terms = [f"{name} {number:g}" for name, number in used.items() if number]
    if not terms:
        return f"no weights were used: the method {generated.method} was given no term for privacy or value"
    return f"weights from 0 to 1, within the terms for {' and '.join(terms)}; -: not used"


def _worth(card: GeneratedCard) -> Iterator[Part]:
    if card.other_labels:
        others = some(list(map(shown, card.other_labels)), len(card.other_labels))
        yield f"This is measured for predicting {shown(card.label)} only, not for {others}."
    if isinstance(card.fidelity, str):
        yield f"Not measured: {card.fidelity}."
        return
    yield from model_parts(card.fidelity)
    yield likeness(card.fidelity)
    yield FIDELITY


def _limits(card: GeneratedCard) -> Iterator[Part]:
    yield from attack_notes(card.opened, card.judgement, card.seconds, sure=True)
    if card.generated.guarantee is not None:
        yield (
            "Categories that do not stand out from the noise are never generated. Numbers lie anywhere in their "
            "stretches, and there may be combinations that no real record has."
        )
        return
    fewest = FEWEST * (1 if card.generated.people is None else card.generated.people.rows)
    yield (
        f"Categories with fewer than {fewest} records, and numbers with fewer at or beyond them, are never generated. "
        "A rarer number may be, as any number in its stretch, and so may combinations of values that are frequent one "
        "by one."
    )
    yield (
        "Records keep the rules of the table, and values that go together. So whoever knows some values of a person "
        "can guess others that follow from them, of people outside the table as well."
    )


def _origin(card: GeneratedCard) -> Iterator[Part]:
    training, quality = card.generated.training, card.generated.training.quality
    reached = quality.in_words and f"{quality.in_words} of models trained on them"
    ended = f"the best of {len(training.looks)} models; it ended because {training.ended}" if training.ended else "done"
    variation = f"pair total variation {Share(quality.pair_total_variation)}"
    rows = [
        ("table", shown(card.table)),
        ("label", shown(card.label)),
        ("method", card.generated.method),
        ("training", ended),
        (f"beside the {card.generated.validated:,} records that judged models", f"{variation}{reached}"),
        ("plan, SHA-256", card.plan_digest),
        ("made by", ", ".join(f"{name} {number}" for name, number in _versions().items())),
        ("on", _today()),
    ]
    caption = "few records differ by chance, too: the pair total variation above is of more"
    yield TextTable(("what", "value"), rows, caption)


def _versions() -> dict[str, str]:
    return {name: version(name) for name in _PACKAGES}


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def card_beside(output: Path) -> Path:
    """Return the path of an output's card without its ending, unique per output."""
    return output.with_name(f"{output.name}.card")


def judge_generated(
    generated: Generated,
    table: Source,
    plan: Plan,
    plan_digest: str,
    *,
    seconds: float = 60.0,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    progress: Progress = lambda _done, _all: None,
) -> GeneratedCard:
    """Attack generated records and measure their utility; if they are in a file, write a card beside it.

    For `made.csv`, these are `made.csv.card.md`, `made.csv.card.html` and `made.csv.card.json`.

    Args:
        plan_digest: The SHA-256 of its file.

    Raises:
        TableError: The table cannot be read any more.
        OutputError: The card cannot be written.
        AegisError: The extra `synth` is not installed.
    """
    how: Mapping[str, Any] = {"holdout": generated.holdout, "delimiter": delimiter, "memory_limit": memory_limit}
    opened = open_case(generated.table, table, plan=plan, is_sure=True, **how)
    judgement = judge(opened.case, seconds, progress)
    worth: Fidelity | str
    try:
        worth = fidelity(generated.table, table, plan=plan, **how)
    except TableError as error:  # too few records, or label values, to train and test on
        worth = str(error)
    found = contradictions_of(generated.table, opened.case.seen, opened.case.held_out)
    card = GeneratedCard(
        table_name(table),
        plan.label,
        plan_digest,
        generated,
        opened,
        judgement,
        seconds,
        worth,
        found,
        plan.other_labels,
    )
    if generated.output is not None:
        report, as_json = generated_report(card), json.dumps(card.as_json(), indent=1)
        write_card(card_beside(generated.output), report, as_json, private=True)
    return card

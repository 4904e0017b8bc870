"""The head of a card, for those who decide: what is shared with whom for what, three lights, and the table's form."""

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final, TypeAlias

import numpy as np
from pydantic import TypeAdapter, ValidationError

from aegis_provider.classifiers import RAW
from aegis_provider.counting.stated_maskings import MERGED
from aegis_provider.plan.model import DROP, IDENTITY
from aegis_provider.privacy import CERTAIN_VALUES_REMEDY, SURE, says_certain
from aegis_provider.report.model import Light, Part, TextTable, Tone
from aegis_provider.report.rendering import markdown_part
from aegis_provider.table.arithmetic import plain
from aegis_provider.workflow.card import Card, CardColumn
from aegis_sdk.reading import Share, maskings_in, shown, some, verdict_line
from aegis_sdk.wire import Attribute, EntryDocument

Rows: TypeAlias = Mapping[str, tuple[str, ...]]
"""By column, as many made-up values as there are made-up rows."""

ROWS: Final = 5
NOT_SHARED: Final = "dropped to protect people"
_TELLS_NOTHING: Final = "tells nothing"
_TELLS_NO_MORE: Final = "tells nothing more"
ANYONE: Final = "anyone who gets this card"

# The shares of records with a certain value, and of what is kept, from which on, or below which, a light changes.
_MANY_CERTAIN: Final = 0.5
_MANY_GUESSED: Final = 0.05
_MUCH_KEPT: Final = 0.75
_LITTLE_KEPT: Final = 0.5

_BIN: Final = re.compile(r"(?:\(-inf|\[(-?[\d.]+)),(?:inf|(-?[\d.]+))\)")
_NAMED: Final = 6
_CAUTIONS: Final = 3
_COLUMNS: Final = 30
_SHOWN: Final = 12
_LONGEST: Final = 100
_STANDING: Final = (
    "Whoever knows more of a person than the quasi-identifiers, or has another release of the same people, can learn "
    "more"
)
_REFITTED: Final = "Models were tested with the groups formed anew in each fold, so your own figure can be higher"


@dataclass(frozen=True)
class Shared:
    """What is shared, with whom and for what.

    Attributes:
        table: The name of the table.
        records: The number of released records.
        columns: What becomes of each shared column, by name; the label is one of them.
        left_out: Why others are not shared, by name.
        made_up: The made-up rows.
        consumer: Who gets the table; empty if that is not known.
        purpose: What for, in the consumer's words; empty if not known.
        cut: What was not searched, because time was up; empty if nothing.
        about: The name of the configuration, as `Card.about`; empty without one.
        counted: What privacy counts, as `Card.counted`.
        predicts: What may be predicted, as `Card.predicts`; empty for the label.
    """

    table: str
    label: str
    records: int
    columns: Mapping[str, str]
    left_out: Mapping[str, str]
    made_up: Rows
    consumer: str = ""
    purpose: str = ""
    cut: str = ""
    about: str = ""
    counted: str = ""
    predicts: str = ""

    @property
    def sentence(self) -> str:
        """What is shared with whom for what, without codes."""
        label, others = shown(self.label), [name for name in self.columns if name != self.label]
        names = f"{some(others, _NAMED)} and {label}" if others else f"Only {label}"
        whom = shown(self.consumer, _LONGEST) if self.consumer else ANYONE
        what_for = f", for: {shown(self.purpose, _LONGEST).rstrip('.')}" if self.purpose else ""
        cut = f" ({self.cut})" if self.cut else ""
        for_all = self.predicts or label
        of = f"{self.records:,} records of {shown(self.table, _LONGEST)}, masked, for predicting {for_all}"
        return f"{names} of {of}; for {whom}{what_for}{cut}.{f' {self.counted}.' if self.counted else ''}"

    def parts(self, lights: Iterable[Light]) -> Iterator[Part]:
        """Yield the sentence, the lights, the columns, the made-up rows, and the columns left out in one line."""
        yield self.sentence
        yield from lights
        if self.about:
            yield f"In short: {self.about}."
        rows = [(shown(name), shown(becomes, _LONGEST)) for name, becomes in self.columns.items()]
        more = f"and {len(rows) - _COLUMNS} more" if len(rows) > _COLUMNS else ""
        yield TextTable(("shared column", "its values become"), rows[:_COLUMNS], more)
        if self.made_up:
            yield "Made-up rows in the form of the table, each column drawn by itself from the published counts:"
            yield self._form()
        if self.left_out:
            yield f"Not shared: {'; '.join(self._reasons())}."

    def _form(self) -> TextTable:
        names = [name for name in self.columns if name in self.made_up]
        more = f"; and {len(names) - _SHOWN} more columns" if len(names) > _SHOWN else ""
        columns = [list(map(shown, self.made_up[name])) for name in names[:_SHOWN]]
        header, rows = list(map(shown, names[:_SHOWN])), list(zip(*columns, strict=True))
        return TextTable(header, rows, f"made up: no row comes from a record{more}")

    def _reasons(self) -> Iterator[str]:
        by_reason: dict[str, list[str]] = {}
        for name, why in self.left_out.items():
            by_reason.setdefault(why, []).append(name)
        yield from (f"{some(names, _NAMED)} ({shown(why, _LONGEST)})" for why, names in by_reason.items())


def head_of(card: Card) -> list[Part]:
    """Return the head of a card."""
    dropped = {column.name: _why_dropped(column) for column in card.columns if not column.shared}
    columns = {column.name: column.becomes for column in card.columns if column.shared}
    left_out = {**dropped, **card.never_shared}
    about = (card.table, card.label, card.records, columns, left_out, card.made_up)
    shared = Shared(*about, card.consumer, card.purpose, card.cut, card.about, card.counted, card.predicts)
    return list(shared.parts([risk_light(card), kept_light(card), signing_light(card)]))


def _why_dropped(column: CardColumn) -> str:
    """Return why a column is not shared: to share one that loses nothing would only put people at risk."""
    if column.lost is None or column.lost > 0:
        return NOT_SHARED
    return _TELLS_NO_MORE if column.kept else _TELLS_NOTHING


def in_markdown(parts: Iterable[Part]) -> str:
    """Return the head in Markdown, as an entry and a delivery show it."""
    return "\n\n".join("\n".join(markdown_part(part)) for part in parts)


def renewed(card: Mapping[str, Any], consumer: str, purpose: str, records: int) -> dict[str, Any]:
    """Return a public card, as JSON values, for the table that a consumer gets; one of an older version as it is."""
    try:
        about = TypeAdapter(Card).validate_python(
            {**card, "consumer": consumer, "purpose": purpose, "records": records}
        )
    except ValidationError:
        return dict(card)
    told = replace(about, for_consumers=in_markdown(head_of(about)))
    return {**card, **TypeAdapter(Card).dump_python(told, mode="json")}


def _tone_of(kept: float | None) -> Tone:
    if kept is None:
        return "look"
    return "stop" if kept < _LITTLE_KEPT else "look" if kept < _MUCH_KEPT else "fine"


def _alike(card: Card) -> list[str]:
    """Return how many records or people are alike; where columns are shared that nobody is said to know, to whom."""
    if "k" not in card.reached:
        return []
    to_whom = f"to whoever knows only {some(card.alone.known, _NAMED)}, " if card.alone.known else ""
    if card.people is None:
        return [f"{to_whom}every record is one of at least {card.reached['k']:g} alike"]
    said = [f"{to_whom}every record may be that of any of at least {card.reached['k']:g} people"]
    return said if card.people.known is None else [*said, card.people.known.sentence]


def _beside_certain(cautions: Iterable[str]) -> list[str]:
    """Return the cautions but the one that the first light says."""
    return [each for each in cautions if not says_certain(each)]


def _first(cautions: Sequence[str]) -> list[str]:
    """Return the first cautions, and where the others stand."""
    more = len(cautions) - _CAUTIONS
    others = [f'{more} more stand{"s" * (more == 1)} under "The verdict"'] if more > 0 else []
    return [*(shown(each, 2 * _LONGEST) for each in cautions[:_CAUTIONS]), *others]


def risk_light(card: Card) -> Light:
    """Return how many people are at risk, by the rule of `docs/decisions/0107-lights-of-a-card.md`."""
    many_alone = card.alone.is_much(offered=False)
    faults = [
        *([_broken(card)] if card.holds is False and (_fails(card) or not many_alone) else []),
        *([] if card.passed else ["the published counts give small counts away"]),
        *([card.alone.line()] if many_alone else []),
    ]
    cautions = [
        *([f"warning: {card.leak_warning}"] if card.leak_warning else []),
        *([_certain(card), CERTAIN_VALUES_REMEDY] if card.certain else []),
        *([_guessable(card)] if card.guessable >= max(_MANY_GUESSED, round(card.certain, 2) + 0.005) else []),
        *(["the privacy promised could not be measured"] if card.holds is None else []),
        *([card.alone.line()] if card.alone.own and not many_alone else []),
    ]
    tone: Tone = "stop" if faults or round(card.certain, 2) >= _MANY_CERTAIN else "look" if cautions else "fine"
    return _light("People at risk", tone, [*faults, *cautions, *_alike(card)])


def _fails(card: Card) -> bool:
    """Whether a promised number is not reached, unlike in a release where it is, but too many records are alone."""
    return card.privacy_verdict.startswith(verdict_line(False, ""))


def _broken(card: Card) -> str:
    which = card.privacy_verdict.partition(": ")[2].partition(". To mend it")[0]
    return f"a promise of privacy is broken{f': {which}' if which else ''}"


def _guessable(card: Card) -> str:
    share, whose = Share(card.guessable).whole, shown(card.label) if card.sensitive_label else "a sensitive value"
    return f"for about {share} of the {card.unit} a guess of {whose} is over {Share(SURE).whole} right"


def _certain(card: Card) -> str:
    whose = f"the {shown(card.label)}" if card.sensitive_label else "a sensitive value"
    share = Share(card.certain).whole
    return f"{whose} of {share} of the {card.unit} is certain: all {card.unit} of their group have the same"


def kept_light(card: Card) -> Light:
    """Return what is kept, by the least of the measure and the models, by the same rule."""
    label, raw, own = shown(card.label), card.auc_of(RAW), card.auc_of(card.configuration)
    if raw is not None and raw.low <= raw.nothing:
        return _light("What is kept", "look", [f"the table itself tells nothing certain about {label}", _REFITTED])
    by_models = None if card.predicted is None else card.predicted.value
    each = [task.kept for task in card.by_label.values()]
    least = min((share for share in (card.kept, by_models, *each) if share is not None), default=None)
    tone = _tone_of(least)
    tone = "look" if tone == "fine" and card.cut else tone
    kept = "how much is kept is not known" if card.kept is None else f"{Share(card.kept).whole} of what the table tells"
    costs = card.limits.in_words if card.limits else ""
    about, of = (f"{card.kept_about}: {card.kept_by_label}", f" of {label}") if card.kept_by_label else (label, "")
    said = [f"{kept} about {about}", *filter(None, [costs, card.cut])]
    if raw is not None and own is not None:
        reached = f"an {own.scale} of {own.auc:.3f}, of {raw.auc:.3f} on the table"
        said += [f"a model{of} trained on it reaches {reached}{own.error}", _REFITTED]
    else:
        said += [each.partition(": ")[2] for each in card.expectations]
    return _light("What is kept", tone, said)


def signing_light(card: Card) -> Light:
    """Return what to know before signing: faults first, then the first caution and the number of the others."""
    cautions = [*_beside_certain(card.warnings), *card.unfinished]
    cautions += [f"identifying values are accepted in {some(list(card.accepted), _NAMED)}"] if card.accepted else []
    broken = not card.passed or card.holds is False
    said = [*(["do not share it yet: see the verdict"] if broken else []), *_first(cautions), _STANDING]
    return _light("Before you sign", "stop" if broken else "look" if cautions else "fine", said)


def _light(subject: str, tone: Tone, said: Sequence[str]) -> Light:
    sentences = (f"{text[:1].upper()}{text[1:].rstrip('.')}{'' if text.endswith('?') else '.'}" for text in said)
    return Light(subject, tone, " ".join(sentences))


def made_up_rows(entry: EntryDocument, configuration: str) -> Rows:
    """Draw rows in the form of a masked table: each column by itself, from the published counts of its masked values.

    Nothing else decides them, so they tell nothing that the entry does not. Equal entries give equal rows.
    """
    maskings = maskings_in(entry, configuration)
    label = np.array(entry.label.histogram)
    rows = {}
    for each in entry.attributes:
        if (choice := maskings.get(each.name, DROP)) != DROP:
            drawn = _drawn(f"{configuration}/{each.name}", *_published(each, choice))
            rows[each.name] = _plainly(each, drawn) if choice == IDENTITY else drawn
    return rows | {entry.label.name: _drawn(f"{configuration}/{entry.label.name}", entry.label.domain, label)}


def _published(attribute: Attribute, choice: str) -> tuple[Sequence[str], np.ndarray]:
    """Return the masked values, and the published count of each; equal counts if none are published."""
    masking = next((each for each in attribute.maskings if each.id == choice), None)
    domain = attribute.domain if masking is None or choice == IDENTITY else masking.domain
    joint = attribute.joint if masking is None else masking.joint
    if joint is not None:
        return domain, np.array(joint).sum(axis=1)
    if masking is None and attribute.histogram is not None:
        return domain, np.array(attribute.histogram)
    return domain, np.ones(len(domain))


def _plainly(attribute: Attribute, drawn: tuple[str, ...]) -> tuple[str, ...]:
    """Return values inside bins, of open ones at the bound, where only the entry merges values into bins."""
    if attribute.discretization is None or attribute.discretization.rule != MERGED:
        return drawn
    draw = random.Random(f"{attribute.name}/{drawn}")  # noqa: S311 - repeatable, and no secret
    return tuple(_inside(text, draw, is_whole=attribute.type == "integer") for text in drawn)


def _inside(text: str, draw: random.Random, *, is_whole: bool) -> str:
    found = _BIN.fullmatch(text)
    if found is None or not any(found.groups()):
        return text
    low, high = (None if bound is None else Decimal(bound) for bound in found.groups())
    digits = max(-int(each.as_tuple().exponent) for each in (low, high) if each is not None)
    step = Decimal(1).scaleb(0 if is_whole else -digits)
    if low is None:
        return plain((high or step) - step)
    if high is None:
        return plain(low)
    return plain(low + step * draw.randrange(max(1, int((high - low) / step))))


def _drawn(seed: str, domain: Sequence[str], counts: np.ndarray) -> tuple[str, ...]:
    weights = np.maximum(counts, 0).astype(float)
    weights = weights if weights.any() else np.ones(len(domain))
    draw = random.Random(f"{seed}/{list(domain)}/{counts.tolist()}")  # noqa: S311 - repeatable, and no secret
    return tuple(draw.choices(list(domain), weights.tolist(), k=ROWS))

"""Entries that leave: those with other cuts of one table tell more together than each alone.

Rounding lasts, so the same cuts again are the same counts, and versions of a table tell little (decision 112). Other
cuts are other cells with numbers of their own.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from aegis_provider.files import digest_of
from aegis_provider.ledger.leaving import ACCEPT, CompositionError
from aegis_provider.ledger.store import Event, Ledger, ledger_named, ledgers, locked
from aegis_provider.state import lasting_randomness
from aegis_sdk.reading import shown
from aegis_sdk.wire import Attribute, EntryDocument, Masking

PROBABLE: Final = (0.37, 0.59, 0.71, 0.81)
"""The highest posterior of a true count of 1 to 4, measured with entries of one, two, ... cuts.

Of six it is 0.87, of eight 0.97, of one attribute alone; pairs add to it, so no fifth leaves
(`research/results/lasting.md`).
"""

_OF_DATA: Final = {"level", "file", "size"}
"""Parameters that do not say which values a masking joins."""


def cuts_of(entry: EntryDocument, drawn: str = "") -> dict[str, str]:
    """Return a digest of the cuts of each attribute, and of what draws its counts. An entry with noise has none.

    Values that only another version of the table has change no digest, as far as maskings are rules.

    Args:
        drawn: What tells the draw, unless it is by the key of this machine.
    """
    control = entry.disclosure_control
    if control is None or control.epsilon is not None:
        return {}
    by = [entry.label.name, control.rounded_to, control.min_cell, drawn or lasting_randomness().fingerprint]
    return {
        each.name: sha256(json.dumps([*by, *_cuts(each, by_rule=control.min_cell is None)]).encode()).hexdigest()[:16]
        for each in entry.attributes
    }


def _cuts(attribute: Attribute, *, by_rule: bool) -> list[object]:
    """Return the cuts of an attribute as JSON values, whatever its maskings are called."""
    bins = attribute.discretization and attribute.discretization.model_dump(mode="json")
    maskings = [_groups(each, by_rule=by_rule) for each in attribute.maskings]
    return [attribute.name, bins, attribute.joint is not None, *sorted(maskings, key=json.dumps)]


def _groups(masking: Masking, *, by_rule: bool) -> list[object]:
    stated = {} if masking.function is None else dict(masking.function.parameters)
    says = by_rule and bool(stated.keys() - _OF_DATA)
    return [masking.function and masking.function.name, stated if says else masking.domain]


def told(ledger: Ledger, cuts: Mapping[str, str], *, accept: bool, others: Sequence[Ledger] = ()) -> list[str]:
    """Return what an entry with these cuts tells with those that left, in sentences.

    Args:
        others: Ledgers of tables that may be the same one.

    Raises:
        CompositionError: There are too many cuts of an attribute, and that is not accepted.
    """
    known = {name: set().union(*(each.cuts.get(name, ()) for each in (ledger, *others))) for name in cuts}
    looks = {name: len(known[name]) + 1 for name, cut in cuts.items() if known[name] and cut not in known[name]}
    most = max(looks, key=lambda name: looks[name], default="")
    if not most:
        return []
    line = f"with the entries that left, {shown(most)} is counted in {looks[most]} different cuts"
    if looks[most] <= len(PROBABLE):
        return [f"{line}: together they make counts of 1 to 4 up to {PROBABLE[looks[most] - 1]} probable"]
    if not accept:
        raise CompositionError(
            f"{line}. More than {len(PROBABLE)} may make counts of 1 to 4 more than 0.9 probable. It does not leave: "
            f"publish by a plan of before, whose cuts tell nothing new; or {ACCEPT}"
        )
    return [f"{line}: they may make counts of 1 to 4 more than 0.9 probable"]


def leaves(
    entry: EntryDocument, file: Path, *, card: str, accept: bool
) -> tuple[list[str], Callable[[int | None], None]]:
    """Return what an entry that is about to be published tells with those that left, and how to keep it afterwards.

    Args:
        file: The file of the entry.
        card: The head of the card that is published with it, or empty.
        accept: Whether to go on although there are too many cuts.

    Returns:
        Sentences, and what is called with the published version.

    Raises:
        CompositionError: As in `told`.
        LedgerError: The ledger is damaged, of another machine or of a table without these columns.
    """
    columns, cuts = {entry.label.name, *(each.name for each in entry.attributes)}, cuts_of(entry)
    others = [each for each in ledgers()[0] if columns <= each.columns.keys()]
    said = told(ledger_named(entry.name, columns, accept=accept), cuts, accept=accept, others=others)
    control, digest = entry.disclosure_control, digest_of(file)
    spent = (control and control.epsilon) or 0.0

    def keep(version: int | None) -> None:
        event = Event(what="entry", entry=entry.name, version=version, digest=digest, epsilon=spent, cuts=cuts)
        with locked():
            ledger_named(entry.name, columns, accept=accept).noting(event, card)

    return said, keep

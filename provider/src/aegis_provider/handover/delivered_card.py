"""What is delivered with a table: its Data Package, and the release card, renewed, or one of what the table shows."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from aegis_provider.files import written_whole
from aegis_provider.ledger import SOME_HELD_BACK
from aegis_provider.plan.model import DROP, Plan
from aegis_provider.privacy import columns_of
from aegis_provider.release.apply import Checked
from aegis_provider.workflow.card import Card, CardColumn, CardTask
from aegis_provider.workflow.card_head import head_of, in_markdown, made_up_rows, renewed
from aegis_provider.workflow.card_making import people_of
from aegis_provider.workflow.folder import Folder
from aegis_provider.workflow.public_card import without_values
from aegis_sdk.reading import PACKAGE, Alone, Packaged, package_of, suppressed_cells_of, text_of
from aegis_sdk.wire import LARGEST_CARD, DataRequest, DeliveryDescriptor, EntryDocument, EntryHead


@dataclass(frozen=True)
class Masked:
    """A masked table.

    Attributes:
        suppressed: The number of left-out records.
        privacy: Its measured privacy by name; promised values where a table cannot show them.
        unmeasured: The names of the latter.
        checked: The result of its checks; `None` for a generated table.
        warnings: A sentence for each disclosure in it that its provider may not expect, and for what is odd in the
            original table, with exact numbers: for the provider only.
        held_back: Whether other records are held back beside what left before.
    """

    file: str
    records: int
    suppressed: int
    privacy: Mapping[str, float]
    unmeasured: tuple[str, ...]
    checked: Checked | None
    warnings: tuple[str, ...] = ()
    held_back: bool = False

    @property
    def told(self) -> tuple[str, ...]:
        """The warnings that follow from the masked table, which its consumer, or a log, may have."""
        return () if self.checked is None else tuple(self.checked.shown.in_words())


def delivered_card(
    given: Mapping[str, Any] | None,
    plan: Plan,
    request: DataRequest,
    entry: EntryDocument,
    masked: Masked,
    alone: Alone | None,
) -> dict[str, Any] | None:
    """Return the card to deliver, as JSON values; `None` for a generated table without one, or if it is too large.

    Args:
        given: The release card; without one, the card is its head, the roles of the shared columns, and the labels.
        alone: The records that are alone on all shared columns; `None` if generated.
    """
    holds_back = {"holds_back": SOME_HELD_BACK if masked.held_back else ""}
    if given is not None:
        given = {**given, **holds_back}
        card = renewed(given, request.consumer, request.purpose, masked.records)
        return card if _fits(card) else given
    if alone is None:
        return None
    measured = _measured_card(plan, request, entry, masked, alone)
    shared = [{"name": column.name, "role": column.role} for column in measured.columns if column.shared]
    head, each = in_markdown(head_of(measured)), measured.by_label
    card = {"configuration": request.configuration, "columns": shared, "for_consumers": head}
    card |= holds_back if masked.held_back else {}
    card |= {"by_label": {name: {"privacy": task.privacy} for name, task in each.items()}} if each else {}
    return card if _fits(card) else None


def delivered_package(
    head: EntryHead, masked: Masked, descriptor: DeliveryDescriptor, name: str, folder: Folder, delimiter: str
) -> Path | None:
    """Write the Data Package of a table, and return where; `None` for a generated one that is no CSV in UTF-8.

    The entry's digest is not in it: the provider's could confirm a guess of the counts.

    Args:
        name: The name of the table in the storage.
        folder: The folder that has the table, and gets the package.
        delimiter: What separates the fields of CSV.

    Raises:
        OutputError: It cannot be written.
    """
    package, configuration = folder.file(PACKAGE), descriptor.configuration
    has_stars = suppressed_cells_of(head.entry_schema, configuration) > 0
    about = Packaged.delivered(head, configuration, masked.privacy, digest=None, has_stars=has_stars)
    try:
        described = package_of(folder.file(masked.file), name, descriptor.sha256, head.entry_schema, about, delimiter)
    except ValueError:
        return None
    with written_whole(package, private=True) as part:
        part.write_text(text_of(described), encoding="utf-8")
    return package


def _fits(card: Mapping[str, Any]) -> bool:
    return len(json.dumps(card).encode()) <= LARGEST_CARD


#: The card of a release of which nothing is known. Its verdict is that of all that is delivered.
_NOTHING_KNOWN: Final = Card(
    table="",
    label="",
    made="",
    versions={},
    aim="",
    required=(),
    configuration="",
    plan_digest=None,
    passed=True,
    verdict="",
    privacy_verdict="",
    alone=Alone(None, {}),
    together_verdict="",
    records=0,
    suppresses=False,
    left_out=None,
    suppressed_cells=0,
    promised={},
    reached={},
    highest_risk=(None, None),
    warnings=(),
    labels={},
    columns=(),
    never_shared={},
)


def _measured_card(plan: Plan, request: DataRequest, entry: EntryDocument, masked: Masked, alone: Alone) -> Card:
    """Return the card of a release of which only the masked table is known; its head alone is delivered."""
    configuration, checked = request.configuration or "", masked.checked
    columns = columns_of(plan, plan.configuration(configuration))
    card = replace(
        _NOTHING_KNOWN,
        table=request.entry.name,
        label=entry.label.name,
        configuration=configuration,
        alone=alone,
        records=masked.records,
        suppresses=bool(masked.suppressed or masked.held_back),
        reached=masked.privacy,
        warnings=masked.told,
        columns=tuple(
            CardColumn(each.name, each.role, each.becomes, None, None, each.masking != DROP) for each in columns
        ),
        never_shared={name: without_values(why) for name, why in plan.left_out.items()},
        kept=None if request.cost is None else request.cost.utility_share,
        holds=True if masked.privacy else None,
        made_up=made_up_rows(entry, configuration),
        consumer=request.consumer,
        purpose=request.purpose,
        people=people_of(entry, None if checked is None else checked.known),
    )
    return card if checked is None else _with_privacy(card, checked, entry)


def _with_privacy(card: Card, checked: Checked, entry: EntryDocument) -> Card:
    """Return the card with what the privacy check of the masked table found, besides the criteria."""
    judged = max(1, checked.judged)
    return replace(
        card,
        certain=checked.certain / judged,
        guessable=checked.guessable / judged,
        by_label={  # nobody can count people in a masked table
            label: CardTask(None, numbers if entry.people is None else {})
            for label, numbers in checked.by_label.items()
        },
    )

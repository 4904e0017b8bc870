"""The generated configurations of an entry or its schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aegis_sdk.wire import EntryDocument, GeneratedConfiguration


@dataclass(frozen=True)
class AttackOutline:
    """The success rate of an attack with its 95 % interval, and that of chance if given."""

    value: float
    low: float
    high: float
    chance: float | None


@dataclass(frozen=True)
class GeneratedOutline:
    """A generated configuration; `privacy`: its promises by criterion; `transfers`: whether it declares any."""

    id: str
    method: str
    records: int
    privacy: dict[str, float]
    attacks: dict[str, AttackOutline]
    transfers: bool


def generated_in(entry: EntryDocument) -> tuple[GeneratedOutline, ...]:
    """The generated configurations of an entry, in order."""
    return tuple(map(_outline, entry.generated))


def generated_of(schema: Mapping[str, Any], configuration: str | None) -> GeneratedOutline | None:
    """A generated configuration by its id, from a schema; None if it has no such generated configuration."""
    for item in schema.get("configurations") or []:
        if item["id"] == configuration and item.get("kind") == "generated":
            attacks = {name: _attack(attack) for name, attack in (item.get("attacks") or {}).items()}
            known = item["id"], item["method"], item["records"], item.get("privacy") or {}
            return GeneratedOutline(*known, attacks, item.get("transfer") is not None)
    return None


def declares_joint(schema: Mapping[str, Any]) -> bool:
    """Whether any configuration of a schema declares the transfer utility of all attributes together."""
    return any("joint" in (item.get("transfer") or {}) for item in schema.get("configurations") or [])


def _outline(generated: GeneratedConfiguration) -> GeneratedOutline:
    attacks = {name: _attack(attack.model_dump()) for name, attack in generated.attacks.items()}
    known = generated.id, generated.method, generated.records, dict(generated.privacy or {})
    return GeneratedOutline(*known, attacks, generated.transfer is not None)


def _attack(attack: Mapping[str, float]) -> AttackOutline:
    return AttackOutline(attack["value"], attack["low"], attack["high"], attack.get("chance"))

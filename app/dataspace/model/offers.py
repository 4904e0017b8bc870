"""Offers of the Dataspace Protocol: a configuration of a version of an entry, with the terms of its use.

The id of an offer says what it is about, so offers need no table. Their rules are those of the entry's policy (ODRL),
in the form of the protocol's schemas: operators without a prefix, and numbers as texts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import quote, unquote

from app.entries.model.entries import Head

Rule = Mapping[str, Any]

_OFFER: Final = "urn:aegis:offer:"
_DATASET: Final = "urn:uuid:"
_DIGITS: Final = 9


@dataclass(frozen=True, slots=True)
class Offered:
    """What an offer is about."""

    entry_id: str
    version: int
    configuration: str

    @property
    def id(self) -> str:
        """The id of the offer."""
        return f"{_OFFER}{self.entry_id}:{self.version}:{quote(self.configuration, safe='')}"

    @property
    def target(self) -> str:
        """The id of the dataset."""
        return dataset_of(self.entry_id)


def dataset_of(entry_id: str) -> str:
    """The id of an entry's dataset."""
    return f"{_DATASET}{entry_id}"


def entry_of(dataset: str) -> str:
    """The id of a dataset's entry."""
    return dataset.removeprefix(_DATASET)


def offered_by(offer_id: str) -> Offered | None:
    """What an offer is about, by its id; None if this is no offer of ours."""
    entry_id, _, rest = offer_id.removeprefix(_OFFER).partition(":")
    version, _, configuration = rest.partition(":")
    is_number = version.isascii() and version.isdigit() and len(version) <= _DIGITS
    is_ours = offer_id.startswith(_OFFER) and is_number and configuration
    return Offered(entry_id, int(version), unquote(configuration)) if is_ours else None


def participant_of(tenant: str) -> str:
    """The id of a tenant as a participant."""
    return f"urn:aegis:tenant:{quote(tenant, safe='')}"


def words_of(reasons: Iterable[object]) -> str:
    """The texts among a counterpart's reasons, which may also be objects of JSON-LD."""
    texts = (one.get("message") or one.get("@value") if isinstance(one, Mapping) else one for one in reasons)
    return "; ".join(text.strip() for text in texts if isinstance(text, str) and text.strip())


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a policy in the form of the protocol's schemas."""

    permission: tuple[Rule, ...] = ()
    prohibition: tuple[Rule, ...] = ()
    obligation: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """An offer.

    Attributes:
        terms: the digest of the entry's licence and policy.
        policy: the entry's policy; None if it has none, or is deleted.
        promised: the privacy that the configuration promises, by criterion.
        unit: what these numbers count: `PERSON`, or None for records.
        is_generated: whether its table is generated.
    """

    about: Offered
    terms: str
    policy: Mapping[str, Any] | None = None
    promised: Mapping[str, float] = field(default_factory=dict)
    unit: str | None = None
    is_generated: bool = False


@dataclass(frozen=True, slots=True)
class OfferedEntry:
    """An entry as a dataset; `considered` is the number of its offers, of which `offers` are the first."""

    head: Head
    offers: tuple[Offer, ...]
    considered: int


def rules_of(offer: Offer, better: Mapping[str, str]) -> Rules:
    """The rules of an offer.

    Every permission holds for the table of one configuration under terms with one digest. A policy that the schemas
    cannot express stays in force by this digest.

    Args:
        better: by privacy criterion, whether `higher` or `lower` numbers are better.
    """
    held = [_constraint("urn:aegis:terms", "eq", offer.terms)]
    held.append(_constraint("urn:aegis:configuration", "eq", offer.about.configuration))
    held += [_constraint("urn:aegis:unit", "eq", offer.unit)] if offer.unit else []
    held += [
        _constraint(f"urn:aegis:{name}", "gteq" if better[name] == "higher" else "lteq", f"{number:g}")
        for name, number in sorted(offer.promised.items())
    ]
    own = _own_rules(offer.policy or {})
    permitted = own.permission or ({"action": "use"},)
    bound = tuple({**one, "constraint": [*one.get("constraint", ()), *held]} for one in permitted)
    return replace(own, permission=bound)


def _own_rules(policy: Mapping[str, Any]) -> Rules:
    """The policy's own rules; none if the schemas cannot express all of it."""
    try:
        _refuse_others(policy, (*_ABOUT, *_both("permission"), *_both("prohibition"), *_both("obligation")))
        return Rules(*(tuple(_rules(policy, name)) for name in ("permission", "prohibition", "obligation")))
    except _InexpressibleError:
        return Rules()


class _InexpressibleError(Exception):
    """A policy has what the protocol's schemas have no form for."""


def _rules(policy: Mapping[str, Any], name: str) -> Iterator[Rule]:
    for rule in _list(_member(policy, name)):
        action = _name(_member(rule, "action"))
        constraints = [_written(one) for one in _list(_member(rule, "constraint"))]
        _refuse_others(rule, (*_ABOUT, *_both("action"), *_both("constraint")))
        yield {"action": action, **({"constraint": constraints} if constraints else {})}


def _written(constraint: object) -> Rule:
    """A constraint, or several joined by a logical operator."""
    for joined in ("and", "andSequence", "or", "xone"):
        if (parts := _member(constraint, joined)) is not None:
            parts = _member(parts, "@list") or parts
            return {joined: [_written(one) for one in _list(parts)]}
    _refuse_others(constraint, (*_ABOUT, *(each for name in _CONSTRAINT for each in _both(name))))
    left, operator = (_name(_member(constraint, name)) for name in ("leftOperand", "operator"))
    if operator not in _OPERATORS:
        raise _InexpressibleError
    return _constraint(left, operator, _operand(_member(constraint, "rightOperand")))


def _constraint(left: str, operator: str, right: object) -> Rule:
    return {"leftOperand": left, "operator": operator, "rightOperand": right}


_OPERATORS: Final = frozenset(
    {"eq", "gt", "gteq", "lteq", "hasPart", "isA", "isAllOf", "isAnyOf", "isNoneOf", "isPartOf", "lt", "neq"}
)
_PREFIXES: Final = ("odrl:", "http://www.w3.org/ns/odrl/2/")

_CONSTRAINT: Final = ("leftOperand", "operator", "rightOperand")

#: Members that say nothing beyond the offer itself: its kind and name, whose it is, and of what.
_ABOUT: Final = (
    *("@context", "@type", "type", "@id", "uid", "profile"),
    *(f"{prefix}{name}" for prefix in ("", "odrl:") for name in ("target", "assigner", "assignee")),
)


def _refuse_others(value: object, known: Sequence[str]) -> None:
    if not isinstance(value, Mapping) or value.keys() - set(known):
        raise _InexpressibleError


def _both(name: str) -> tuple[str, str]:
    return name, f"odrl:{name}"


def _member(value: object, name: str) -> Any:  # noqa: ANN401 -- any JSON value
    if not isinstance(value, Mapping):
        return None
    return next((value[each] for each in _both(name) if each in value), None)


def _list(value: object) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, list) else (value,)


def _name(value: object) -> str:
    """The name of an action, an operand or an operator, without ODRL's prefix."""
    value = value.get("@id") if isinstance(value, Mapping) else value
    if not isinstance(value, str):
        raise _InexpressibleError
    return next((value.removeprefix(prefix) for prefix in _PREFIXES if value.startswith(prefix)), value)


def _operand(value: object) -> object:
    """A right operand: a text, a list of texts, or an object; numbers become texts."""
    if isinstance(value, Mapping) and isinstance(value.get("@value"), int | float | str):
        value = value["@value"]
    if isinstance(value, bool) or value is None:
        raise _InexpressibleError
    if isinstance(value, list):
        return [_operand(one) for one in value]
    return str(value) if isinstance(value, int | float) else value

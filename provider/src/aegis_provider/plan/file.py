"""Reads the plan file (YAML), strictly: what it does not know it refuses, naming the place."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aegis_provider.errors import nearest
from aegis_provider.plan.discretize import read_discretization
from aegis_provider.plan.element import Element
from aegis_provider.plan.files import files_named
from aegis_provider.plan.hierarchy import read_levels
from aegis_provider.plan.masking import read_function
from aegis_provider.plan.model import DROP, IDENTITY, Attribute, Configuration, Masking, Plan
from aegis_provider.plan.roles import read_roles
from aegis_provider.plan.yaml_text import parsed
from aegis_provider.table.values import ValueType
from aegis_sdk.wire import PRIVACY_CRITERIA

_ABOUT: Final = ("title", "description", "license")
_OPTIONAL: Final = ("privacy", "suppressed", "sensitive", "quasi_identifiers", "seed", "keywords")


def load_plan(path: Path, *, configurations_needed: bool = True) -> Plan:
    """The plan of a YAML file, with the hierarchy files it names (relative to it).

    Without `configurations_needed` the file may have no `configurations`: they are to be found.
    Raises `PlanError`: `plan.yaml: attributes.age.maskings.age-5y: ...`.
    """
    root = Element(path.name, "", parsed(path))
    fields = root.fields("label", "attributes", optional=("configurations", *_OPTIONAL, *_ABOUT))
    if configurations_needed and "configurations" not in fields:
        root.fail("`configurations` is missing; `aegis configurations` finds some")
    label = fields["label"].name()
    attributes = tuple(_attributes(fields["attributes"], label, path.parent))
    stated = fields.get("configurations")
    configurations = tuple(_configurations(stated, attributes, _Promises.of(fields))) if stated else ()
    _refuse_strays(fields, configurations)
    sensitive, quasi_identifiers = read_roles(fields, label, attributes)
    seed = _seed(root, fields, attributes)
    files = (path, *files_named(root.value, path.parent))
    return Plan(path.name, label, attributes, configurations, _about(fields), sensitive, quasi_identifiers, seed, files)


def _seed(root: Element, fields: Mapping[str, Element], attributes: tuple[Attribute, ...]) -> int:
    """The seed, which a plan that leaves something to chance must state: one that is known undoes the masking."""
    if "seed" in fields:
        return fields["seed"].digits()
    for masking in (each for attribute in attributes for each in attribute.maskings if each.is_random):
        root.fail(f"`seed` is missing, a secret number of up to 40 digits, since {masking.id!r} is left to chance")
    return 0


def _attributes(element: Element, label: str, folder: Path) -> Iterator[Attribute]:
    if not list(element.items()):
        element.fail("at least one attribute is needed")
    for name, attribute in element.items():
        attribute.checked_name(name)
        if name == label:
            attribute.fail("the label cannot be an attribute too")
        fields = attribute.fields(optional=("type", "discretize", "hierarchy", "maskings", "default"))
        levels = list(_levels(fields["hierarchy"], name, folder)) if "hierarchy" in fields else []
        maskings = list(_maskings(fields["maskings"], folder)) if "maskings" in fields else []
        for masking_id in {each.id for each in levels} & {each.id for each in maskings}:
            fields["maskings"].fail(f"{masking_id!r} is a level of the attribute's hierarchy; choose another id")
        value_type = _value_type(fields.get("type"))
        discretization = read_discretization(fields["discretize"], value_type) if "discretize" in fields else None
        default = _default(fields.get("default"), (*levels, *maskings))
        yield Attribute(name, value_type, (*levels, *maskings), discretization, default)


def _default(element: Element | None, maskings: Sequence[Masking]) -> str:
    return IDENTITY if element is None else _choice(element, _choices(maskings))


def _choices(maskings: Sequence[Masking]) -> list[str]:
    return [*(each.id for each in maskings), IDENTITY, DROP]


def _choice(element: Element, known: list[str]) -> str:
    if element.text() not in known:
        element.fail(f"unknown masking {element.value!r}; {nearest(element.value, known)}")
    return element.text()


def _value_type(element: Element | None) -> ValueType | None:
    if element is None:
        return None
    name, known = element.text(), [str(each) for each in ValueType]
    if name not in known:
        element.fail(f"unknown type {name!r}; {nearest(name, known)}")
    return ValueType(name)


def _levels(element: Element, attribute: str, folder: Path) -> Iterator[Masking]:
    """A masking for each level of the attribute's hierarchy, called `age-1`, `age-2`, ..."""
    for level, function in enumerate(read_levels(element, folder), start=1):
        masking_id = element.checked_name(f"{attribute}-{level}")
        yield Masking(masking_id, function, f"{element.source}: {element.path}")


def _maskings(element: Element, folder: Path) -> Iterator[Masking]:
    for masking_id, masking in element.items():
        masking.checked_name(masking_id)
        if masking_id in {IDENTITY, DROP}:
            masking.fail(f"`{masking_id}` is reserved; choose another id")
        yield Masking(masking_id, read_function(masking, folder), f"{masking.source}: {masking.path}")


@dataclass(frozen=True)
class _Promises:
    """By configuration id: the privacy vouched for, and the number of records left out."""

    privacy: Mapping[str, dict[str, int | float]]
    suppressed: Mapping[str, int]

    @classmethod
    def of(cls, fields: Mapping[str, Element]) -> "_Promises":
        privacy = fields["privacy"].items() if "privacy" in fields else ()
        suppressed = fields["suppressed"].items() if "suppressed" in fields else ()
        return cls(
            {configuration_id: _privacy(vouches) for configuration_id, vouches in privacy},
            {configuration_id: records.integer(at_least=0) for configuration_id, records in suppressed},
        )


def _configurations(
    element: Element, attributes: tuple[Attribute, ...], promises: _Promises
) -> Iterator[Configuration]:
    known = {each.name: _choices(each.maskings) for each in attributes}
    defaults = {each.name: each.default for each in attributes}
    if not list(element.items()):
        element.fail("at least one configuration is needed")
    for configuration_id, configuration in element.items():
        configuration.checked_name(configuration_id)
        chosen = configuration.fields(optional=tuple(known))
        maskings = defaults | {name: _choice(choice, known[name]) for name, choice in chosen.items()}
        privacy = promises.privacy.get(configuration_id, {})
        yield Configuration(configuration_id, maskings, privacy, promises.suppressed.get(configuration_id))


def _privacy(element: Element) -> dict[str, int | float]:
    return {name: _vouched(vouched) for name, vouched in element.fields(optional=tuple(PRIVACY_CRITERIA)).items()}


def _vouched(element: Element) -> int | float:
    number = element.decimal()
    if number < 0:
        element.fail(f"cannot be negative: {element.value}")
    return int(number) if number == number.to_integral_value() else float(number)


def _refuse_strays(fields: dict[str, Element], configurations: tuple[Configuration, ...]) -> None:
    known = {configuration.id: configuration for configuration in configurations}
    for promise in (fields[key] for key in ("privacy", "suppressed") if key in fields):
        for configuration_id in dict(promise.items()):
            if configuration_id not in known:
                promise.fail(f"unknown configuration {configuration_id!r}; {nearest(configuration_id, list(known))}")


def _about(fields: dict[str, Element]) -> dict[str, str | list[str]]:
    about: dict[str, str | list[str]] = {key: fields[key].text() for key in _ABOUT if key in fields}
    if "keywords" in fields:
        about["keywords"] = [keyword.name() for keyword in fields["keywords"].elements()]
    return about

"""Reads the plan file (YAML) strictly: unknown fields are rejected, and errors name the place."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from aegis_provider.errors import nearest
from aegis_provider.masking import names_file
from aegis_provider.plan.attributes import WRITING, choices_of, read_attributes, read_choice, read_order, read_truth
from aegis_provider.plan.generated import GeneratedTable, read_generated
from aegis_provider.plan.limits import (
    DEMANDS,
    PERSON,
    read_kept,
    read_weights,
    refuse_dropped,
    with_demands,
    with_person,
)
from aegis_provider.plan.model import DROP, IDENTITY, Attribute, Configuration, Plan
from aegis_provider.plan.prices import read_prices
from aegis_provider.yaml_file import Element, parsed
from aegis_sdk.wire import PRIVACY_CRITERIA, SUPPRESSED, stricter
from aegis_sdk.wire.labels import LABELS

_ABOUT: Final = {"title": "title", "description": "description", "license": "license", "table_name": "table"}
"""By key of the plan, the member of the entry."""
_OPTIONAL: Final = (
    "privacy",
    "privacy_by_label",
    "required",
    *SUPPRESSED,
    "sensitive",
    "quasi_identifiers",
    "seed",
    "keywords",
    "left_out",
    "saliency",
    "generated",
    "holdout",
    "order",
    "fold_case",
    "prices",
    *DEMANDS,
    *PERSON,
)
_RELEASED: Final = "configurations.yaml"

_LEAST_HELD_OUT, _MOST_HELD_OUT = Decimal("0.001"), Decimal("0.9")


def load_plan(path: Path, *, configurations_needed: bool = True, source: str = "") -> Plan:
    """Read the plan in a YAML file, and the hierarchy files it names (relative to it).

    Args:
        path: The YAML file.
        configurations_needed: Whether the file must have `configurations`.
        source: The name of the plan in messages; by default the name of the file.

    Raises:
        PlanError: The plan is invalid: `plan.yaml: attributes.age.maskings.age-5y: ...`.
    """
    root = Element(source or path.name, "", parsed(path), path.parent)
    fields = root.fields("attributes", optional=("label", "labels", "configurations", *_OPTIONAL, *_ABOUT))
    if configurations_needed and "configurations" not in fields:
        is_found = (path.parent / _RELEASED).is_file()
        found = (
            f"use the {_RELEASED} that `aegis release` wrote" if is_found else "`aegis plan configurations` finds some"
        )
        root.fail(f"`configurations` is missing; {found}")
    label, *other_labels = _labels(root, fields)
    described = tuple(read_attributes(fields["attributes"], label, other_labels))
    attributes = _with_labels(tuple(each for each in described if each.name != label), other_labels)
    stated = fields.get("configurations")
    vouched = _Vouched.of(fields, [label, *other_labels])
    label_as = next((each for each in described if each.name == label), None)
    chosen = (*attributes, *(each for each in described if each is label_as and each.maskings))
    configurations = tuple(_configurations(stated, chosen, label, vouched)) if stated else ()
    generated = _generated(fields, vouched, [configuration.id for configuration in configurations])
    _refuse_strays(fields, configurations, generated)
    dropped = [name for name in other_labels if {each.maskings[name] for each in configurations} == {DROP}]
    if dropped:
        root.fail(f"labels: every configuration drops {dropped[0]!r}; let one show it, or delete it from `labels`")
    sensitive, quasi_identifiers = _roles(fields, [label, *other_labels], attributes)
    seed = _seed(root, fields, attributes)
    left_out = _left_out(fields, [label, *(attribute.name for attribute in attributes)])
    files = (path, *_files_named(root.value, path.parent), *(each.file for each in generated))
    plan = Plan(
        root.source,
        label,
        attributes,
        configurations,
        _about(fields),
        sensitive,
        quasi_identifiers,
        seed,
        left_out,
        "saliency" not in fields or fields["saliency"].one_of("auto", "none") == "auto",
        generated,
        _holdout(root, fields),
        read_order(fields.get("order")),
        read_truth(fields.get("fold_case")),
        other_labels=tuple(other_labels),
        label_as=label_as,
        prices=read_prices(fields["prices"]) if "prices" in fields else None,
        files=files,
    )
    return _demanding(plan, fields)


def _demanding(plan: Plan, fields: Mapping[str, Element]) -> Plan:
    """Return the plan with what it demands whatever it costs: attributes kept, weights, whose records are."""
    keep = read_kept(fields["keep"]) if "keep" in fields else {}
    plan = with_demands(plan, keep, read_weights(fields["weights"]) if "weights" in fields else {})
    plan = with_person(
        plan,
        fields["person"].name() if "person" in fields else None,
        fields["rows_per_person"].integer(at_least=1) if "rows_per_person" in fields else None,
    )
    refuse_dropped(plan)
    return plan


def _labels(root: Element, fields: Mapping[str, Element]) -> list[str]:
    """Read the labels, the default first: `label: x`, or `labels: [x, y]`."""
    if "label" in fields and "labels" in fields:
        fields["label"].fail("the plan has `labels`, too; delete `label`: the first of `labels` is the default")
    if "labels" not in fields:
        return [root.fields("label", optional=tuple(fields))["label"].name()]
    labels, known = fields["labels"].elements(), list[str]()
    if not 1 <= len(labels) <= LABELS:
        fields["labels"].fail(f"1 to {LABELS} labels are possible, not {len(labels)}")
    for each in labels:
        if each.name() in known:
            each.fail(f"{each.name()!r} appears twice")
        known.append(each.name())
    return known


def _with_labels(attributes: tuple[Attribute, ...], labels: Sequence[str]) -> tuple[Attribute, ...]:
    """Return the attributes, and one for each of these labels that is not among them: shown as it is by default."""
    described = [attribute.name for attribute in attributes]
    return (*attributes, *(Attribute(name, None, ()) for name in labels if name not in described))


def is_sketch(path: Path) -> bool:
    """Return whether a valid plan only states how to read columns, as input for drafting a plan.

    Raises:
        PlanError: The file cannot be read.
    """
    root = Element(path.name, "", parsed(path), path.parent)
    fields = dict(root.items())
    attributes = dict(fields["attributes"].items()) if "attributes" in fields else {}
    of_attributes = {key for attribute in attributes.values() for key, _ in attribute.items()}
    return set(fields) <= {"label", "labels", "attributes", "fold_case"} and of_attributes <= {"type", *WRITING}


def _seed(root: Element, fields: Mapping[str, Element], attributes: tuple[Attribute, ...]) -> int:
    """Read the seed. A plan with a random masking must state one, because a known seed would undo the masking."""
    if "seed" in fields:
        return fields["seed"].digits()
    for masking in (each for attribute in attributes for each in attribute.maskings if each.is_random):
        root.fail(f"`seed` is missing; {masking.id!r} masks at random and needs a secret number of up to 40 digits")
    return 0


@dataclass(frozen=True)
class _Vouched:
    """The promises, the requirements of a search, and the suppression, by configuration id."""

    privacy: Mapping[str, dict[str, int | float]]
    required: Mapping[str, dict[str, int | float]]
    suppressed: Mapping[str, int]
    cells: Mapping[str, int]
    by_label: Mapping[str, dict[str, dict[str, int | float]]]

    @classmethod
    def of(cls, fields: Mapping[str, Element], labels: Sequence[str]) -> "_Vouched":
        stated, required, records, cells = (
            dict(fields[name].items()) if name in fields else {} for name in ("privacy", "required", *SUPPRESSED)
        )
        privacy = {configuration_id: _privacy(each) for configuration_id, each in stated.items()}
        by_label = fields["privacy_by_label"].items() if "privacy_by_label" in fields else ()
        return cls(
            privacy,
            {name: _required(each, privacy.get(name, {})) for name, each in required.items()},
            {configuration_id: number.integer(at_least=0) for configuration_id, number in records.items()},
            {configuration_id: number.integer(at_least=0) for configuration_id, number in cells.items()},
            {name: dict(_by_label(each, privacy.get(name, {}), labels)) for name, each in by_label},
        )


def _configurations(
    element: Element, attributes: tuple[Attribute, ...], default: str, promises: _Vouched
) -> Iterator[Configuration]:
    """Yield the configurations; `attributes`: what they choose for, among it a default label that has maskings."""
    known = {each.name: choices_of(each.maskings, is_kept=each.name == default) for each in attributes}
    defaults = {attribute.name: attribute.default for attribute in attributes}
    if not list(element.items()):
        element.fail("at least one configuration is needed")
    for configuration_id, configuration in element.items():
        configuration.checked_name(configuration_id)
        chosen = configuration.fields(optional=tuple(known))
        maskings = defaults | {name: read_choice(choice, known[name]) for name, choice in chosen.items()}
        for each in attributes:
            if maskings[each.name] == IDENTITY and not each.identity:
                configuration.fail(f"leaves {each.name!r} unmasked, which its `identity: false` forbids")
        privacy = promises.privacy.get(configuration_id, {})
        suppressed, cells = promises.suppressed.get(configuration_id), promises.cells.get(configuration_id)
        required = promises.required.get(configuration_id)
        by_label = promises.by_label.get(configuration_id, {})
        for label in by_label:
            if maskings.get(label) == DROP:
                configuration.fail(f"drops {label!r}, so `privacy_by_label` cannot have it")
        yield Configuration(configuration_id, maskings, privacy, suppressed, cells, required, by_label)


def _privacy(element: Element) -> dict[str, int | float]:
    return {name: _vouched(vouched) for name, vouched in element.fields(optional=tuple(PRIVACY_CRITERIA)).items()}


def _by_label(
    element: Element, vouched: Mapping[str, float], labels: Sequence[str]
) -> Iterator[tuple[str, dict[str, int | float]]]:
    """Yield the privacy of each label, of which `privacy` is the worst."""
    for label, each in element.fields(optional=tuple(labels)).items():
        privacy = _privacy(each)
        for name, number in privacy.items():
            if name in vouched and stricter(name, vouched[name], number) != number:
                each.fail(f"{name} = {number:g} is worse than `privacy` has for all labels, {vouched[name]:g}")
        yield label, privacy


def _required(element: Element, vouched: Mapping[str, float]) -> dict[str, int | float]:
    """Read the requirement on a configuration, which its promises must cover."""
    required = _privacy(element)
    for name, number in required.items():
        if name not in vouched or stricter(name, vouched[name], number) != vouched[name]:
            element.fail(f"{name} = {number:g} is more than `privacy` has")
    return required


def _vouched(element: Element) -> int | float:
    number = element.decimal()
    if number < 0:
        element.fail(f"cannot be negative: {element.value}")
    return int(number) if number == number.to_integral_value() else float(number)


def _generated(fields: Mapping[str, Element], vouched: _Vouched, known: Sequence[str]) -> tuple[GeneratedTable, ...]:
    if "generated" not in fields:
        return ()
    for name in dict(fields["generated"].items()):
        if name in known:
            fields["generated"].fail(f"{name!r} is a configuration, too; choose another id")
    return tuple(read_generated(fields["generated"], vouched.privacy))


def _holdout(root: Element, fields: Mapping[str, Element]) -> float | None:
    """Read the share of held-out records, required for generated tables."""
    if "holdout" not in fields:
        if "generated" in fields:
            root.fail("`holdout` is missing; state the share that `aegis synth generate` held out, such as 0.2")
        return None
    share = fields["holdout"].decimal()
    if not _LEAST_HELD_OUT <= share <= _MOST_HELD_OUT:
        fields["holdout"].fail(f"must be from {_LEAST_HELD_OUT} to {_MOST_HELD_OUT}, not {fields['holdout'].value}")
    return float(share)


def _refuse_strays(
    fields: dict[str, Element], configurations: Sequence[Configuration], generated: Sequence[GeneratedTable]
) -> None:
    """Refuse promises of unknown configurations; a generated table suppresses nothing."""
    masked = [configuration.id for configuration in configurations]
    known = {"privacy": [*masked, *(each.id for each in generated)]}
    for key in (key for key in ("privacy", "privacy_by_label", "required", *SUPPRESSED) if key in fields):
        for name in dict(fields[key].items()):
            if name not in known.get(key, masked):
                fields[key].fail(f"unknown configuration {name!r}; {nearest(name, known.get(key, masked))}")


def _about(fields: dict[str, Element]) -> dict[str, str | list[str]]:
    about: dict[str, str | list[str]] = {name: fields[key].text() for key, name in _ABOUT.items() if key in fields}
    if "keywords" in fields:
        about["keywords"] = [keyword.name() for keyword in fields["keywords"].elements()]
    return about


def _roles(
    fields: Mapping[str, Element], labels: Sequence[str], attributes: Sequence[Attribute]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read the sensitive attributes (by default the labels) and the quasi-identifiers (by default all others).

    Several labels are sensitive whatever is stated: each is shared for somebody to predict it.
    """
    known = [*(attribute.name for attribute in attributes), labels[0]]
    sensitive = _names(fields["sensitive"], known) if "sensitive" in fields else tuple(labels)
    sensitive = tuple(dict.fromkeys((*sensitive, *labels))) if len(labels) > 1 else sensitive
    if "quasi_identifiers" not in fields:
        return sensitive, tuple(name for name in known[:-1] if name not in sensitive)
    quasi_identifiers = _names(fields["quasi_identifiers"], known)
    for name in quasi_identifiers:
        if name in sensitive:
            fields["quasi_identifiers"].fail(f"{name!r} is sensitive, so it cannot be a quasi-identifier too")
    return sensitive, quasi_identifiers


def _left_out(fields: Mapping[str, Element], shared: Sequence[str]) -> dict[str, str]:
    """Read the columns left out, each with its reason."""
    left_out = {}
    for name, reason in fields["left_out"].items() if "left_out" in fields else ():
        if name in shared:
            reason.fail("the column is shared, so it cannot be left out too")
        left_out[name] = reason.text()
    return left_out


def _names(element: Element, known: list[str]) -> tuple[str, ...]:
    names = [each.name() for each in element.elements()]
    for place, name in enumerate(names):
        if name not in known:
            element.fail(f"unknown attribute {name!r}; {nearest(name, known)}")
        if name in names[:place]:
            element.fail(f"{name!r} appears twice")
    return tuple(names)


def _files_named(document: Any, folder: Path, under: str = "") -> Iterator[Path]:  # noqa: ANN401 - any YAML
    """Yield the files named in a plan's YAML, in texts within mappings, as paths in `folder`."""
    for key, value in document.items() if isinstance(document, dict) else ():
        if isinstance(value, str) and names_file(under, key):
            yield folder / value
        else:
            yield from _files_named(value, folder, key)

"""Reads the plan file (YAML) strictly: unknown fields are rejected, and errors name the place."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from aegis_provider.errors import nearest
from aegis_provider.masking import names_file, read_function
from aegis_provider.masking.hierarchy import Hierarchy
from aegis_provider.masking.numbers import read_edges
from aegis_provider.plan.limits import (
    DEMANDS,
    LIMITS,
    read_kept,
    read_limits,
    read_weights,
    refuse_dropped,
    with_demands,
)
from aegis_provider.plan.model import (
    DROP,
    IDENTITY,
    Attribute,
    Configuration,
    GeneratedTable,
    Masking,
    Plan,
    read_generated,
)
from aegis_provider.table.discretization import Edges, EqualFrequency, EqualWidth, FreedmanDiaconis, Rule
from aegis_provider.table.notation import ORDERS, Dates, Form, Numbers, Plain, Writing
from aegis_provider.table.values import ValueType
from aegis_provider.yaml_file import Element, parsed
from aegis_sdk.wire import PRIVACY_CRITERIA, SUPPRESSED, stricter

WRITING: Final = ("decimal", "dates", "odd_as_missing", "fold_case")
"""The fields of an attribute that state the written form of its values."""

_OPTIONAL_OF_ATTRIBUTE: Final = (
    "type",
    "discretize",
    "hierarchy",
    "maskings",
    "default",
    "identity",
    "fitted_to",
    "privacy_weight",
    "importance",
    "order",
    *LIMITS,
    *WRITING,
)
_MOST_BINS = 10_000
_FEWEST_BINS = 2
_FEWEST_IN_ORDER = 2


def read_attributes(element: Element, label: str) -> Iterator[Attribute]:
    """Read the attributes of a plan with this label.

    Raises:
        PlanError: An attribute is invalid; the message names the place.
    """
    if not list(element.items()):
        element.fail("at least one attribute is needed")
    for name, attribute in element.items():
        attribute.checked_name(name)
        if name == label:
            attribute.fail("the label cannot be an attribute too")
        fields = attribute.fields(optional=_OPTIONAL_OF_ATTRIBUTE)
        levels = list(_levels(fields["hierarchy"], name)) if "hierarchy" in fields else []
        maskings = list(_maskings(fields["maskings"])) if "maskings" in fields else []
        for masking_id in {level.id for level in levels} & {masking.id for masking in maskings}:
            fields["maskings"].fail(f"{masking_id!r} is a level of the attribute's hierarchy; choose another id")
        value_type = _value_type(fields.get("type"))
        discretization = _discretization(fields["discretize"], value_type) if "discretize" in fields else None
        identity = "identity" not in fields or fields["identity"].one_of("true", "false") == "true"
        choices = choices_of([*levels, *maskings])
        default = read_choice(fields["default"], choices) if "default" in fields else IDENTITY
        if default == IDENTITY and "default" in fields and not identity:
            fields["default"].fail("is identity, which `identity: false` forbids; choose a masking, or drop")
        if "fitted_to" in fields and (fitted_to := fields["fitted_to"].text()) != "label":
            fields["fitted_to"].fail(f"maskings can only be fitted to `label`, not to {fitted_to!r}")
        privacy_weight, importance = (_weight(fields.get(key)) for key in ("privacy_weight", "importance"))
        order = read_order(fields.get("order"))
        if order is not None and discretization is not None:
            fields["order"].fail("belongs to values, but `discretize` makes bins, which have an order")
        yield Attribute(
            name,
            value_type,
            (*levels, *maskings),
            discretization,
            default,
            identity,
            "fitted_to" in fields,
            privacy_weight,
            importance,
            order,
            read_writing(attribute, {key: fields[key] for key in WRITING if key in fields}, value_type),
            read_limits(fields, [*levels, *maskings]),
        )


def _weight(element: Element | None) -> float | None:
    if element is None:
        return None
    weight = element.decimal()
    if not 0 <= weight <= 1:
        element.fail(f"a weight must be from 0 to 1, not {element.value}")
    return float(weight)


def read_order(element: Element | None) -> tuple[str, ...] | None:
    """Read the values of a column from the lowest to the highest; `None` if not stated."""
    if element is None:
        return None
    values = [each.name() for each in element.elements()]
    twice = next((value for value, times in Counter(values).items() if times > 1), None)
    if twice is not None:
        element.fail(f"{twice!r} appears twice")
    if len(values) < _FEWEST_IN_ORDER:
        element.fail("states two values or more, from the lowest to the highest: [low, mid, high]")
    return tuple(values)


def read_writing(attribute: Element, fields: Mapping[str, Element], value_type: ValueType | None) -> Writing:
    """Read the written form of an attribute's values."""
    odd, fold = (read_truth(fields.get(key)) for key in ("odd_as_missing", "fold_case"))
    form: Form | None = _PLAIN.get(value_type) if odd else None
    if "decimal" in fields:
        form = Numbers(fields["decimal"].one_of(".", ","))
    if "dates" in fields:
        form = Dates(fields["dates"].one_of(*ORDERS))
    if odd and form is None:
        fields["odd_as_missing"].fail("needs to know of what: add `type: integer`, number or date")
    fits = {None, *(kind for kind, plain in _PLAIN.items() if form is not None and plain.values == form.values)}
    if (form is not None and value_type not in fits) or ("decimal" in fields and "dates" in fields):
        attribute.fail(f"cannot be of type {value_type or 'number and date'} and be written as {form and form.values}")
    if fold and value_type not in {None, ValueType.STRING}:
        fields["fold_case"].fail(f"only texts have a case, but the type is {value_type}")
    return Writing(form, odd, fold)


_PLAIN: Final[Mapping[ValueType | None, Plain]] = {
    ValueType.INTEGER: Plain("numbers"),
    ValueType.NUMBER: Plain("numbers"),
    ValueType.DATE: Plain("dates"),
}


def read_truth(element: Element | None) -> bool:
    """Read `true` or `false`, the default."""
    return element is not None and element.one_of("true", "false") == "true"


def choices_of(maskings: Sequence[Masking]) -> list[str]:
    """Return the choices of a configuration for an attribute with these maskings."""
    return [*(masking.id for masking in maskings), IDENTITY, DROP]


def read_choice(element: Element, known: list[str]) -> str:
    """Read one of the known choices."""
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


def _levels(element: Element, attribute: str) -> Iterator[Masking]:
    """Yield a masking for each level of the attribute's hierarchy, called `age-1`, `age-2`, ..."""
    for level, function in enumerate(Hierarchy.read_levels(element), start=1):
        masking_id = element.checked_name(f"{attribute}-{level}")
        yield Masking(masking_id, function, f"{element.source}: {element.path}")


def _maskings(element: Element) -> Iterator[Masking]:
    for masking_id, masking in element.items():
        masking.checked_name(masking_id)
        if masking_id in {IDENTITY, DROP}:
            masking.fail(f"`{masking_id}` is reserved; choose another id")
        yield Masking(masking_id, read_function(masking), f"{masking.source}: {masking.path}")


def _discretization(element: Element, value_type: ValueType | None) -> Rule:
    """Read the discretization rule for an attribute, given any declared type."""
    if value_type not in {None, ValueType.INTEGER, ValueType.NUMBER}:
        element.fail(f"only numbers can be discretised, but the type is {value_type}")
    stated = dict(element.items())
    if "rule" not in stated:
        element.fail(f"`rule` is missing; available: {', '.join(_RULES)}")
    name = stated.pop("rule").text()
    if name not in _RULES:
        element.fail(f"unknown rule {name!r}; {nearest(name, list(_RULES))}")
    return _RULES[name](replace(element, value={key: each.value for key, each in stated.items()}))


def _equal_width(element: Element) -> EqualWidth:
    fields = element.fields("width", optional=("origin",))
    origin = fields["origin"].decimal() if "origin" in fields else Decimal(0)
    return EqualWidth(fields["width"].positive(), origin)


def _edges(element: Element) -> Edges:
    edges = element.fields("edges")["edges"]
    if len(edges.elements()) > _MOST_BINS:
        edges.fail(f"at most {_MOST_BINS} edges are allowed")
    return Edges(read_edges(edges))


def _equal_frequency(element: Element) -> EqualFrequency:
    bins = element.fields("bins")["bins"]
    number = bins.integer(at_least=_FEWEST_BINS)
    if number > _MOST_BINS:
        bins.fail(f"at most {_MOST_BINS} bins are allowed, not {number}")
    return EqualFrequency(number)


def _freedman_diaconis(element: Element) -> FreedmanDiaconis:
    element.fields()
    return FreedmanDiaconis()


_RULES: Final[Mapping[str, Callable[[Element], Rule]]] = {
    "equal_width": _equal_width,
    "edges": _edges,
    "equal_frequency": _equal_frequency,
    "freedman_diaconis": _freedman_diaconis,
}


_ABOUT: Final = ("title", "description", "license")
_OPTIONAL: Final = (
    "privacy",
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
    *DEMANDS,
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
    fields = root.fields("label", "attributes", optional=("configurations", *_OPTIONAL, *_ABOUT))
    if configurations_needed and "configurations" not in fields:
        is_found = (path.parent / _RELEASED).is_file()
        found = (
            f"use the {_RELEASED} that `aegis release` wrote" if is_found else "`aegis plan configurations` finds some"
        )
        root.fail(f"`configurations` is missing; {found}")
    label = fields["label"].name()
    attributes = tuple(read_attributes(fields["attributes"], label))
    stated = fields.get("configurations")
    vouched = _Vouched.of(fields)
    configurations = tuple(_configurations(stated, attributes, vouched)) if stated else ()
    generated = _generated(fields, vouched, [configuration.id for configuration in configurations])
    _refuse_strays(fields, configurations, generated)
    sensitive, quasi_identifiers = _roles(fields, label, attributes)
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
        files,
    )
    keep = read_kept(fields["keep"]) if "keep" in fields else {}
    plan = with_demands(plan, keep, read_weights(fields["weights"]) if "weights" in fields else {})
    refuse_dropped(plan)
    return plan


def is_sketch(path: Path) -> bool:
    """Return whether a valid plan only states how to read columns, as input for drafting a plan.

    Raises:
        PlanError: The file cannot be read.
    """
    root = Element(path.name, "", parsed(path), path.parent)
    fields = dict(root.items())
    attributes = dict(fields["attributes"].items()) if "attributes" in fields else {}
    of_attributes = {key for attribute in attributes.values() for key, _ in attribute.items()}
    return set(fields) <= {"label", "attributes", "fold_case"} and of_attributes <= {"type", *WRITING}


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

    @classmethod
    def of(cls, fields: Mapping[str, Element]) -> "_Vouched":
        stated, required, records, cells = (
            dict(fields[name].items()) if name in fields else {} for name in ("privacy", "required", *SUPPRESSED)
        )
        privacy = {configuration_id: _privacy(each) for configuration_id, each in stated.items()}
        return cls(
            privacy,
            {name: _required(each, privacy.get(name, {})) for name, each in required.items()},
            {configuration_id: number.integer(at_least=0) for configuration_id, number in records.items()},
            {configuration_id: number.integer(at_least=0) for configuration_id, number in cells.items()},
        )


def _configurations(element: Element, attributes: tuple[Attribute, ...], promises: _Vouched) -> Iterator[Configuration]:
    known = {attribute.name: choices_of(attribute.maskings) for attribute in attributes}
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
        yield Configuration(configuration_id, maskings, privacy, suppressed, cells, required)


def _privacy(element: Element) -> dict[str, int | float]:
    return {name: _vouched(vouched) for name, vouched in element.fields(optional=tuple(PRIVACY_CRITERIA)).items()}


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
    for key in (key for key in ("privacy", "required", *SUPPRESSED) if key in fields):
        for name in dict(fields[key].items()):
            if name not in known.get(key, masked):
                fields[key].fail(f"unknown configuration {name!r}; {nearest(name, known.get(key, masked))}")


def _about(fields: dict[str, Element]) -> dict[str, str | list[str]]:
    about: dict[str, str | list[str]] = {key: fields[key].text() for key in _ABOUT if key in fields}
    if "keywords" in fields:
        about["keywords"] = [keyword.name() for keyword in fields["keywords"].elements()]
    return about


def _roles(
    fields: Mapping[str, Element], label: str, attributes: Sequence[Attribute]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read the sensitive attributes (by default the label) and the quasi-identifiers (by default all others)."""
    known = [*(attribute.name for attribute in attributes), label]
    sensitive = _names(fields["sensitive"], known) if "sensitive" in fields else (label,)
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

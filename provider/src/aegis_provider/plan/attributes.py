"""Reads what the plan file says of attributes: types, written forms, maskings, bins, limits."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final

from aegis_provider.errors import nearest
from aegis_provider.masking import read_function
from aegis_provider.masking.hierarchy import Hierarchy
from aegis_provider.masking.numbers import read_edges
from aegis_provider.plan.limits import LIMITS, read_limits
from aegis_provider.plan.model import DROP, IDENTITY, Attribute, Masking
from aegis_provider.table.discretization import Edges, EqualFrequency, EqualWidth, FreedmanDiaconis, Rule
from aegis_provider.table.notation import ORDERS, Dates, Form, Numbers, Plain, Writing
from aegis_provider.table.values import ValueType
from aegis_provider.yaml_file import Element

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
    "scores",
    "variance",
    *LIMITS,
    *WRITING,
)
_OF_A_LABEL: Final = (
    *("type", "discretize", "scores", "variance", "decimal", "odd_as_missing"),
    *("hierarchy", "maskings", "default", "identity"),
)
_MOST_BINS = 10_000
_FEWEST_BINS = 2
_FEWEST_IN_ORDER = 2


def read_attributes(element: Element, label: str, labels: Collection[str] = ()) -> Iterator[Attribute]:
    """Read the attributes of a plan with this label, which may be described among them, and these other labels.

    Raises:
        PlanError: An attribute is invalid; the message names the place.
    """
    if not [name for name, _ in element.items() if name != label]:
        element.fail("at least one attribute is needed")
    for name, attribute in element.items():
        attribute.checked_name(name)
        fields = attribute.fields(optional=_OPTIONAL_OF_ATTRIBUTE)
        for key in ("scores", "variance"):
            if key in fields and name not in {label, *labels}:
                fields[key].fail("only labels have it; delete it, or list the attribute under `labels`")
        yield _attribute(name, attribute, fields, is_label=name == label)


def _attribute(name: str, element: Element, fields: Mapping[str, Element], *, is_label: bool) -> Attribute:
    """Read an attribute from its fields; `is_label`: whether it is the default label."""
    maskings = _every_masking(name, fields)
    if is_label:
        _check_default_label(element, fields, maskings)
    value_type = _value_type(fields.get("type"))
    discretization = _discretization(fields["discretize"], value_type) if "discretize" in fields else None
    identity, default = _default(element, fields, maskings, is_label=is_label)
    if "fitted_to" in fields and (fitted_to := fields["fitted_to"].text()) != "label":
        fields["fitted_to"].fail(f"maskings can only be fitted to `label`, not to {fitted_to!r}")
    order = read_order(fields.get("order"))
    if order is not None and discretization is not None:
        fields["order"].fail("belongs to values, but `discretize` makes bins, which have an order")
    return Attribute(
        name,
        value_type,
        maskings,
        discretization,
        default,
        identity,
        "fitted_to" in fields,
        _weight(fields.get("privacy_weight")),
        _weight(fields.get("importance")),
        order,
        read_writing(element, {key: fields[key] for key in WRITING if key in fields}, value_type),
        read_limits(fields, list(maskings)),
        scores=_scores(fields["scores"], discretization) if "scores" in fields else None,
        variance=_variance(fields["variance"]) if "variance" in fields else None,
    )


def _every_masking(name: str, fields: Mapping[str, Element]) -> tuple[Masking, ...]:
    """Read the levels of an attribute's hierarchy, and its other maskings."""
    levels = list(_levels(fields["hierarchy"], name)) if "hierarchy" in fields else []
    maskings = list(_maskings(fields["maskings"])) if "maskings" in fields else []
    for masking_id in {level.id for level in levels} & {masking.id for masking in maskings}:
        fields["maskings"].fail(f"{masking_id!r} is a level of the attribute's hierarchy; choose another id")
    return (*levels, *maskings)


def _default(
    element: Element, fields: Mapping[str, Element], maskings: Sequence[Masking], *, is_label: bool
) -> tuple[bool, str]:
    """Read whether configurations may leave an attribute unmasked, and the choice of those that do not name it."""
    identity = "identity" not in fields or fields["identity"].one_of("true", "false") == "true"
    choices = choices_of(maskings, is_kept=is_label)
    default = read_choice(fields["default"], choices) if "default" in fields else IDENTITY
    if default == IDENTITY and "default" in fields and not identity:
        fields["default"].fail("is identity, which `identity: false` forbids; choose a masking, or drop")
    if default == IDENTITY and is_label and not identity:
        fault = "is the default label, which no configuration drops, so `identity: false` needs a masking as `default`"
        element.fail(fault)
    return identity, default


def _check_default_label(element: Element, fields: Collection[str], maskings: Sequence[Masking]) -> None:
    """Refuse what only other labels may have, and maskings that are not functions which all may know."""
    if others := [key for key in fields if key not in _OF_A_LABEL]:
        element.fail(f"is the default label, so `{others[0]}` cannot be stated; other labels may have it")
    for masking in maskings:
        if not masking.is_of_label:
            element.fail(
                f"is the default label, so {masking.id!r} must give each value one masked value that all may know: not "
                "by chance, by other records, secretly or elsewhere"
            )


def _scores(element: Element, bins: Rule | None) -> tuple[float, ...]:
    """Read the score of each bin or value of a label."""
    scores = tuple(float(each.decimal()) for each in element.elements())
    if bins is not None and not isinstance(bins, Edges):
        element.fail("belongs to bins whose edges are stated; write `discretize: {rule: edges, edges: [...]}`")
    if bins is not None and len(scores) != len(bins.edges) - 1:
        element.fail(f"{len(scores)} scores are stated, but there are {len(bins.edges) - 1} bins; give one for each")
    return scores


def _variance(element: Element) -> float:
    variance = float(element.decimal())
    if variance < 0:
        element.fail(f"must not be below 0, not {element.value}")
    return variance


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


def choices_of(maskings: Sequence[Masking], *, is_kept: bool = False) -> list[str]:
    """Return the choices of a configuration for an attribute with these maskings; what is kept is never dropped."""
    return [*(masking.id for masking in maskings), IDENTITY, *([] if is_kept else [DROP])]


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

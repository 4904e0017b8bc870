"""Writes a drafted plan as YAML with comments, for people to read and edit."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Final

import yaml

from aegis_provider.draft.attributes import DraftedAttribute, Level
from aegis_provider.errors import PlanError
from aegis_provider.masking import EdgeBuckets, Function
from aegis_provider.masking.hierarchy import DateHierarchy, PrefixHierarchy, Tree, TreeHierarchy
from aegis_provider.plan.model import Attribute
from aegis_provider.plan.writing import Edit, end_of, scalar
from aegis_provider.table.arithmetic import plain
from aegis_provider.table.discretization import Edges
from aegis_sdk.printable import one_line
from aegis_sdk.reading import Share, some

_WIDTH: Final = 100
_INDENT: Final = 2
_INTRODUCTION: Final = (
    "#",
    "# The maskings of an attribute go from fine to coarse, and each merges values of the one before. A configuration",
    "# chooses one of them, or `identity` (shared as it is), or `drop` (not shared). The comments say how many masked",
    "# values there are, how many records have the rarest, and the share that the masking keeps of what the attribute",
    "# tells about the label. Those `by the label` (`fitted_to: label`) merge values that tell the same about it, as",
    "# that tells more of records left out; other groups of numbers and texts are as even as possible.",
)


def plan_text(
    described: str,
    labels: Sequence[str],
    attributes: Sequence[DraftedAttribute],
    left_out: Mapping[str, str],
    *,
    fold_case: bool = False,
    person: Mapping[str, str] | None = None,
    label_as: Attribute | None = None,
) -> str:
    """Return the text of a plan without configurations.

    Args:
        described: The table in a few words.
        labels: The labels, the default one first.
        attributes: The attributes, at least one.
        left_out: The columns left out, with the reasons.
        fold_case: Whether values of the label that differ only in case or surrounding blanks are one.
        person: The members that say whose a record is, if a column does.
        label_as: The bins and scores of a label that is a number.
    """
    label, listed = labels[0], f"[{', '.join(map(scalar, labels))}]"
    columns = [attribute.column for attribute in attributes if attribute.column.name not in labels]
    known = [scalar(each.name) for each in columns if each.is_likely_known or each.perhaps_known]
    lines = [
        "# A draft by `aegis plan start`. Edit it as you like: running the command again keeps your edits.",
        f"# Table: {one_line(described)}.",
        *_INTRODUCTION,
        f"labels: {listed}  # what may be predicted; the first is the default"
        if labels[1:]
        else f"label: {scalar(label)}",
        *(["fold_case: true  # its values are in small letters"] if fold_case else []),
        *_whose(person or {}),
        "",
        "# What nobody should learn about a person.",
        f"sensitive: {listed}",
        "",
        "# What someone may know about a person from elsewhere. Without this list, every attribute: the safe choice.",
        *(_listed(known) if known else []),
        "",
        *_left_out(left_out),
        "attributes:",
        *(_label_lines(label_as) if label_as is not None else ()),
        *chain.from_iterable(attribute_lines(attribute, label) for attribute in attributes),
    ]
    return "\n".join(lines) + "\n"


def extended(plan: Path, attributes: Sequence[DraftedAttribute], label: str) -> str:
    """Return the text of a valid plan with these attributes added, and removed from those left out.

    Raises:
        PlanError: The layout of the file does not permit this.
    """
    text = plan.read_bytes().decode()  # with its line ends and byte-order mark
    root = yaml.compose(text, Loader=yaml.BaseLoader)
    nodes = {key.value: value for key, value in root.value} if isinstance(root, yaml.MappingNode) else {}
    own = nodes["attributes"]
    if not isinstance(own, yaml.MappingNode) or own.flow_style or own.start_mark.column != _INDENT:
        raise PlanError(f"{plan}: cannot add attributes unless those below `attributes:` are indented by two spaces")
    place = _line_end(text, end_of(own))
    added = "".join(f"{line}\n" for attribute in attributes for line in attribute_lines(attribute, label))
    edits = [(place, place, added if text[place - 1] == "\n" else f"\n{added}")]
    edits += _removals(plan, nodes.get("left_out"), {attribute.column.name for attribute in attributes}, text)
    for start, end, instead in sorted(edits, reverse=True):
        text = text[:start] + instead + text[end:]
    return text


def _removals(plan: Path, left_out: yaml.Node | None, names: set[str], text: str) -> Iterator[Edit]:
    if isinstance(left_out, yaml.MappingNode) and left_out.flow_style:
        raise PlanError(f"{plan}: `left_out` must have one column in each line; rewrite it so")
    for key, value in left_out.value if isinstance(left_out, yaml.MappingNode) else ():
        if key.value in names:
            yield text.rfind("\n", 0, key.start_mark.index) + 1, _line_end(text, value.end_mark.index), ""


def _line_end(text: str, place: int) -> int:
    """Return the beginning of the next line."""
    end = text.find("\n", place)
    return len(text) if end < 0 else end + 1


def _whose(person: Mapping[str, str]) -> Iterator[str]:
    if person:
        yield from ("", "# Whose a record is. Privacy counts people; the column is never shared.")
        yield from (f"{member}: {value}" for member, value in person.items())


def _label_lines(label: Attribute) -> Iterator[str]:
    """Yield the lines of a label that is a number."""
    if not isinstance(label.discretization, Edges):
        return
    yield f"  {scalar(label.name)}:"
    if label.writing.fields:
        yield from (f"    {field}" for field in (f"type: {label.value_type}", *label.writing.fields))
    yield from _in_bins(label, label.discretization)


def _in_bins(label: Attribute, bins: Edges) -> Iterator[str]:
    yield "    # A label that is a number is counted and shared in bins, never as it is. A score: the middle of a bin;"
    yield "    # of an open one, its edge and the mean distance from it to two digits, unless a person has over 10 % of"
    yield "    # the sum. The variance: of squared distances from the mean, likewise."
    yield f"    discretize: {{rule: edges, edges: {_edges(bins.edges)}}}"
    yield f"    scores: [{', '.join(map(_number, label.scores or ()))}]"
    yield from () if label.variance is None else (f"    variance: {_number(label.variance)}",)


def _number(number: float) -> str:
    return plain(Decimal(repr(number)).normalize())


def _listed(known: Sequence[str]) -> Iterator[str]:
    yield "# Without the `#` before it, only these: all others are shared as they are, and someone who knows one of"
    yield "# them may find a person. A release says which share of the records is alone on all columns."
    yield f"# quasi_identifiers: [{', '.join(known)}]"


def attribute_lines(drafted: DraftedAttribute, label: str) -> Iterator[str]:
    """Yield the lines of an attribute below `attributes:`."""
    attribute = drafted.attribute
    yield f"  # {_described(drafted, label)}"
    yield f"  {scalar(attribute.name)}:"
    yield f"    type: {attribute.value_type}"
    yield from (f"    {field}" for field in attribute.writing.fields)
    if attribute.fitted_to_label:
        yield "    fitted_to: label"
    if isinstance(attribute.discretization, Edges) and attribute.scores is not None:
        yield from _in_bins(attribute, attribute.discretization)
    elif isinstance(attribute.discretization, Edges):
        edges = attribute.discretization.edges
        yield f"    # {len(edges) - 1} bins replace its numbers; they do not depend on the label"
        yield f"    discretize: {{rule: edges, edges: {_edges(edges)}}}"
    yield from _maskings(drafted)


def _maskings(drafted: DraftedAttribute) -> Iterator[str]:
    functions = [masking.function for masking in drafted.attribute.maskings]
    edged = [each for each in functions if isinstance(each, EdgeBuckets)]
    if edged:
        yield "    maskings:"
        for level, function in zip(drafted.levels, edged, strict=True):
            yield f"      # {_kept(level)}"
            yield f"      {scalar(level.id)}: {{bucketize: {{edges: {_edges(function.edges)}}}}}"
    elif functions:
        yield from (f"    # {one_line(each.id)}: {_kept(each)}" for each in drafted.levels)
        yield from _hierarchy(functions[0])


def _left_out(left_out: Mapping[str, str]) -> Iterator[str]:
    if left_out:
        yield "# Never shared. `aegis plan start` with `--add NAME` drafts maskings for one of them all the same."
        yield "left_out:"
        yield from (f"  {scalar(name)}: {scalar(reason)}" for name, reason in left_out.items())
        yield ""


def _described(drafted: DraftedAttribute, label: str) -> str:
    column = drafted.column
    parts = [f"{column.distinct:,} value{'s' * (column.distinct != 1)}"]
    if column.missing:
        parts.append(f"missing in {column.missing:,} record{'s' * (column.missing != 1)}")
    bits = f"tells {drafted.information:.2g} bits about {one_line(label)}"
    parts.append(f"{bits}, of which chance explains about {drafted.by_chance:.2g}")
    if column.missing_codes:
        parts.append(f"{some(column.missing_codes, 3)} may mean missing")
    parts += drafted.remarks
    if column.possible_code is not None:
        parts.append("some values may be codes or numbers with exponents: the type says which")
    if column.is_likely_known:
        parts.append("others are likely to know it")
    elif column.perhaps_known:
        parts.append(f"others may know it: {column.perhaps_known}? If not, delete it from `quasi_identifiers` above")
    return "; ".join(parts)


def _kept(level: Level) -> str:
    kept = ("" if level.kept is None else f"; keeps {Share(level.kept).whole}") + "; by the label" * level.by_label
    rarest = f"the rarest in {level.smallest:,} record{'s' * (level.smallest != 1)}"
    return f"{level.groups} masked values{' and blank' * level.blank}, {rarest}{kept}"


def _edges(edges: Sequence[Decimal]) -> str:
    return f"[{', '.join(map(_edge, edges))}]"


def _edge(edge: Decimal) -> str:
    return plain(edge) if edge.is_finite() else ".inf" if edge > 0 else "-.inf"


def _hierarchy(function: Function) -> Iterator[str]:
    if isinstance(function, TreeHierarchy):
        yield "    hierarchy:"
        yield "      tree:"
        yield from _tree(function.tree, 8)
    elif isinstance(function, DateHierarchy):
        yield f"    hierarchy: {{dates: [{', '.join(function.dates)}]}}"
    elif isinstance(function, PrefixHierarchy):
        yield f"    hierarchy: {{prefixes: [{', '.join(map(str, function.prefixes))}]}}"


def _tree(tree: Tree, indent: int) -> Iterator[str]:
    for name, within in tree.items():
        head = f"{' ' * indent}{scalar(name)}:"
        if isinstance(within, Mapping):
            yield head
            yield from _tree(within, indent + 2)
        else:
            yield from _list(head, within)


def _list(head: str, values: Sequence[str]) -> Iterator[str]:
    """Yield a list of values after a key, on as many lines as needed."""
    line, indent = f"{head} [", " " * (len(head) - len(head.lstrip()) + 2)
    for place, value in enumerate(values):
        text = scalar(value) + ("]" if place == len(values) - 1 else ", ")
        if len(line) + len(text) > _WIDTH and not line.endswith("["):
            yield line.rstrip()
            line = indent
        line += text
    yield line

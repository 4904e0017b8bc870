"""Additions to a plan that somebody may have edited: every other word of it stays."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from aegis_provider.draft.attributes import DraftedAttribute
from aegis_provider.draft.writing import attribute_lines
from aegis_provider.errors import PlanError
from aegis_provider.plan.writing import Edit, end_of

_INDENT = 2


def extended(plan: Path, attributes: Sequence[DraftedAttribute], label: str) -> str:
    """Return the text of a valid plan with these attributes after its own, and no longer among those left out.

    Raises:
        PlanError: The file is written so that attributes cannot be added or no longer left out.
    """
    text = plan.read_bytes().decode()  # with its line ends and byte-order mark
    nodes = _nodes(yaml.compose(text, Loader=yaml.BaseLoader))
    own = nodes["attributes"]
    if not isinstance(own, yaml.MappingNode) or own.flow_style or own.start_mark.column != _INDENT:
        raise PlanError(f"{plan}: cannot add attributes unless those below `attributes:` are indented by two spaces")
    place = _line_end(text, end_of(own))
    added = "".join(f"{line}\n" for each in attributes for line in attribute_lines(each, label))
    edits = [(place, place, added if text[place - 1] == "\n" else f"\n{added}")]
    edits += _removals(plan, nodes.get("left_out"), {each.column.name for each in attributes}, text)
    for start, end, instead in sorted(edits, reverse=True):
        text = text[:start] + instead + text[end:]
    return text


def _removals(plan: Path, left_out: yaml.Node | None, names: set[str], text: str) -> Iterator[Edit]:
    if isinstance(left_out, yaml.MappingNode) and left_out.flow_style:
        raise PlanError(f"{plan}: `left_out` must have one column in each line; rewrite it so")
    for key, value in left_out.value if isinstance(left_out, yaml.MappingNode) else ():
        if key.value in names:
            yield text.rfind("\n", 0, key.start_mark.index) + 1, _line_end(text, value.end_mark.index), ""


def _nodes(root: yaml.Node | None) -> dict[str, yaml.Node]:
    return {key.value: value for key, value in root.value} if isinstance(root, yaml.MappingNode) else {}


def _line_end(text: str, place: int) -> int:
    """Return where the next line begins."""
    end = text.find("\n", place)
    return len(text) if end < 0 else end + 1

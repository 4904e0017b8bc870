"""Writes configurations into a plan file, preserving its text as far as possible."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

from aegis_provider.errors import OutputError, PlanError
from aegis_provider.files import refuse_overwriting, written_whole
from aegis_provider.masking import names_file
from aegis_provider.plan.limits import DEMANDS, PERSON
from aegis_provider.plan.model import Configuration, Plan
from aegis_provider.plan.reading import load_plan
from aegis_sdk.wire import SUPPRESSED

Edit: TypeAlias = tuple[int, int, str]
"""The start and the end of a stretch of text, and its replacement."""

_REPLACED: Final = ("configurations", "privacy", "privacy_by_label", "required", *SUPPRESSED, "generated", "holdout")


def write_plan(
    source: Path,
    plan: Plan,
    configurations: Sequence[Configuration],
    output: Path,
    remark: str,
    text: str | None = None,
) -> None:
    """Write a copy of the plan file `source` with these configurations, and the generated tables of `plan`.

    They replace those in the file. Its other text stays, including comments. Paths are rewritten if the output is in
    another directory. The output is read back, and must equal `plan`.

    Args:
        source: The plan file.
        plan: The plan in the file.
        configurations: The configurations to write.
        remark: A comment above the configurations.
        text: A text to use instead of the file's, if the plan has other attributes.

    Raises:
        OutputError: The file cannot be written, or its text cannot be combined with the configurations.
        PlanError: The source can no longer be read.
    """
    refuse_overwriting(output, source, *plan.files)
    text = _demanding(_read(source) if text is None else text, source, plan)
    wanted = replace(plan, configurations=tuple(configurations))
    tail = "\n".join([f"# {remark}", *_lines(plan, configurations), ""])
    with written_whole(output, private=True) as part:  # it has exact numbers
        tail += "".join(f"{line}\n" for line in _generated(plan, part.parent))
        for head in (_edited(text, source.parent, part.parent), _dumped(text, source.parent, part.parent)):
            part.write_text(f"{head}\n{tail}", encoding="utf-8")
            if _says(part, wanted):
                return
        raise OutputError(
            f"{output}: {source} cannot be written again with configurations; check that it is plain YAML"
        )


def _read(source: Path) -> str:
    try:
        return source.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise PlanError(f"{source}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise PlanError(f"{source}: not UTF-8; convert it first") from error


def _demanding(text: str, source: Path, plan: Plan) -> str:
    """Return the text with what the plan demands by name, if that is more than the file says."""
    demands = dict(_demands(plan))
    if not demands or dict(_demands(load_plan(source, configurations_needed=False))) == demands:
        return text
    root = yaml.compose(text, Loader=yaml.BaseLoader)
    for start, end, _ in sorted(_removals(root, text, (*DEMANDS, *PERSON)), reverse=True):
        text = text[:start] + text[end:]
    return "\n".join([text.rstrip("\n"), "", *(f"{name}: {said}" for name, said in demands.items()), ""])


def _demands(plan: Plan) -> Iterator[tuple[str, str]]:
    kept = {each.name: each.limits.coarsest for each in plan.attributes if each.limits.kept}
    if kept:
        named = (scalar(name) if of is None else _nested({name: of}) for name, of in kept.items())
        yield "keep", f"[{', '.join(named)}]"
    if plan.weights:
        yield "weights", _nested(plan.weights)
    yield from members_of_person(plan)


def members_of_person(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the members of a plan that say whose a record is, with their text."""
    if plan.person is not None:
        yield "person", scalar(plan.person)
    if plan.rows_per_person is not None:
        yield "rows_per_person", f"{plan.rows_per_person}"


def _says(path: Path, wanted: Plan) -> bool:
    """Return whether the file contains the wanted plan, ignoring places."""
    try:
        return _without_places(load_plan(path)) == _without_places(wanted)
    except PlanError:
        return False


def _without_places(plan: Plan) -> Plan:
    plain = plan.changed(lambda of: replace(of, maskings=tuple(replace(one, place="") for one in of.maskings)))
    generated = tuple(replace(table, file=table.file.resolve()) for table in plan.generated)
    return replace(plain, source="", generated=generated)


def _edited(text: str, folder: Path, target: Path) -> str:
    """Return the text without replaced keys, and with paths relative to the target."""
    root = yaml.compose(text, Loader=yaml.BaseLoader)
    edits = [*_removals(root, text), *_paths(root, "", folder, target)]
    for start, end, instead in sorted(edits, reverse=True):
        text = text[:start] + instead + text[end:]
    return text.rstrip("\n") + "\n"


def _removals(root: yaml.Node | None, text: str, replaced: Sequence[str] = _REPLACED) -> Iterator[Edit]:
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        if key.value in replaced:
            line_end = text.find("\n", end_of(value))
            yield key.start_mark.index, len(text) if line_end < 0 else line_end + 1, ""


def end_of(node: yaml.Node) -> int:
    """Return the end of the last value in a node, because a block itself extends over comments to the next key."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return end_of(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _paths(node: yaml.Node | None, under: str, folder: Path, target: Path) -> Iterator[Edit]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(value, yaml.ScalarNode) and names_file(under, str(key.value)):
                moved = _moved(value.value, folder, target)
                if moved != value.value:
                    yield value.start_mark.index, value.end_mark.index, scalar(moved)
            else:
                yield from _paths(value, key.value if isinstance(key.value, str) else "", folder, target)


def _moved(path: str, folder: Path, target: Path) -> str:
    """Convert a path relative to `folder` to one relative to `target`."""
    if folder.resolve() == target.resolve() or Path(path).is_absolute():
        return path
    return Path(os.path.relpath(folder.resolve() / path, target.resolve())).as_posix()


def _dumped(text: str, folder: Path, target: Path) -> str:
    """Return the same as `_edited`, but dumped from scratch, for a text without one key per line."""
    document: dict[str, Any] = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - makes texts, lists and mappings only
    kept = {key: value for key, value in document.items() if key not in _REPLACED}
    written: str = yaml.safe_dump(kept, allow_unicode=True, sort_keys=False)
    return _edited(written, folder, target)


def _lines(plan: Plan, configurations: Sequence[Configuration]) -> Iterator[str]:
    defaults = {attribute.name: attribute.default for attribute in plan.chosen}
    yield "configurations:"
    for each in configurations:
        yield f"  {scalar(each.id)}: {_nested({k: v for k, v in each.maskings.items() if v != defaults[k]})}"
    yield "privacy:"
    promises = {configuration.id: configuration.privacy for configuration in configurations}
    promises |= {table.id: table.privacy for table in plan.generated if table.privacy}
    yield from (f"  {scalar(name)}: {_nested(privacy)}" for name, privacy in promises.items())
    by_label = {configuration.id: configuration.by_label for configuration in configurations if configuration.by_label}
    required = {each.id: each.required for each in configurations if each.required is not None}
    for key, of in (("privacy_by_label", by_label), ("required", required)):
        yield from [f"{key}:"] * bool(of)
        yield from (f"  {scalar(name)}: {_nested(privacy)}" for name, privacy in of.items())
    yield from _numbers("suppressed", {configuration.id: configuration.suppressed for configuration in configurations})
    yield from _numbers(
        "suppressed_cells", {configuration.id: configuration.suppressed_cells for configuration in configurations}
    )


def _generated(plan: Plan, folder: Path) -> Iterator[str]:
    """Yield the lines of generated tables, with paths relative to the folder of the plan."""
    if plan.holdout is not None:
        yield f"holdout: {plan.holdout}"
    if plan.generated:
        yield "generated:"
    for each in plan.generated:
        yield f"  {scalar(each.id)}:"
        file = Path(os.path.relpath(each.file.resolve(), folder.resolve())).as_posix()
        yield f"    file: {scalar(file)}"
        yield f"    sha256: {scalar(each.sha256)}"
        yield from (f"    {name}: {_nested(value)}" for name, value in each.stated.items() if name != "privacy")


def _nested(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Return nested numbers and texts by name, on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(name)}: {_nested(each)}" for name, each in value.items()) + "}"
    return scalar(value) if isinstance(value, str) else f"{value}"


def _numbers(key: str, numbers: Mapping[str, int | None]) -> Iterator[str]:
    stated = {name: number for name, number in numbers.items() if number is not None}
    if stated:
        yield f"{key}:"
        yield from (f"  {scalar(name)}: {number}" for name, number in stated.items())


@cache
def scalar(text: str) -> str:
    """Return a text as an item of a YAML list, on one line; `yaml.BaseLoader` reads it as text."""
    style = None if text.isprintable() else '"'
    written: str = yaml.safe_dump(
        [text], default_flow_style=True, default_style=style, allow_unicode=True, width=1 << 30
    )
    return written.strip()[1:-1]

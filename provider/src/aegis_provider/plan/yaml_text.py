"""The plan file as YAML: texts, lists and mappings, of a size that can be read."""

from pathlib import Path
from typing import Any

import yaml

from aegis_provider.errors import PlanError

_MOST_BYTES = 64 << 20
_MOST_REPEATED = 1_000_000


class _TextLoader(yaml.BaseLoader):
    """Leaves every scalar the text it is, and refuses a key that stands twice.

    YAML would make a boolean of the value `no` and a binary float of the edge `0.1`. Refused are aliases, too, that
    repeat more than anyone means: a few lines of them can stand for more than a memory holds.
    """

    def __init__(self, stream: bytes) -> None:
        super().__init__(stream)
        self._sizes: dict[yaml.Node, int] = {}
        self._repeated = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:  # noqa: ANN401 - see below
        is_alias = self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        if node is not None and is_alias:
            # One within itself has no size yet; the loader refuses it later on.
            self._repeated += self._sizes.get(node, 1)
            if self._repeated > _MOST_REPEATED:
                raise PlanError(f"its aliases (*name) repeat more than {_MOST_REPEATED} values; write fewer of them")
        elif node is not None:
            self._sizes[node] = 1 + sum(self._sizes.get(each, 1) for each in _within(node))
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - the signature of the class it extends
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise PlanError(f"line {key.start_mark.line + 1}: {key.value!r} stands twice")
                seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


def _within(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [each for pair in node.value for each in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


def parsed(path: Path) -> object:
    """What the file says. Raises `PlanError`."""
    try:
        return yaml.load(_content(path), Loader=_TextLoader)  # noqa: S506 - makes texts, lists and mappings only
    except OSError as error:
        raise PlanError(f"{path}: cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise PlanError(f"{path.name}: not YAML: {error}") from error
    except RecursionError:
        raise PlanError(f"{path.name}: nested too deep") from None
    except PlanError as error:
        raise PlanError(f"{path.name}: {error}") from None


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise PlanError(f"larger than {_MOST_BYTES >> 20} MiB; is it a plan?")
    return content

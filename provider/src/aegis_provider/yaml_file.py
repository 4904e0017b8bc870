"""A YAML file of texts, lists and mappings, read strictly; errors name their place in the file."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import yaml
from yaml.composer import Composer
from yaml.constructor import BaseConstructor

from aegis_provider.errors import PlanError, UnmaskableValueError, nearest
from aegis_provider.table.values import decimal_of

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_NAME_LENGTH = 255
_MOST_BYTES = 64 << 20
_MOST_REPEATED = 1_000_000


@dataclass(frozen=True)
class Element:
    """A place in the file. Methods that read one kind of value raise a `PlanError` with the place for any other.

    Attributes:
        source: The name of the file.
        path: The dotted path of the place.
        value: The value as text, a list or a mapping; numbers, `true` and `null` are still text.
        folder: The folder of relative file names.
        beside: Sibling elements that belong to this one.
    """

    source: str
    path: str
    value: Any
    folder: Path = Path()
    beside: Mapping[str, "Element"] = field(default_factory=dict)

    def fail(self, message: str) -> NoReturn:
        """Fail with a message about this place.

        Raises:
            PlanError: Always, with the file, the place and the message.
        """
        raise PlanError(f"{self.source}: {self.path}: {message}" if self.path else f"{self.source}: {message}")

    @contextmanager
    def naming_faults(self) -> Iterator[None]:
        """Turn a `ValueError` into a `PlanError` with this element's place; leave errors that have a place."""
        try:
            yield
        except PlanError as error:
            if str(error).startswith(f"{self.source}: "):
                raise
            self.fail(str(error))
        except ValueError as error:
            self.fail(str(error))

    def items(self) -> Iterator[tuple[str, "Element"]]:
        """Yield the keys of a mapping, each with its element; an empty value counts as an empty mapping."""
        if self.value == "":
            return
        if not isinstance(self.value, dict):
            self.fail("expected `name: value` pairs")
        for key, value in self.value.items():
            if not isinstance(key, str):
                self.fail(f"{key!r} cannot be a name")
            yield key, replace(self, path=f"{self.path}.{key}" if self.path else key, value=value, beside={})

    def fields(self, *required: str, optional: tuple[str, ...] = ()) -> dict[str, "Element"]:
        """Return the elements of a mapping that has these keys and no others."""
        fields = dict(self.items())
        known = [*required, *optional]
        for key in fields:
            if key not in known:
                self.fail(f"unknown key {key!r}; {nearest(key, known)}")
        for key in required:
            if key not in fields:
                self.fail(f"`{key}` is missing")
        return fields

    def elements(self) -> list["Element"]:
        """Return the elements of a list."""
        if not isinstance(self.value, list):
            self.fail("expected a list, [a, b, ...]")
        return [
            replace(self, path=f"{self.path}.{place}", value=value, beside={}) for place, value in enumerate(self.value)
        ]

    def text(self) -> str:
        """Read a text, possibly empty."""
        if not isinstance(self.value, str):
            self.fail("expected a text")
        return self.value

    def character(self) -> str:
        """Read a text of one character."""
        text = self.text()
        if len(text) != 1 or text in "\r\n\0":
            self.fail(f"expected one character, not {text!r}")
        return text

    def name(self) -> str:
        """Read an id or a name: 1 to 255 characters, no control characters."""
        return self.checked_name(self.text())

    def checked_name(self, text: str) -> str:
        """Return `text` if it can be an id or a name."""
        if not 1 <= len(text) <= _NAME_LENGTH or _CONTROL.search(text):
            self.fail(f"a name must have 1 to {_NAME_LENGTH} characters and no control characters")
        return text

    def file(self) -> Path:
        """Return the path of the named file."""
        return self.folder / self.name()

    def decimal(self, *, infinite: bool = False) -> Decimal:
        """Read a number; if `infinite`, also `.inf` and `-.inf`."""
        text = self.text()
        if infinite and text.lower() in {".inf", "+.inf", "-.inf"}:
            return Decimal(text.replace(".", ""))
        try:
            return decimal_of(text)
        except UnmaskableValueError as error:
            self.fail(str(error))

    def positive(self) -> Decimal:
        """Read a number above zero."""
        number = self.decimal()
        if number <= 0:
            self.fail(f"must be above 0, not {self.value}")
        return number

    def one_of(self, *known: str) -> str:
        """Read a text that is one of these."""
        text = self.text()
        if text not in known:
            self.fail(f"expected {' or '.join(known)}, not {text!r}")
        return text

    def signed_integer(self) -> int:
        """Read an integer of at most nine digits."""
        text = self.text()
        if not re.fullmatch(r"[+-]?\d{1,9}", text, re.ASCII):
            self.fail(f"expected an integer, not {text!r}")
        return int(text)

    def digits(self) -> int:
        """Read a whole number of at most 40 digits."""
        text = self.text()
        if not re.fullmatch(r"\d{1,40}", text, re.ASCII):
            self.fail("expected a whole number of at most 40 digits")
        return int(text)

    def integer(self, at_least: int) -> int:
        """Read an integer that is at least `at_least`."""
        text = self.text()
        if not re.fullmatch(r"\d{1,9}", text, re.ASCII) or int(text) < at_least:
            limit = " of at most nine digits" if text.isdecimal() and int(text) >= at_least else ""
            self.fail(f"expected an integer of at least {at_least}{limit}, not {text!r}")
        return int(text)


def parsed(path: Path) -> object:
    """Return the content of the YAML file.

    Raises:
        PlanError: The file cannot be read, is not YAML, or is too large.
    """
    try:
        content = _content(path)
        try:
            return yaml.load(content, Loader=_QuickLoader)  # noqa: S506 - makes texts, lists and mappings only
        except yaml.YAMLError:
            return yaml.load(content, Loader=_TextLoader)  # noqa: S506 - whose message shows the line
    except OSError as error:
        raise PlanError(f"{path}: cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise PlanError(f"{path.name}: not YAML: {error}") from error
    except RecursionError:
        raise PlanError(f"{path.name}: nested too deeply") from None
    except PlanError as error:
        raise PlanError(f"{path.name}: {error}") from None


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise PlanError(f"larger than {_MOST_BYTES >> 20} MiB; is it a plan?")
    return content


class _Texts(Composer, BaseConstructor):
    """Loads every scalar as text, and rejects a key that appears twice.

    YAML would turn `no` into a boolean and the edge `0.1` into a binary float. Aliases that repeat too much are also
    rejected: a few lines can expand beyond all memory.
    """

    def _begin(self) -> None:
        self._sizes: dict[yaml.Node, int] = {}
        self._repeated = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:  # noqa: ANN401 - see below
        is_alias = self.check_event(yaml.AliasEvent)  # type: ignore[attr-defined] # a method of its parser
        node = super().compose_node(parent, index)
        if node is not None and is_alias:
            # An alias within its own node has no size yet; the loader rejects it later.
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
                    raise PlanError(f"line {key.start_mark.line + 1}: {key.value!r} appears twice")
                seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


class _TextLoader(_Texts, yaml.BaseLoader):
    def __init__(self, stream: bytes) -> None:
        yaml.BaseLoader.__init__(self, stream)
        self._begin()


if yaml.__with_libyaml__:

    class _QuickLoader(_Texts, Composer, yaml.CBaseLoader):
        """Scans the text in C, in a quarter of the time."""

        def __init__(self, stream: bytes) -> None:
            yaml.CBaseLoader.__init__(self, stream)
            Composer.__init__(self)
            self._begin()

else:
    _QuickLoader = _TextLoader  # type: ignore[assignment, misc]


def _within(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [each for pair in node.value for each in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []

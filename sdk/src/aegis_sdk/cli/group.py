"""The tree of commands, and what the provider's package adds to it.

A module is imported only when its command runs, so that `aegis --help` is quick.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import wraps
from importlib import import_module
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from aegis_sdk._errors import AegisError
from aegis_sdk.cli.terminal import InputError, warn
from aegis_sdk.programs import how_to_install

if TYPE_CHECKING:  # the contract takes longer to load than all that a list of commands needs
    from aegis_sdk._client import Client
    from aegis_sdk.wire import DataRequest, DeliveryVerdict, EntryDocument, Evidence

DISTRIBUTION = "aegis-masking"
"""The distribution whose version is shown."""

PROVIDER = "provider"
"""The entry point of the provider's package."""

ENTRY_POINTS = "aegis.commands"
"""The entry point group in which other distributions register a `CommandSection`."""

INSTALL: Final = how_to_install("aegis-masking[provider]")
"""How to have the provider's package and what it needs."""

MOST_AT_FIRST: Final = 8
"""The number of options before the heading `Advanced` in a command's help, including `--help`."""


@dataclass(frozen=True)
class Command:
    """A command of `aegis`.

    Args:
        function: Its location as "module:function"; the function's name is the command's, with hyphens. Its first
            options are those that people need first.
        summary: One sentence for the list of commands: the first of the function's docstring.
        example: An example call.
    """

    function: str
    summary: str
    example: str

    @property
    def name(self) -> str:
        """The name on the command line."""
        return self.function.partition(":")[2].rstrip("_").replace("_", "-")

    def load(self, path: str) -> Any:  # noqa: ANN401 - typer's class of commands is private
        """Import the function and make a command of it; `path` is the full name on the command line.

        Raises:
            AegisError: A required library is not installed.
        """
        module, _, name = self.function.partition(":")
        application = typer.Typer(rich_markup_mode=None, add_completion=False)
        with _needing_libraries(path, module), loading():
            function = getattr(import_module(module), name)

        @wraps(function)
        def run(*arguments: Any, **options: Any) -> None:  # noqa: ANN401 - those of any command
            with _needing_libraries(path, module):
                function(*arguments, **options)

        application.command(self.name, cls=_Command, epilog=f"Example: {self.example}")(run)
        return get_command(application)


@contextmanager
def _needing_libraries(path: str, module: str) -> Iterator[None]:
    """Name a library that is missing: a command loads most of them when it runs; `path` is what people type."""
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library == module.partition(".")[0]:
            raise
        raise AegisError(f"{library} is not installed, but `{path}` needs it: {INSTALL}") from error


@dataclass(frozen=True)
class Group:
    """Commands about one subject. Distributions add to a group of the same name.

    Args:
        summary: One sentence for the list of commands.
        is_open: Whether the provider's package adds commands.
    """

    name: str
    summary: str
    commands: tuple[Command, ...]
    is_open: bool = False


@dataclass(frozen=True)
class CommandSection:
    """The commands of a distribution in order of use, with a title for the help."""

    title: str
    commands: tuple[Command | Group, ...]


class CommandGroup(TyperGroup):
    """Commands of the SDK, and those that other distributions register by an entry point.

    `path` has the words before the command. If two `sections`, which are in order, have a command of the same name, the
    first runs, so nobody replaces one of the SDK. The group is open if the provider's package adds commands.
    """

    def __init__(
        self,
        path: str,
        help: str,  # noqa: A002 - typer's word
        sections: Sequence[CommandSection],
        *,
        is_open: bool,
        **more: Any,  # noqa: ANN401 - typer's
    ) -> None:
        super().__init__(name=path.rpartition(" ")[2], help=help, rich_markup_mode=None, **more)
        self.path, self.sections, self.is_open = path, sections, is_open
        self.parts: dict[str, Command | Group] = {}
        for each in (command for section in sections for command in section.commands):
            self.parts.setdefault(each.name, each)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer's signature
        """Show the help if no command is named."""
        return super().parse_args(ctx, args or ["--help"])

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - typer's signature
        """The names, in order of use."""
        return list(self.parts)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - typer's signature
        """Load the requested command, or make the group of the commands that all distributions have in it."""
        part, path = self.parts.get(cmd_name), f"{self.path} {cmd_name}"
        if not isinstance(part, Group):
            return part and part.load(path)
        return CommandGroup(path, part.summary, list(self._within(cmd_name)), is_open=part.is_open)

    def _within(self, name: str) -> Iterator[CommandSection]:
        for section in self.sections:
            for command in section.commands:
                if isinstance(command, Group) and command.name == name:
                    yield CommandSection(section.title, command.commands)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - typer's signature
        """Find the command; otherwise say in which group it is, or how to install the provider's package."""
        known = args[0] in self.parts or args[0].startswith("-")
        for group in () if known else (each for each in self.parts.values() if isinstance(each, Group)):
            if any(args[0] == each.name for section in self._within(group.name) for each in section.commands):
                raise InputError(f"no command {args[0]!r}; did you mean `{self.path} {group.name} {args[0]}`?")
        if not known and not get_close_matches(args[0], self.parts) and self._lacks_the_provider():
            raise InputError(
                f"unknown command {args[0]!r}; commands for tables come with the provider's package: {INSTALL}"
            )
        self.commands = dict.fromkeys(self.parts, TyperCommand(None))  # typer suggests similar names from these
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - typer's signature
        """List the commands from their records, without loading any."""
        for section in self.sections:
            if listed := [command for command in section.commands if self.parts[command.name] is command]:
                with formatter.section(section.title):
                    formatter.write_dl([(command.name, command.summary) for command in listed])
        if self._lacks_the_provider():
            formatter.write_paragraph()
            formatter.write_text(f"More, for tables: {INSTALL}")

    def _lacks_the_provider(self) -> bool:
        return self.is_open and not any(
            entry_point.name == PROVIDER for entry_point in entry_points(group=ENTRY_POINTS)
        )


class _Command(TyperCommand):
    """A command whose help separates the most important options from the others."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's signature
        """Write the arguments, the first options, and the others under `Advanced`."""
        kinds: dict[str, list[tuple[str, str]]] = {"argument": [], "option": []}
        for param in self.get_params(ctx):
            if record := param.get_help_record(ctx):
                kinds[param.param_type_name].append(record)
        *options, help_itself = kinds["option"]
        most = len(options) if len(options) < MOST_AT_FIRST else MOST_AT_FIRST - 1
        parts = {"Arguments": kinds["argument"], "Options": [*options[:most], help_itself], "Advanced": options[most:]}
        for title, records in parts.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def installed_sections() -> Iterator[CommandSection]:
    """The commands of the SDK, followed by those of the other distributions."""
    from aegis_sdk.cli.commands import SECTION  # noqa: PLC0415 - it imports this module

    yield SECTION
    for entry_point in entry_points(group=ENTRY_POINTS):
        try:
            section = entry_point.load()
        except Exception as error:  # noqa: BLE001 - a broken distribution must not break the other commands
            warn(f"the commands of {entry_point.value} cannot be loaded: {error}")
            continue
        if isinstance(section, CommandSection):
            yield section
        else:
            warn(f"the commands of {entry_point.value} cannot be loaded: it is not a CommandSection")


@contextmanager
def loading() -> Iterator[None]:
    """Pause garbage collection while modules load: their objects stay, and collection takes a fifth of the time."""
    searched = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        # Both calls together move all objects to the oldest generation without a collection; frozen objects would never
        # be freed.
        gc.freeze()
        gc.unfreeze()
        if searched:
            gc.enable()


def version_options(program: str, distribution: str) -> list[Any]:
    """The option `--version` of a group: prints the program and the version of an installed distribution."""

    def show(is_asked: bool) -> None:  # noqa: FBT001 - typer's signature
        if is_asked:
            typer.echo(f"{program} {version(distribution)}")
            raise typer.Exit

    option = typer.Option(
        "--version",
        is_eager=True,
        expose_value=False,
        allow_from_autoenv=False,  # AEGIS_VERSION may be the tag of an image
        callback=show,
        help="Show the version and exit.",
    )

    def options(*, version: Annotated[bool, option] = False) -> None: ...

    application = typer.Typer(add_completion=False)
    application.command()(options)
    return get_command(application).params


VERDICTS = "aegis.verdicts"
"""Functions of an entry and its file that return a `LocalVerdict`."""

PUBLICATIONS = "aegis.publications"
"""Functions of an entry, its file, the head of its card and whether to accept what it tells with entries before; they
return that in sentences, and a function to call with the published version."""

Keep = Callable[[int | None], None]

VERIFICATIONS = "aegis.verifications"
"""Functions of a delivered file, its request, the evidence and a delimiter that return a `LocalVerification`."""

Verify = Callable[[Path, "DataRequest", "Evidence", str | None], "LocalVerification"]


@dataclass(frozen=True)
class LocalVerdict:
    """The verdict on an entry file.

    Attributes:
        passed: Whether no small count is disclosed, and everything was decided.
        line: The verdict in words; after a failure, with the command that fixes it.
    """

    passed: bool
    line: str


def verdict_on(entry: "EntryDocument", path: Path, *, counts: bool) -> LocalVerdict | None:
    """Return the verdict on an entry; `None`, with a warning, if the provider's package cannot be used.

    Warns about identifiers of persons in any case; without `counts`, the verdict is a pass.

    Raises:
        InputError: The entry contradicts its declared controls.
    """
    for entry_point in entry_points(group=VERDICTS):
        try:
            with loading():
                judge = entry_point.load()
        except Exception as error:  # noqa: BLE001 - a broken distribution must not keep anybody from publishing
            warn(f"verdict not checked here, since {entry_point.value} cannot be loaded: {error}")
            return None
        judged: LocalVerdict = judge(entry, path, counts=counts)
        return judged
    if counts:
        warn(f"verdict not checked here: it comes with the provider's package ({INSTALL}); the service decides")
    return None


APPROVALS = "aegis.approvals"
"""Functions of a client, the id of a request, a configuration to offer instead, and `accept`, that return what the
provider's ledger says of it."""


def ledger_asked(client: "Client", request_id: str, offered: str | None, *, accept: bool) -> list[str]:
    """Return what the ledger of this machine says of a request, in sentences; nothing without the provider's package.

    Raises:
        AegisError: The ledger refuses it.
    """
    ask = _of_provider(APPROVALS, "the ledger was not asked")
    return [] if ask is None else list(ask(client, request_id, offered, accept=accept))


def told_with_others(entry: "EntryDocument", path: Path, *, card: str, accept: bool) -> tuple[list[str], Keep]:
    """Return what an entry tells with those that left before, and a function that keeps it once it is published.

    Nothing is known without the provider's package.

    Raises:
        AegisError: It tells too much, and that is not accepted.
    """
    leaves = _of_provider(PUBLICATIONS, "what left before is not known")
    if leaves is None:
        return [], lambda _: None
    told: tuple[list[str], Keep] = leaves(entry, path, card=card, accept=accept)
    return told


def _of_provider(group: str, without: str) -> Callable[..., Any] | None:
    """Return the function of the provider's package in a group; `None` if it is not there, or broken, which is said."""
    for entry_point in entry_points(group=group):
        try:
            with loading():
                loaded: Callable[..., Any] = entry_point.load()
        except Exception as error:  # noqa: BLE001 - a broken distribution must not keep anybody from their work
            warn(f"{without}, since {entry_point.value} cannot be loaded: {error}")
            return None
        return loaded
    return None


@dataclass(frozen=True)
class LocalVerification:
    """The outcome of a local verification of a file.

    Attributes:
        received: Whether the file is the agreed one.
        verdict: The outcome to post.
        lines: The report for people, including details that are not posted.
        details: Details that are not posted, as JSON.
    """

    received: bool
    verdict: "DeliveryVerdict"
    lines: tuple[str, ...]
    details: dict[str, Any] = field(default_factory=dict)


def verifier() -> "tuple[Verify | None, str]":
    """The function that verifies deliveries, or the reason why there is none."""
    for entry_point in entry_points(group=VERIFICATIONS):
        try:
            with loading():
                return entry_point.load(), ""
        except Exception as error:  # noqa: BLE001 - a broken distribution must not keep anybody from a download
            return None, f"{entry_point.value} cannot be loaded: {error}"
    return None, f"that comes with the provider's package ({INSTALL})"

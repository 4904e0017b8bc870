"""`aegis risk RELEASE --against TABLE`: attacks on a release, by what is known of the table that it was made of."""

from dataclasses import dataclass
from pathlib import Path

import typer

from aegis_provider.cli.options import names_of, page_writer, refuse_contradictions
from aegis_provider.extras import needs_extra
from aegis_provider.plan.reading import load_plan
from aegis_provider.report.text import text_lines
from aegis_provider.synth.attacks import Result, judge, open_case
from aegis_provider.synth.attacks.case import Roles
from aegis_provider.synth.report.attacks import attacks_document, attacks_report
from aegis_provider.table import table_name
from aegis_sdk.cli.terminal import print_result, progress_bar, say


@dataclass(frozen=True)
class Attacked:
    """What the command line says.

    Attributes:
        release: The release.
        table: The table that it was made of.
        plan: The plan that it was made by.
        configuration: The configuration that masked it.
        label: The label.
        quasi_identifiers: What someone may know, between commas.
        sensitive: What nobody should learn, between commas.
        holdout: The share of the records that the release never saw.
        seconds: The time limit.
        html: The page to write.
        delimiter: The delimiter of CSV files, if it is stated.
        memory_limit: The memory limit of DuckDB.
        as_json: Whether to print JSON.
    """

    release: str
    table: str
    plan: Path | None
    configuration: str | None
    label: str | None
    quasi_identifiers: str | None
    sensitive: str | None
    holdout: float | None
    seconds: float
    html: Path | None
    delimiter: str | None
    memory_limit: str
    as_json: bool

    def roles(self) -> Roles:
        """Return the columns by what attackers do with them.

        Raises:
            InputError: The plan says so already, or a configuration is named without a plan.
        """
        named = any(each is not None for each in (self.label, self.quasi_identifiers, self.sensitive))
        refuse_contradictions(self.plan, self.configuration, self.holdout, named=named)
        return Roles(
            self.label,
            names_of("quasi-identifiers", self.quasi_identifiers),
            names_of("sensitive", self.sensitive),
        )


def attack(told: Attacked) -> None:
    """Try all attacks and print what they achieved.

    Raises:
        Exit: An attack works, or cannot be told not to.
        InputError: Options contradict each other.
        AegisError: A table or the plan cannot be used, or a library is missing.
    """
    roles = told.roles()
    with needs_extra("synth"):
        import sklearn  # noqa: F401 - an extra, which is better missed before the work than in the middle
    plan = None if told.plan is None else load_plan(told.plan, configurations_needed=told.configuration is not None)
    write_page = page_writer(told.html, told.release, told.table, *(plan.files if plan else ()))
    say(f"reading {table_name(told.release)} ...")
    opened = open_case(
        told.release,
        told.table,
        plan=plan,
        configuration=told.configuration,
        roles=roles,
        holdout=told.holdout,
        delimiter=told.delimiter,
        memory_limit=told.memory_limit,
    )
    with progress_bar("attacking") as progress:
        judgement = judge(opened.case, told.seconds, progress)
    report = attacks_report(opened, judgement, Path(table_name(told.release)).name, told.seconds)
    write_page(report)
    print_result(attacks_document(opened, judgement), text_lines(report), as_json=told.as_json)
    if judgement.result is not Result.PASS:
        raise typer.Exit(1)

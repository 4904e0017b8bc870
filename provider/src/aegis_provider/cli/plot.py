from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from aegis_provider.extras import needs_extra
from aegis_provider.report.figures import FIGURES, default_figure
from aegis_provider.errors import PlotError
from aegis_provider.output import refuse_overwriting
from aegis_provider.report.figures import FIGURES, Subject, possible, write_figure, write_figures
from aegis_sdk.cli.entry_files import document_of, read
from aegis_sdk.cli.failures import InputError
from aegis_sdk.cli.options import AttributeOption, EntryArgument, JsonOption
from aegis_sdk.cli.show import chosen
from aegis_sdk.cli.terminal import print_json, say
from aegis_sdk.wire import PRIVACY_CRITERIA, Advice, NotJsonError, faults_of, read_json


def plot(
    entry: EntryArgument,
    output: Annotated[Path, typer.Option(help="An image (.svg) or a page of all figures (.html).")],
    advice: Annotated[Path | None, typer.Option(help="The output of `aegis advise ... --limit 10000 --json`.")] = None,
    figure: Annotated[
        str | None,
        typer.Option(
            metavar=f"[{'|'.join(FIGURES)}]",
            help="The figure in an .svg; by default frontier, or lattice without --advice.",
        ),
    ] = None,
    privacy: Annotated[
        str | None, typer.Option(help="Privacy criterion to plot utility against; by default the first that varies.")
    ] = None,
    attribute: AttributeOption = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Draw utility against privacy, costs, and the lattice.

    Shows every configuration by its utility and its privacy, with the frontier of those that no other beats. Also
    shows what each masking costs and which masking can be computed from which.
    """
    from aegis_provider.output import refuse_overwriting

    document = document_of(entry, read(entry))
    asked = None if advice is None else advice_of(advice)
    names = [each.name for each in chosen(entry, document, attribute)] if attribute else None
    whole_page = _is_page(output, figure)
    subject = Subject(document, asked, privacy, names)
    if figure is not None and figure not in FIGURES:
        raise InputError(f"--figure must be one of {', '.join(FIGURES)}, not {figure!r}")
    if privacy is not None and privacy not in PRIVACY_CRITERIA:
        raise InputError(f"--privacy must be one of {', '.join(PRIVACY_CRITERIA)}, not {privacy!r}")
    refuse_overwriting(output, entry, *([advice] if advice else []))
    say(f"drawing {entry} ...")
    try:
        if whole_page:
            drawn = [each.name for each in possible(subject)]
            write_figures(output, subject)
        else:
            drawn = [figure or next(each.name for each in FIGURES.values() if asked or not each.needs_advice)]
            write_figure(output, drawn[0], subject)
    except PlotError as error:
        raise InputError(f"{advice or entry}: {error}") from error
    if as_json:
        print_json({"output": str(output), "figures": drawn})
    else:
        say(f"{output}: {', '.join(drawn)}")


def _is_page(output: Path, figure: str | None) -> bool:
    """Return whether the output is a page, not an image.

    Raises:
        InputError: It is neither, or `--figure` is given for a page.
    """
    kind = output.suffix.lower()
    if kind not in (".html", ".svg"):
        raise InputError(f"{output}: is neither an .svg nor a .html file; name one that is")
    if kind == ".html" and figure is not None:
        raise InputError(f"{output}: a page shows every figure; use --figure with an .svg only")
    return kind == ".html"


def advice_of(path: Path) -> Advice:
    """Read the finished advice in a file, as `aegis advise ... --json` prints it.

    Raises:
        InputError: The file contains no finished advice, or a coarse one.
    """
    try:
        document = read_json(read(path))
        if isinstance(document, dict) and document.get("view") == "coarse":
            raise InputError(f"{path}: the answer is coarse, without utilities; ask with a key of the entry's provider")
        advice = Advice.model_validate(document)
    except NotJsonError as error:
        raise InputError(f"{path}: not JSON: {error}; give the output of `aegis advise ... --json`") from error
    except ValidationError as error:
        fault = faults_of(error)[0]
        raise InputError(f"{path}: {fault.pointer or 'the advice'}: {fault.detail}") from error
    if advice.status != "succeeded":
        raise InputError(f"{path}: the advice is {advice.status}; ask again with `aegis advise ... --json`")
    return advice

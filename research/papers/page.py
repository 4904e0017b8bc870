"""The words and the folder of the page."""

from research.report import image, link

FOLDER = "papers"
"""The folder of the plots and tables, beside the page."""

COMMAND = "python -m research.papers --adult FOLDER"


def shown(name: str, alt: str) -> str:
    """Return the Markdown that shows a plot of this page."""
    return image(name, alt, FOLDER)


def linked(name: str, words: str) -> str:
    """Return the Markdown that links to a table of this page."""
    return link(name, words, FOLDER)


def head(splits: int, *, short: bool) -> str:
    """Return the title and what the page is."""
    warning = "**This is the short form: tiny tables, few configurations.**\n\n" if short else ""
    return f"""\
# The founding papers: their figures and claims

{warning}The papers are **000**, Aegis (SIGMOD 2025); **001**, independence masking (ICDE 2010); **002**, generated
tables (WSDM 2021); **003**, a draft of 000. Only their texts are at hand, without pictures, and that of 000 ends in its
section 5.1. So figures have their names and our values, which cannot be compared with theirs. `{COMMAND}`
writes this page; without the option, Adult is left out. Models are those of [the
evaluation](evaluation.md#how-it-was-done), on {splits} random halves; ± is the half-width of a 95 % interval over
these."""

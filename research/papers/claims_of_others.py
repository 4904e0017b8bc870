"""The claims of the note on independence masking (001), and of the paper on generated tables (002)."""

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from research.papers.claims import FAILS, GENERATION, HOLDS, TESTS, UNJUDGED, Claim, counted
from research.papers.hiding_page import Measured, example_stars, joined, kept_share, worst_ratio

RESULTS = Path(__file__).parents[1] / "results"
MEMBERS = 0.1
"""A share of records that is a significant portion."""

NEAR = 0.05
"""An accuracy this far below that of the original is close to it."""

MIXED = 0.5
"""The share of generated points whose nearest point is real, if both are mixed."""


def of_hiding(measured: Sequence[Measured]) -> dict[str, list[Claim]]:
    """Return the claims of the note."""
    every = [each for one in measured for each in one.every]
    restored = [joined(one.every[0].case.table, one.every[0].case) for one in measured]
    stars, worst = example_stars(), worst_ratio()
    return {
        "001, sections I to IV": [
            counted(
                "I",
                f"two tables that share C, joined, restore a significant portion (over {MEMBERS:g}) of the records",
                [share > MEMBERS for share in restored],
                "tables; " + ", ".join(f"{share:.1%}" for share in restored) + " are alone with their C",
            ),
            counted(
                "III, equation 1",
                "A and the clusters are exactly independent",
                [each.independent for each in every],
                "maskings, checked in whole numbers",
            ),
            Claim("IV, example 1", "six stars suffice", HOLDS if stars == 6 else FAILS, f"stars: {stars}", TESTS),
            Claim("IV, example 2", "two clusters of points", UNJUDGED, "the points are in its picture only"),
            counted(
                "IV",
                "correlations B and C are kept: all rules of C, and of clusters with C",
                [kept_share(each, kind) == 1 and not each.rules[kind].new for each in every for kind in ("C", "BC")],
                "maskings and kinds",
            ),
            counted(
                "IV",
                "a larger u captures correlation BC better (bits never fall)",
                [one.rises("clusters") for one in measured],
                "tables; " + ", ".join(_rise(one) for one in measured) + " bits from the fewest to the most clusters",
            ),
        ],
        "001, sections IV and V": [
            Claim(
                "IV",
                "in the worst case all values must be masked",
                HOLDS if worst == 1 else FAILS,
                f"masked: {worst:.0%}",
            ),
            counted(
                "V",
                "approximations of at most u - 1 and d times the fewest stars (here, of a lower bound)",
                [
                    stars <= most * each.bound
                    for each in every
                    for stars, most in (
                        (each.stars["matching"], each.case.clusters - 1),
                        (each.stars["identical"], each.case.attributes),
                    )
                ],
                "maskings and solvers; `best` needs at most"
                f" {max(each.stars['best'] / each.bound for each in every):.2f} times the bound",
            ),
            Claim("V", "the fewest stars are NP-hard to find", UNJUDGED, "a proof, which only the full version has"),
            counted(
                "V",
                "association rules can still be mined: half of those between A and C are kept",
                [kept_share(each, "AC") >= 0.5 for each in every],
                f"maskings; from {min(kept_share(each, 'AC') for each in every):.0%} to"
                f" {max(kept_share(each, 'AC') for each in every):.0%}",
            ),
            counted(
                "I, III",
                "none between A and B can",
                [not each.rules["AB"].kept and not each.rules["AB"].new for each in every],
                f"maskings; {sum(each.rules['AB'].before for each in every)} such rules before",
            ),
        ],
    }


def _rise(one: Measured) -> str:
    line = one.by_axis["clusters"]
    return f"{line[0].told:.3f} to {line[-1].told:.3f}"


Row = Mapping[str, str]


def of_generation(page: Path = RESULTS / "generation_figures.md") -> dict[str, list[Claim]]:
    """Return the claims of 002, judged by the figures of the page that `make evaluate-synth` wrote."""
    figures = _Figures(page)
    return {
        "002, quality and privacy": [*_quality(figures), *_reidentification(figures), *_disclosure(figures)],
        "002, worth": _worth(figures),
    }


_TABLES = re.compile(r"^\[A table of \d+ rows\]\((\S+)\)|((?:^\|.*\n){3,})", re.MULTILINE)


class _Figures:
    """The tables of a page, long ones from the files beside it, in the page's order."""

    def __init__(self, page: Path) -> None:
        found = _TABLES.finditer(page.read_text(encoding="utf-8"))
        self.tables = [_read(page.parent / one[1]) if one[1] else _inline(one[2]) for one in found]

    def of(self, *columns: str) -> list[list[Row]]:
        """Return the tables that begin with these columns."""
        return [rows for rows in self.tables if list(rows[0])[: len(columns)] == list(columns)]


def _read(file: Path) -> list[Row]:
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def _inline(text: str) -> list[Row]:
    columns, _, *lines = ([cell.strip() for cell in line.strip("| ").split(" | ")] for line in text.splitlines())
    return [dict(zip(columns, line, strict=True)) for line in lines]


def _number(cell: str) -> float:
    return float(re.sub(r"[^0-9.-]", "", cell.split(" ", maxsplit=1)[0]))


def _interval(cell: str) -> tuple[float, float]:
    low, high = re.findall(r"\((-?[\d.]+) to (-?[\d.]+)\)", cell)[0]
    return float(low), float(high)


def _quality(figures: _Figures) -> list[Claim]:
    nearest = "generated points whose nearest point is real"
    mixed = [row[nearest] for rows in figures.of("table", "release", nearest) for row in rows]
    differences = [row for rows in figures.of("table", "release", "within the box") for row in rows]
    aware = [row for row in differences if row["release"] == "privacy only"]
    trainings = [row for rows in figures.of("table", "training") for row in rows]
    most = max(_number(row["iterations"]) for row in trainings)
    return [
        counted(
            "3, figure 3",
            "generated points are distributed as the original ones (by t-SNE, half of them next to a real one)",
            [low <= MIXED <= high for low, high in map(_interval, mixed)],
            "releases; " + ", ".join(cell.split(" ")[0] for cell in mixed),
            GENERATION,
        ),
        counted(
            "3, figure 3",
            "associations change where privacy is asked for (over twice as much as elsewhere), others stay (to 0.1)",
            [
                met
                for row in aware
                for met in (float(row["within the box"]) > 2 * float(row["outside"]), float(row["outside"]) < 0.1)
            ],
            "tables and parts; " + ", ".join(f"{row['within the box']} and {row['outside']}" for row in aware),
            GENERATION,
        ),
        Claim(
            "3, figure 3",
            "the Fréchet distance is stable after 5,000 iterations",
            UNJUDGED,
            f"trainings here end after {most:,.0f} at most, stable within a tenth since"
            f" {max(_number(row['stable after']) for row in trainings):,.0f}",
            GENERATION,
        ),
    ]


def _reidentification(figures: _Figures) -> list[Claim]:
    attacks = [row for rows in figures.of("known", "epsilon") for row in rows]
    persons = [_number(row["privacy only, epsilon = 3"]) for row in attacks]
    below = [_number(row["privacy only"]) < 0.1 * many for row, many in zip(attacks, persons, strict=True)]
    success = [[_number(row["privacy only"]) for row in rows] for rows in figures.of("known", "epsilon")]
    fewer = [(_number(row["privacy only"]), _number(row["unconstrained"])) for row in attacks]
    turned = _private_only(figures)
    return [
        counted(
            "3, figure 2",
            "less than 10 % are re-identified (epsilon = 3; here another, since with 3 all are)",
            below,
            "numbers of known quasi-identifiers",
            GENERATION,
        ),
        counted(
            "3, figure 2",
            "fewer are re-identified than from unconstrained generation, if any are",
            [private < free for private, free in fewer if free],
            "numbers of known quasi-identifiers",
            GENERATION,
        ),
        counted(
            "3, figure 2",
            "more are re-identified by who knows more, from the fewest to all quasi-identifiers",
            [each[-1] > each[0] for each in success],
            "tables; " + ", ".join(f"{each[0]:.0f} to {each[-1]:.0f}" for each in success) + " persons",
            GENERATION,
        ),
        counted(
            "3, figure 2",
            "more privacy weight reduces re-identification further",
            [_number(rows[-1]["re-identified"]) < _number(rows[0]["re-identified"]) for rows in turned],
            "tables; " + ", ".join(_ends(rows, "re-identified") for rows in turned) + " of the persons",
            GENERATION,
        ),
    ]


def _disclosure(figures: _Figures) -> list[Claim]:
    leaks = [{row["release"]: row for row in rows} for rows in figures.of("release", "precision")]
    recalls = [
        (_interval(each["privacy only"]["recall"])[0], _number(each["always the most frequent"]["recall"]))
        for each in leaks
    ]
    return [
        counted(
            "3, figure 2",
            "guesses of the secret have less precision and recall than from unconstrained generation",
            [
                _number(each["privacy only"][name]) < _number(each["unconstrained"][name])
                for each in leaks
                for name in ("precision", "recall")
            ],
            "tables and figures",
            GENERATION,
        ),
        counted(
            "3, figure 2",
            "a secret value is guessed no better than at random",
            [low <= guess for low, guess in recalls],
            "tables; recall "
            + ", ".join(each["privacy only"]["recall"].split(" ")[0] for each in leaks)
            + " against "
            + ", ".join(f"{guess:.3f}" for _, guess in recalls),
            GENERATION,
        ),
    ]


def _private_only(figures: _Figures) -> list[list[Row]]:
    """Return for each table the positions of the knobs without any value, by rising privacy."""
    return [[row for row in rows if row["value"] == "0"] for rows in figures.of("privacy", "value")]


def _ends(rows: Sequence[Row], name: str) -> str:
    return " to ".join(row[name].split(" ")[0] for row in (rows[0], rows[-1]))


def _worth(figures: _Figures) -> list[Claim]:
    reached = [
        [_number(row[name]) for name in ("original", "privacy only", "privacy and value")]
        for rows in figures.of("table", "model", "metric")
        for row in rows
        if row["metric"] == "accuracy"
    ]
    regression = "logistic regression"
    beside = [{row["release"]: row[regression] for row in rows} for rows in figures.of("release", regression)]
    rivals = [
        _number(each["privacy and value"]) > _number(each[rival])
        for each in beside
        for rival in ("k = 5", "t = 0.01", "epsilon 1, delta 1e-6")
        if each[rival] != "-"
    ]
    turned = _private_only(figures)
    return [
        counted(
            "3, figure 4",
            "accuracy falls with the privacy knob, and rises again with the value knob",
            [met for original, private, both in reached for met in (private < original, both > private)],
            "tables, models and knobs; it rises in"
            f" {sum(both > private for _, private, both in reached)} of {len(reached)}",
            GENERATION,
        ),
        counted(
            "3, figure 4",
            f"with both knobs accuracy is close to that of the original (within {NEAR:g})",
            [original - both <= NEAR for original, _, both in reached],
            f"tables and models; behind by {min(original - both for original, _, both in reached):.3f} to"
            f" {max(original - both for original, _, both in reached):.3f}",
            GENERATION,
        ),
        counted(
            "3, figure 4",
            "it is better than k = 5, t = 0.01 and epsilon 1 (AUC of logistic regression)",
            rivals,
            "tables and rivals; both knobs reach "
            + ", ".join(each["privacy and value"].split(" ")[0] for each in beside),
            GENERATION,
        ),
        counted(
            "1, 4",
            "the privacy knob trades worth for privacy: AUC and exact copies fall",
            [_number(rows[-1][name]) < _number(rows[0][name]) for rows in turned for name in ("AUC", "exact copies")],
            "tables and figures; AUC " + ", ".join(_ends(rows, "AUC") for rows in turned),
            GENERATION,
        ),
    ]

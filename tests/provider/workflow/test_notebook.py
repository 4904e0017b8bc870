"""The example notebook: its cells run, and the release shows its card."""

from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.long
def test_every_cell_runs_and_the_card_is_shown():
    # They take seconds to import, for which every run of the tests would wait.
    import nbformat  # noqa: PLC0415
    from nbclient import NotebookClient  # noqa: PLC0415

    notebook = nbformat.read(EXAMPLES / "release.ipynb", as_version=4)
    NotebookClient(notebook, timeout=None, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    headline, card, rows, frontier = [
        cell.outputs[-1]["data"] for cell in notebook.cells if cell.cell_type == "code" and cell.outputs
    ]
    assert "of what the table tells about health" in headline["text/plain"]
    assert "<h1>Release card of" in card["text/html"]
    assert rows["text/plain"].count("'health'") == 3
    assert frontier["text/plain"].startswith("{5: 0.")

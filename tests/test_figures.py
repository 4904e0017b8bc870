"""The figures of the documents are drawn from the sources beside them."""

from hashlib import sha1
from pathlib import Path

import pytest

TEXTS = sorted((Path(__file__).parents[1] / "docs" / "figures").glob("*.dot"))


def test_there_are_figures():
    assert TEXTS


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.stem)
def test_a_figure_is_drawn_from_its_text(text):
    content = text.read_bytes()
    digest = sha1(b"blob %d\0" % len(content) + content).hexdigest()  # as `git hash-object` computes it
    drawn = text.with_suffix(".svg").read_text(encoding="utf-8")
    assert f"drawn from text of git hash {digest}" in drawn, "make figures draws it anew"

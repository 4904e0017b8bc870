"""The documents' figures are drawn from the texts next to them."""

from hashlib import sha1
from pathlib import Path

TEXTS = sorted((Path(__file__).parents[1] / "docs" / "figures").glob("*.dot"))


def test_a_figure_is_drawn_from_its_text():
    assert TEXTS
    for text in TEXTS:
        content = text.read_bytes()
        digest = sha1(b"blob %d\0" % len(content) + content).hexdigest()  # as git hash-object has it
        drawn = text.with_suffix(".svg").read_text(encoding="utf-8")
        assert f"drawn from text of git hash {digest}" in drawn, f"`make figures` draws {text.name} again"

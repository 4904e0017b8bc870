"""The older encoding of a text, by the letters of its words."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

OLDER: Final = {"cp1252": "Windows-1252", "mac_roman": "Mac Roman", "cp1250": "Windows-1250"}
"""The names of the encodings. In doubt, the first."""

_USUAL: Final = "cp1252"
_LOOKED_AT: Final = 20_000
_NEARLY_ALL: Final = 0.95
_CLEARLY: Final = 0.1

_EVERYWHERE: Final = "äöüßéºªµ"  # in names, loanwords and abbreviations
_WESTERN: Final = (
    "",
    "àâæçèêëîïôœùûÿ",
    "áíóúñçàèòï",
    "áàâãçêíóôõú",
    "àèìíòóùú",
    "åæøóôêè",
    "áíóúýþðæ",
    "èëïáóúíêç",
)
_CENTRAL: Final = ("ąćęłńóśźż", "áčďěíĺľňóôŕřšťúůýž", "áíóőúű", "čćđšž", "ăâîşţ")
_LANGUAGES: Final = {"cp1252": _WESTERN, "mac_roman": _WESTERN, "cp1250": _CENTRAL}
"""The non-ASCII letters of each language written in the encoding."""

_IN_WORDS: Final = "\u2019\u2013\u2014"  # the apostrophe and the dashes of word processors


def encoding_by_letters(text: bytes) -> str:
    """Return the encoding of a text that is not UTF-8: Windows-1252, unless another one clearly fits a language.

    Greek and Cyrillic encodings are not supported.
    """
    shares = {encoding: _share(text.decode(encoding, "replace"), _LANGUAGES[encoding]) for encoding in OLDER}
    likely = max(shares, key=shares.__getitem__)
    return likely if shares[likely] >= max(_NEARLY_ALL, shares[_USUAL] + _CLEARLY) else _USUAL


def _share(text: str, languages: tuple[str, ...]) -> float:
    """Return the share of the words' non-ASCII letters in the best-fitting language; 1 without any."""
    letters = list(islice(_letters_of_words(text), _LOOKED_AT))
    alphabets = [frozenset(_EVERYWHERE + language) for language in languages]
    return (
        max(sum(letter in alphabet for letter in letters) for alphabet in alphabets) / len(letters) if letters else 1.0
    )


def _letters_of_words(text: str) -> Iterator[str]:
    """Yield the non-ASCII characters next to a letter, in lower case, except marks.

    A capital after a small letter is not a letter of a word.
    """
    for match in re.finditer(r"[^\x00-\x7f]", text):
        place, letter = match.start(), match.group()
        before, after = text[max(0, place - 1) : place].isalpha(), text[place + 1 : place + 2].isalpha()
        is_mark = letter in _IN_WORDS or not (letter.isalpha() or (before and after))
        if not is_mark and (before or after):
            yield "" if letter.isupper() and text[place - 1].islower() else letter.lower()

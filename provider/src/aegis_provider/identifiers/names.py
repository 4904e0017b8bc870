"""Recognises names of persons: by lists of common names, by form, and by preceding words."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’ʼ`-][^\W\d_]+)*")

#: Texts without a match contain no recognisable name of a person.
MAY_BE_NAMED: Final = r"\p{L}[\p{L}\p{M}'’-]*[.,]* +\p{L}[\p{L}\p{M}'’-]+|[\p{Han}\p{Hangul}]{2}"


_SURNAMES_OF_ASIA: Final = frozenset(
    "王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何高林罗羅郑鄭梁谢謝宋唐许許邓鄧韩韓冯馮曹彭曾肖田董袁潘于蒋蔣蔡余杜叶葉"
    "程苏蘇魏吕呂丁任沈姚卢盧姜崔钟鍾谭譚陆陸汪范金石廖贾賈夏韦方白邹鄒孟熊秦邱江尹薛闫段雷侯龙龍史陶黎贺顾顧毛郝龚邵万钱严"
    "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민나진지엄채원천방공현함변염여추도소석선설마길연위표명기반"
)


def normalised(word: str) -> str:
    """Return a word in lower case and without accents, as in the lists."""
    bare = "".join(
        letter for letter in unicodedata.normalize("NFD", word.casefold()) if not unicodedata.combining(letter)
    )
    return unicodedata.normalize("NFC", bare)


@cache
def _list(name: str) -> frozenset[str]:
    text = files(__package__).joinpath("word_lists", f"{name}.txt").read_text(encoding="utf-8")
    return frozenset(" ".join(line for line in text.splitlines() if not line.startswith("#")).split())


@cache
def _unambiguous(name: str) -> frozenset[str]:
    return _list(name) - _list("ordinary")


def is_first(word: str) -> bool:
    """Return whether a normalised word is a common and nearly unambiguous first name."""
    return word in _unambiguous("first") or (
        "-" in word and all(part in _unambiguous("first") for part in word.split("-"))
    )


def is_last(word: str) -> bool:
    """Return whether a normalised word is a common and nearly unambiguous surname."""
    return word in _unambiguous("last") or (
        "-" in word and any(part in _unambiguous("last") for part in word.split("-"))
    )


# Endings of surnames, to recognise those missing from the lists.
_ENDS: Final = (
    "mann|berg|berger|stein|huber|bauer|meier|maier|mayer|meyer|hofer|maker|field|fields|ford|worth|shaw|ston|ington|wood"
    "|house|bridge|son|sson|sen|dottir|qvist|quist|strom|gren|lund|dahl|vik|nen|lainen|ski|ska|sky|skyy|cki|cka|wicz|czyk|czak|iak"
    "|ov|ova|ev|eva|enko|chuk|yuk|ic|vic|escu|eanu|ez|ini|etti|elli|ucci|ello|acci|oni|poulos|poulou|akis|idis|iadis|oglu|yan"
    "|ian|shvili|dze|aite|auskas|iene|eau|oux|ault|ard|ier|ez|huis|stra|sma|veld|hoven|kamp|wala|kar|swamy|nathan"
    "|ов|ова|ев|ева|ин|ина|ский|ская|енко|чук|вич|вна|ич|опулос|όπουλος|οπουλοσ|ακησ|ιδησ|ιδου|ου|ησ"
)
_LIKE_LAST: Final = re.compile(rf"[^\W\d_]{{2,}}(?:{_ENDS})")


def is_like_last(word: str) -> bool:
    """Return whether a normalised word ends like a surname and is not an ordinary word."""
    return len(word) >= 5 and _LIKE_LAST.fullmatch(word) is not None and word not in _list("ordinary")


def names_in(text: str) -> Iterator[str]:
    """Yield the names of persons in a text: a first name and a surname, capitalised, or a title and a name."""
    words = list(_WORD.finditer(text))
    plain = [normalised(word[0]) for word in words]
    taken = -1
    for place in range(len(words) - 1):
        if place <= taken:
            continue
        after = _next_name(words, plain, place)
        between = text[words[place].end() : words[place + 1].start()]
        if after is None or len(between) > 3 or not set(between) <= set(" .,\u00a0"):
            continue
        if _is_titled(words, plain, place, after) or _is_person(words, plain, place, after):
            taken = after
            yield text[words[place].start() : words[after].end()]


def _next_name(words: Sequence[re.Match[str]], plain: Sequence[str], place: int) -> int | None:
    """Return the place of the next word, at most three words on, that is neither a particle nor an initial."""
    for after in range(place + 1, min(place + 4, len(words))):
        if plain[after] not in _list("particles") and len(plain[after]) > (1 if words[after][0][0] < "\u0250" else 0):
            return after
    return None


def _is_capitalised(word: str) -> bool:
    return word[0].isupper() or not word[0].islower()  # scripts without case count as capitalised


# Ambiguous titles, such as `Fr` for francs: a known name must follow.
_WEAK_TITLES: Final = frozenset({"fr", "m", "mag", "ing"})


def _is_titled(words: Sequence[re.Match[str]], plain: Sequence[str], place: int, after: int) -> bool:
    name = plain[after]
    if not _is_capitalised(words[after][0]):
        return False
    if plain[place] in _WEAK_TITLES and after == place + 1:
        return _is_capitalised(words[place][0]) and (is_last(name) or is_like_last(name))
    if plain[place] not in _list("titles"):
        return False
    is_known = is_first(name) or is_last(name) or name in _list("last")
    return is_known or (len(name) > 2 and name not in _list("ordinary") and words[after][0][1:].islower())


def _is_person(words: Sequence[re.Match[str]], plain: Sequence[str], place: int, after: int) -> bool:
    one, other = plain[place], plain[after]
    is_of_a_place = place > 0 and plain[place - 1] in _list("before_places")
    is_of_a_thing = after + 1 < len(plain) and plain[after + 1] in _list("after_places")
    if (
        one == other
        or is_of_a_place
        or is_of_a_thing
        or one in _list("before_places")
        or other in _list("after_places")
    ):
        return False
    is_after_cue = place > 0 and plain[place - 1] in _list("before_persons")
    if not (_is_capitalised(words[place][0]) and _is_capitalised(words[after][0])):
        return is_after_cue and is_first(one) and is_last(other)
    if _are_both(one, other) or _are_both(other, one):
        return True
    is_in_a_note = is_after_cue and words[place - 1][0].islower() and min(len(one), len(other)) > 2
    return is_in_a_note and any(
        word in _list("first") or word in _list("last") or is_like_last(word) for word in (one, other)
    )


def _are_both(first: str, last: str) -> bool:
    """Return whether these are a first name and a surname, one of them nearly unambiguous."""
    certain_first, certain_last = is_first(first), is_last(last)
    return (certain_first and (last in _list("last") or is_like_last(last))) or (
        certain_last and first in _list("first")
    )


_INITIALS: Final = re.compile(
    r"(?:[^\W\d_]\.[ -]?){1,3}(?:[^\W\d_]+[ '’-]?){1,4}|(?:[^\W\d_]+[ '’-]?){1,4},? (?:[^\W\d_]\.[ -]?){1,3}"
)


def is_made_of_names(word: str) -> bool:
    """Return whether a word begins or ends with a name, like many user names: `annahuber`, `huber74`."""
    letters = normalised(word).strip("0123456789._-")
    parts = re.split(r"[\d._-]+", letters)
    if any(len(part) > 2 and (is_first(part) or is_last(part)) for part in parts):
        return True
    ends = (part for place in range(4, len(letters)) for part in (letters[:place], letters[-place:]))
    return any(part in _unambiguous("first") or part in _unambiguous("last") for part in ends)


def are_names(texts: Sequence[str], *, is_named_so: bool = False, records_per_value: float = 1) -> bool:
    """Return whether most of these distinct texts are names of persons."""
    split = [[normalised(word) for word in _WORD.findall(text)] for text in texts]
    shaped = [
        words
        for text, words in zip(texts, split, strict=True)
        if 1 <= len(words) <= 6 and not re.search(r"[\d@\\_:;+=<>%$&]", text)
    ]
    if len(shaped) < 0.8 * len(texts) or not shaped:
        return False
    number = len(shaped)
    whole = sum(map(_has_both, shaped)) / number
    known = sum(any(is_first(word) or is_last(word) for word in words) for words in shaped) / number
    likely = (
        sum(any(is_first(word) or is_last(word) or is_like_last(word) for word in words) for words in shaped) / number
    )
    several = sum(len(words) > 1 for words in shaped) / number
    asian = sum(map(_is_asian, texts)) / len(texts)
    if is_named_so and (known >= 0.1 or whole >= 0.05 or asian >= 0.5):
        return True
    if number >= 8 and sum(bool(_INITIALS.fullmatch(text)) and text[0].isupper() for text in texts) >= 0.8 * len(texts):
        return True
    if several >= 0.7:
        return whole >= 0.15 or known >= 0.5 or (known >= 0.2 and likely >= 0.5 and records_per_value < 3)
    if number >= 100 and records_per_value < 1.5 and known >= 0.2:
        return True  # nearly unique, unlike towns and trades
    return number >= 8 and (known >= 0.5 or (known >= 0.25 and likely >= 0.6) or asian >= 0.8)


def _has_both(words: Sequence[str]) -> bool:
    firsts = {place for place, word in enumerate(words) if is_first(word)}
    lasts = {place for place, word in enumerate(words) if is_last(word) or is_like_last(word)}
    return bool(firsts and lasts) and len(firsts | lasts) > 1


def _is_asian(text: str) -> bool:
    bare = text.replace(" ", "").replace("\u3000", "")
    return (
        2 <= len(bare) <= 6
        and ord(bare[0]) >= 0x3040
        and (
            bare[0] in _SURNAMES_OF_ASIA
            or bare[:2] in _list("last")
            or bare[:3] in _list("last")
            or bare in _list("first")
        )
    )

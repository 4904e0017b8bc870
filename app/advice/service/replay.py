"""Replays: recomputing an answer from the stored version, and comparing it with the stored one bit for bit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from aegis_advisor import MODEL_VERSION
from app.advice.model import Advice, PackedReference, Status
from app.advice.service.advice_input import AdviceInput
from app.advice.service.computation import ReferenceInput
from app.advice.service.tasks import label_place
from app.advice.service.work import input_of
from app.advice.store.advice import AdviceStore, QuestionStore
from app.advice.store.references import ReferenceStore
from app.entries.model.documents import decompress
from app.entries.store.contents import ContentStore
from app.entries.store.entries import EntryStore
from app.platform.callers import DEVELOPER
from app.platform.database.arrays import unpack
from app.platform.errors import InvalidDocumentError, NotFoundError, pointer
from app.tenants.model import RequiredPrivacy


@dataclass(frozen=True, slots=True)
class Replay:
    """An answer and its input.

    Attributes:
        counts: the input of the references; None if the answer needs none.
        stored: the stored references of the version, by the model of the answer.
        given: the input of the answer, without references.
        policy: the current requirements for configurations.
    """

    advice: Advice
    counts: ReferenceInput | None
    stored: tuple[PackedReference, ...]
    given: AdviceInput
    policy: RequiredPrivacy

    def differences(self, references: Sequence[PackedReference], result: bytes) -> Iterator[str]:
        """The differences between stored and recomputed results, one sentence each, without counts."""
        if self.advice.model_version != MODEL_VERSION:
            yield f"model version: stored {self.advice.model_version}, computed {MODEL_VERSION}"
        for stored, computed in zip_longest(self.stored, references):
            place = label_place((stored or computed).attribute)[1]
            if stored is None or computed is None or _bits(stored) != _bits(computed):
                yield f"reference of {self.given.outline[place].name}: {_about(stored)}"
        stored_answer, computed_answer = decompress(self.advice.result or b""), decompress(result)
        if "names" not in stored_answer:  # as before configurations had names, which tell nothing new
            computed_answer.pop("names")
        for where in differing(stored_answer, computed_answer):
            yield f"answer: {where or 'all of it'}"

    def notes(self, required: RequiredPrivacy) -> Iterator[str]:
        """Changes since the answer that would make a new one different.

        Args:
            required: the service's current privacy requirements.
        """
        asked, now = self.advice.question.policy, required.stricter_of(self.policy)
        if asked != now:
            then = f"{asked or 'nothing'} was required then"
            yield f"policy: {then}, {now or 'nothing'} is now; this answer uses the former"


def _about(stored: PackedReference | None) -> str:
    if stored is None:
        return "none is stored"
    if not stored.certificate.converged:
        return "the stored one had not converged, so AEGIS_RECONSTRUCTION_SECONDS affects the result"
    return "recomputed from the counts, it differs"


def _bits(reference: PackedReference) -> tuple[Any, ...]:
    arrays = {
        name: (packed.dtype, tuple(packed.shape), unpack(packed, narrow=True).tobytes())
        for name, packed in reference.arrays.items()
    }
    return reference.attribute, arrays, reference.information_bound, reference.certificate, dict(reference.ceilings)


def differing(stored: object, computed: object, *path: str | int) -> Iterator[str]:
    """The places, as JSON Pointers, where two JSON values differ: numbers by their bits, lists in their order."""
    if isinstance(stored, dict) and isinstance(computed, dict):
        for name in [*stored, *(name for name in computed if name not in stored)]:
            if name in stored and name in computed:
                yield from differing(stored[name], computed[name], *path, name)
            else:
                yield pointer(*path, name)
    elif isinstance(stored, list) and isinstance(computed, list) and len(stored) == len(computed):
        for place, (one, other) in enumerate(zip(stored, computed, strict=True)):
            yield from differing(one, other, *path, place)
    elif repr(stored) != repr(computed):  # 1 and 1.0, 0.0 and -0.0 are equal, but have different bits
        yield pointer(*path)


@dataclass(frozen=True, slots=True)
class ReplayService:
    """Loads answers for replays."""

    _advice: AdviceStore
    _questions: QuestionStore
    _entries: EntryStore
    _contents: ContentStore
    _references: ReferenceStore

    async def load(self, advice_id: str) -> Replay:
        """An answer by the caller's id of the question, or by its own id.

        Raises:
            NotFoundError: there is no such advice, or its version has just been deleted.
            InvalidDocumentError: it has no answer.
        """
        question = await self._questions.find(advice_id)
        advice = await self._advice.find(advice_id if question is None else question.advice_id)
        if advice is None:
            raise NotFoundError(f"There is no advice {advice_id}.")
        if advice.status is not Status.SUCCEEDED:
            raise InvalidDocumentError(f"The advice {advice_id} is {advice.status.value}, so there is no answer.")
        frame = await self._contents.hold(advice.version_id)
        schema = await self._contents.schema(advice.version_id)
        head = await self._entries.find(DEVELOPER, advice.entry_id, advice.version)
        if frame is None or schema is None or head is None:
            raise NotFoundError("The version that this advice is about has just been deleted.")
        given, first = await input_of(self._contents, advice, frame, schema)
        places, label = given.places, given.label_place
        counts = given.count_tables
        if label is None:
            counts = await self._contents.count_tables(advice.version_id, places)
        numbers = [first + place for place in places]
        return Replay(
            advice,
            ReferenceInput(schema, places, counts, label) if places else None,
            await self._references.load(advice.version_id, advice.model_version, numbers) if places else (),
            given,
            head.policy.required_privacy,
        )

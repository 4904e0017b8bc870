"""Entries between check and publication. The page of the check contains the file and the service stores nothing, so
nothing is half published, and the file need not be chosen again.
"""

import binascii
import gzip
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from aegis_sdk import wire
from app.entries.api.mapping import visibility_of
from app.entries.model.entries import Visibility
from app.entries.pages.entry_upload import EntryUpload
from app.pages.fields import validated_as
from app.pages.forms import Form
from app.platform.errors import InvalidDocumentError
from app.platform.http.codings import CodingError, InflatedSizeError, Inflater
from app.platform.http.refusals import BodyTooLargeError, MalformedRequestError

_DAMAGED = "The form has lost the entry file. Choose the file again."


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry file with the decisions about it so far.

    Attributes:
        file: the name of the file.
        document: its content.
        entry_id: the entry for a new version; empty for a new entry, or if the file's name decides.
        seen: the state of that entry at the provider's decision (`state_of`).
        audience: the audience of a new entry: `private`, `all` or `tenants`; empty if the file has it.
        tenants: their names, separated by line breaks or commas.
        accepts_small_counts: whether its small counts are accepted.
        accepts_unique: whether its large share of lone records is accepted.
    """

    file: str
    document: bytes
    entry_id: str = ""
    seen: str = ""
    audience: str = ""
    tenants: str = ""
    accepts_small_counts: bool = False
    accepts_unique: bool = False

    @classmethod
    def of_upload(cls, upload: EntryUpload) -> "Draft":
        """The draft of a newly chosen file."""
        return cls(upload.file, upload.document, upload.form.text("version_of"))

    def packed(self) -> str:
        """The content as a field of a form. Slow for large entries."""
        return urlsafe_b64encode(gzip.compress(self.document, 2)).decode()

    def visibility(self) -> Visibility | None:
        """The visibility of a new entry; None if the file has it.

        Raises:
            InvalidDocumentError: no tenant is named, or a name is invalid.
        """
        if not self.audience:
            return None
        names = [name.strip() for name in self.tenants.replace(",", "\n").splitlines() if name.strip()]
        if self.audience == "tenants" and not names:
            raise InvalidDocumentError("Name the tenants that may see the entry, or choose another visibility.")
        asked = {"tenants": names} if self.audience == "tenants" else self.audience
        return visibility_of(validated_as(wire.VisibilityPatch, {"visibility": asked}).visibility)


def read_draft(form: Form, limit: int) -> Draft:
    """The draft in the form of a check. Slow for large entries.

    Raises:
        MalformedRequestError: the form was changed in transit.
        BodyTooLargeError: the file has more than `limit` bytes.
    """
    return Draft(
        form.text("file"),
        _unpacked(form.text("document"), limit),
        form.text("entry_id"),
        form.text("seen"),
        form.text("audience"),
        form.text("tenants"),
        form.has("accept_small_counts"),
        form.has("accept_unique"),
    )


def _unpacked(packed: str, limit: int) -> bytes:
    inflater = Inflater(limit)
    try:
        document = b"".join(inflater.feed(urlsafe_b64decode(packed)))
    except InflatedSizeError:
        raise BodyTooLargeError(f"The file has more than {limit} bytes, the most that are accepted.") from None
    except (CodingError, binascii.Error, ValueError):
        raise MalformedRequestError(_DAMAGED) from None
    if not inflater.is_complete:
        raise MalformedRequestError(_DAMAGED)
    return document

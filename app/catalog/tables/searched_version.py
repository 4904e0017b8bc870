import uuid

from sqlalchemy import ForeignKey, Index, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from app.catalog.tables.base import Base

#: The pending list of a GIN index would be read by each search.
_AT_ONCE = {"fastupdate": "false"}


class SearchedVersionRow(Base):
    """What searches read of a version that somebody is shown, or will be: the released version and those after it.

    `text` is its name, title and keywords in lower case, each on a line. `facets` are what it has in full, such as
    `keyword:health` and `attribute:age`.
    """

    __tablename__ = "searched_version"
    __table_args__ = (
        UniqueConstraint("entry_id", "version"),
        Index("ix_searched_version_trigrams", text("trigrams(text)"), postgresql_using="gin", postgresql_with=_AT_ONCE),
        Index("ix_searched_version_facets", "facets", postgresql_using="gin", postgresql_with=_AT_ONCE),
    )

    version_id: Mapped[int] = mapped_column(
        ForeignKey("entry_version.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    entry_id: Mapped[uuid.UUID]
    version: Mapped[int]
    text: Mapped[str] = mapped_column(Text)
    facets: Mapped[list[str]] = mapped_column(ARRAY(Text))


class OfferedPrivacyRow(Base):
    """The lowest and the highest number that a configuration of a version vouches for, by privacy criterion."""

    __tablename__ = "offered_privacy"
    __table_args__ = (
        Index("ix_offered_privacy_criterion_lowest", "criterion", "lowest"),
        Index("ix_offered_privacy_criterion_highest", "criterion", "highest"),
    )

    version_id: Mapped[int] = mapped_column(
        ForeignKey("searched_version.version_id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    criterion: Mapped[str] = mapped_column(Text, primary_key=True)
    lowest: Mapped[float]
    highest: Mapped[float]

import uuid
from datetime import datetime

from sqlalchemy import DateTime, ForeignKey, Index, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base

#: Stands for all tenants in `seen_by`. No tenant has this name.
EVERYBODY = ""


class SearchedVersionRow(Base):
    """What searches read of a version that somebody is shown, or will be: the released version and those after it.

    `created_at` is that of its entry. `text` is its name, title and keywords in lower case, each on a line. `facets`
    are what it has in full, such as `keyword:health` and `attribute:age`. `seen_by` are the tenants that may see it.
    """

    __tablename__ = "searched_version"
    __table_args__ = (
        UniqueConstraint("entry_id", "version"),
        Index(
            "ix_searched_version_search",
            text("ngrams(text, 1)"),
            "facets",
            "seen_by",
            postgresql_using="gin",
            # Each search would read the list of pending changes.
            postgresql_with={"fastupdate": "false"},
        ),
    )

    version_id: Mapped[int] = mapped_column(
        ForeignKey("entry_version.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    entry_id: Mapped[uuid.UUID]
    version: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    text: Mapped[str] = mapped_column(Text)
    facets: Mapped[list[str]] = mapped_column(ARRAY(Text))
    seen_by: Mapped[list[str]] = mapped_column(ARRAY(Text))


class OfferedPrivacyRow(Base):
    """The lowest and the highest number that a configuration of a version vouches for, by privacy criterion.

    Likewise the lowest and the highest share of records that one leaves alone, by the name `alone`.
    """

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

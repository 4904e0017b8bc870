from sqlalchemy import CheckConstraint, ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base, PackedColumns


class CountTableRow(PackedColumns, Base):
    """One table of counts of an entry's version; `attribute` and `masking` are places in its document."""

    __tablename__ = "count_table"
    __table_args__ = (
        CheckConstraint("kind IN ('label_histogram', 'histogram', 'joint', 'masked_joint', 'pairs')", name="kind"),
        Index("ix_count_table_version_id_attribute", "version_id", "attribute"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    version_id: Mapped[int] = mapped_column(ForeignKey("entry_version.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(Text)
    attribute: Mapped[int | None]
    masking: Mapped[int | None]

"""The store of references: the reconstructed joint counts of each attribute, computed once by each model version."""

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import ColumnElement, bindparam, select
from sqlalchemy.dialects.postgresql import insert

from aegis_advisor.reconstruction import Certificate, Misfit
from app.advice.model import PackedReference
from app.advice.tables import ReferenceArrayRow, ReferenceRow
from app.entries.store.contents import packed_columns, packed_values, to_packed
from app.platform.database.arrays import PackedArray
from app.platform.database.base import Store, one_of


class ReferenceStore(Store):
    """References by entry version and model version."""

    async def missing(self, version_id: int, model_version: str, attributes: Sequence[int]) -> list[int]:
        """Those of `attributes` that have no reference yet, in the same order."""
        key = {"version_id": version_id, "model_version": model_version}
        stored = frozenset((await self._session.execute(_STORED, key)).scalars())
        return [attribute for attribute in attributes if attribute not in stored]

    async def add(self, version_id: int, model_version: str, references: Sequence[PackedReference]) -> None:
        """Store references, except those that another run of the same job has already stored."""
        key = {"version_id": version_id, "model_version": model_version}
        heads = [
            key
            | {"attribute": r.attribute, "information_bound": r.information_bound, "ceilings": dict(r.ceilings)}
            | asdict(r.certificate)
            for r in references
        ]
        arrays = [
            key | {"attribute": r.attribute, "name": name} | packed_values(packed)
            for r in references
            for name, packed in r.arrays.items()
        ]
        await self._session.execute(insert(ReferenceRow).on_conflict_do_nothing(), heads)
        await self._session.execute(insert(ReferenceArrayRow).on_conflict_do_nothing(), arrays)

    async def load(
        self, version_id: int, model_version: str, attributes: Sequence[int] | None = None
    ) -> tuple[PackedReference, ...]:
        """The stored references of a version, or only those of `attributes`, in the order of the attributes."""
        heads = select(ReferenceRow).where(*_of(ReferenceRow, version_id, model_version, attributes))
        columns = (ReferenceArrayRow.attribute, ReferenceArrayRow.name, *packed_columns(ReferenceArrayRow))
        rows = select(*columns).where(*_of(ReferenceArrayRow, version_id, model_version, attributes))
        arrays: dict[int, dict[str, PackedArray]] = {}
        for row in await self._session.execute(rows):
            arrays.setdefault(row.attribute, {})[row.name] = to_packed(row)
        stored = (await self._session.execute(heads.order_by(ReferenceRow.attribute))).scalars()
        references = []
        for head in stored:
            misfits = {masking: Misfit(**misfit) for masking, misfit in head.misfits.items()}
            certificate = Certificate(
                head.method, head.atoms, head.iterations, head.residual, head.converged, misfits, head.support_known
            )
            packed = arrays[head.attribute]
            references.append(
                PackedReference(head.attribute, packed, head.information_bound, certificate, head.ceilings)
            )
        return tuple(references)


_STORED = select(ReferenceRow.attribute).where(
    ReferenceRow.version_id == bindparam("version_id"), ReferenceRow.model_version == bindparam("model_version")
)


def _of(
    table: type[ReferenceRow | ReferenceArrayRow],
    version_id: int,
    model_version: str,
    attributes: Sequence[int] | None = None,
) -> list[ColumnElement[bool]]:
    conditions = [table.version_id == version_id, table.model_version == model_version]
    return conditions if attributes is None else [*conditions, one_of(table.attribute, attributes)]

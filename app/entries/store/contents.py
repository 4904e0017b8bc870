"""The stores of versions: schema, count tables and configurations, verdicts, and the key of keyed digests."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec
from sqlalchemy import Row, bindparam, exists, literal, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from app.audit.model import AuditAction
from app.audit.tables import AuditRecordRow
from app.entries.model.entries import (
    AttributeOutline,
    Content,
    CountKind,
    CountTable,
    PackedConfigurations,
    StoredVerdict,
)
from app.entries.store.searches import add_searched
from app.entries.tables import (
    CODES,
    DECLARED,
    ConfigurationTableRow,
    CountTableRow,
    EntryVersionRow,
    ServerKeyRow,
    VerdictRow,
)
from app.platform.database.arrays import PackedArray
from app.platform.database.base import PackedColumns, one_of
from app.platform.database.session import driver_connection
from app.platform.digests import keyed_digest
from app.tenants.model import PERSON


class ServerKeyStore:
    """The only server key. Transactions that use it lock it until the commit, so that no old one is used."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def value(self) -> bytes:
        """The key, locked until the transaction ends."""
        held = select(ServerKeyRow.value).with_for_update(read=True)
        key: bytes = (await self._session.execute(held)).scalar_one()
        return key

    async def replace(self, value: bytes) -> int:
        """Replace the key and all digests made with it; return their number."""
        await self._session.execute(select(ServerKeyRow.id).with_for_update())
        await self._session.execute(update(ServerKeyRow).values(value=value))
        versions = await self._session.execute(
            select(EntryVersionRow.id, EntryVersionRow.entry_id, EntryVersionRow.digest)
        )
        renewed = [
            {"id": row.id, "keyed_digest": keyed_digest(value, str(row.entry_id), row.digest)} for row in versions
        ]
        if renewed:
            await self._session.execute(update(EntryVersionRow), renewed)
        return len(renewed)


class VerdictStore:
    """Verdicts by the id of their version."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, version_id: int, verdict: StoredVerdict) -> bool:
        """Store a verdict; False if another run of the same job has already stored one."""
        judged = {"passed": verdict.passed, "findings": list(verdict.findings), "few": verdict.few}
        values = {"version_id": version_id, **judged}
        added = insert(VerdictRow).values(values).on_conflict_do_nothing().returning(VerdictRow.version_id)
        return (await self._session.execute(added)).first() is not None

    async def find(self, version_id: int) -> StoredVerdict | None:
        """The verdict on a version; None if there is none yet."""
        judged = select(VerdictRow, EntryVersionRow.rows_per_person)
        judged = judged.join(EntryVersionRow, EntryVersionRow.id == VerdictRow.version_id)
        found = (await self._session.execute(judged.where(VerdictRow.version_id == version_id))).one_or_none()
        if found is None:
            return None
        row, rows_per_person = found
        return StoredVerdict(row.passed, tuple(row.findings), row.few, rows_per_person)

    async def record(self, version_id: int, value: str) -> None:
        """Record the verdict on a version in the audit log."""
        columns = (EntryVersionRow.entry_id, EntryVersionRow.version, EntryVersionRow.digest)
        judged = select(literal(AuditAction.JUDGE_ENTRY.value), *columns, literal(value))
        names = ["action", *(column.key for column in columns), "value"]
        await self._session.execute(
            insert(AuditRecordRow).from_select(names, judged.where(EntryVersionRow.id == version_id))
        )


_COPY_COUNT_TABLES = """
    COPY count_table (version_id, kind, attribute, masking, dtype, shape, data) FROM STDIN (FORMAT BINARY)
"""


class ContentStore:
    """Contents by the id of their version. Versions are immutable, so contents are only added and read."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(
        self,
        entry_id: str,
        version: int,
        content: Content,
        *,
        accepted_small_counts: bool = False,
        awaits_sign_off: bool = False,
        published_by: str | None = None,
    ) -> int:
        """Store `content` as a version of an entry, and return the version's id."""
        row = EntryVersionRow(
            entry_id=uuid.UUID(entry_id),
            version=version,
            digest=content.digest,
            keyed_digest=keyed_digest(await ServerKeyStore(self._session).value(), entry_id, content.digest),
            title=content.title,
            description=content.description,
            keywords=list(content.keywords),
            license=content.license,
            terms=content.terms,
            label=content.label,
            labels=None if content.labels is None else list(content.labels),
            people=content.people,
            rows_per_person=content.rows_per_person,
            open_answers=content.open_answers,
            accepted_small_counts=accepted_small_counts,
            stored_bytes=content.stored_bytes,
            awaits_sign_off=awaits_sign_off,
            published_by=published_by,
            outline=[asdict(attribute) for attribute in content.outline],
            schema=content.schema,
            configurations=content.configurations,
            configuration_ids=content.configuration_table.ids,
        )
        self._session.add(row)
        await self._session.flush()
        await add_searched(self._session, row.entry_id, version, row.id, content)
        await self._add_tables(row.id, content)
        return row.id

    async def _add_tables(self, version_id: int, content: Content) -> None:
        table = content.configuration_table
        declared = {DECLARED + name: packed for name, packed in table.declared.items()}
        configurations = [
            {"version_id": version_id, "guarantee": name} | packed_values(packed)
            for name, packed in {CODES: table.codes, **table.privacy, **declared}.items()
        ]
        await self._session.execute(insert(ConfigurationTableRow), configurations)
        connection = await driver_connection(self._session)
        # There can be thousands of tables, and COPY takes a fraction of the time of INSERT.
        async with connection.cursor() as cursor, cursor.copy(_COPY_COUNT_TABLES) as copy:
            copy.set_types(["int4", "text", "int4", "int4", "text", "int4[]", "bytea"])
            for t in content.count_tables:
                row = (version_id, t.kind.value, t.attribute, t.masking)
                await copy.write_row((*row, t.counts.dtype, list(t.counts.shape), t.counts.data))

    async def hold(self, version_id: int) -> "Frame | None":
        """Block the deletion of a version during the transaction, and return its frame; None if it is deleted."""
        statement = select(EntryVersionRow.outline, EntryVersionRow.configuration_ids, EntryVersionRow.people)
        statement = statement.where(EntryVersionRow.id == version_id).with_for_update(read=True, key_share=True)
        held = (await self._session.execute(statement)).first()
        if held is None:
            return None
        outline = msgspec.convert(held.outline, tuple[AttributeOutline, ...])
        return Frame(outline, held.configuration_ids, None if held.people is None else PERSON)

    async def pin(self, version_id: int) -> bool:
        """Block the deletion of a version during the transaction; False if it is deleted."""
        return (await self._session.execute(_PINNED, {"wanted": version_id})).first() is not None

    async def lock(self, version_id: int) -> bool:
        """Lock a version exclusively until the transaction ends; False if it is deleted. Others may still read it."""
        statement = select(EntryVersionRow.id).where(EntryVersionRow.id == version_id).with_for_update(key_share=True)
        return (await self._session.execute(statement)).first() is not None

    async def schema(self, version_id: int) -> bytes | None:
        """The schema as compressed JSON, without the configurations; None if the version is deleted."""
        stored = await self._session.execute(select(EntryVersionRow.schema).where(EntryVersionRow.id == version_id))
        return stored.scalar()

    async def configurations(self, version_id: int) -> bytes | None:
        """The configurations as published, as compressed JSON; None if the version is deleted."""
        statement = select(EntryVersionRow.configurations).where(EntryVersionRow.id == version_id)
        return (await self._session.execute(statement)).scalar()

    async def configuration_table(self, version_id: int, frame: "Frame") -> PackedConfigurations:
        """The configurations as numbers."""
        columns = (ConfigurationTableRow.guarantee, *packed_columns(ConfigurationTableRow))
        rows = await self._session.execute(select(*columns).where(ConfigurationTableRow.version_id == version_id))
        arrays = {row.guarantee: to_packed(row) for row in rows}
        return _to_configurations(frame.configuration_ids, arrays, frame.unit)

    async def configuration_sizes(self, version_ids: Iterable[int]) -> dict[int, tuple[int, int]]:
        """The numbers of configurations and of attributes, by version."""
        columns = ConfigurationTableRow.version_id, ConfigurationTableRow.shape
        of_codes = one_of(ConfigurationTableRow.version_id, version_ids), ConfigurationTableRow.guarantee == CODES
        rows = await self._session.execute(select(*columns).where(*of_codes))
        return {row.version_id: (row.shape[0], row.shape[1]) for row in rows}

    async def offered(self, version_ids: Sequence[int]) -> dict[int, tuple[PackedConfigurations, bytes]]:
        """By version, its configurations as numbers, and as published as compressed JSON."""
        arrays: dict[int, dict[str, PackedArray]] = {version_id: {} for version_id in version_ids}
        table = ConfigurationTableRow
        columns = (table.version_id, table.guarantee, *packed_columns(table))
        for row in await self._session.execute(select(*columns).where(one_of(table.version_id, version_ids))):
            arrays[row.version_id][row.guarantee] = to_packed(row)
        version = EntryVersionRow
        rows = await self._session.execute(
            select(version.id, version.configuration_ids, version.configurations, version.people).where(
                one_of(version.id, [version_id for version_id, known in arrays.items() if known])
            )
        )
        units = {row: None if row.people is None else PERSON for row in rows}
        return {
            row.id: (_to_configurations(row.configuration_ids, arrays[row.id], unit), row.configurations)
            for row, unit in units.items()
        }

    async def count_tables(
        self, version_id: int, attributes: Iterable[int] | None = None, *, pairs: bool = False
    ) -> tuple[CountTable, ...]:
        """The count tables of a version; with `attributes`, only those of the label and of these places.

        The selection includes pair counts only with `pairs`: these can be as large as all other counts together.
        """
        columns = (CountTableRow.kind, CountTableRow.attribute, CountTableRow.masking, *packed_columns(CountTableRow))
        statement = select(*columns).where(CountTableRow.version_id == version_id)
        if attributes is not None:
            wanted = one_of(CountTableRow.attribute, attributes) | CountTableRow.attribute.is_(None)
            statement = statement.where(wanted if pairs else wanted & ~_IS_PAIRS)
        rows = await self._session.execute(statement)
        return tuple(CountTable(CountKind(r.kind), r.attribute, r.masking, to_packed(r)) for r in rows)

    async def has_pairs(self, version_id: int) -> bool:
        """Whether a version has pair counts, without loading them."""
        # The row of pair counts has no attribute, like the label's, so the index finds both rows.
        columns = CountTableRow.version_id == version_id, CountTableRow.attribute.is_(None)
        stored = await self._session.execute(select(exists().where(*columns, _IS_PAIRS)))
        return bool(stored.scalar())


def _to_configurations(ids: bytes, arrays: dict[str, PackedArray], unit: str | None) -> PackedConfigurations:
    declared = {name.removeprefix(DECLARED): arrays.pop(name) for name in list(arrays) if name.startswith(DECLARED)}
    return PackedConfigurations(ids, arrays.pop(CODES), arrays, declared, unit)


_PINNED = (
    select(EntryVersionRow.id)
    .where(EntryVersionRow.id == bindparam("wanted"))
    .with_for_update(read=True, key_share=True)
)
_IS_PAIRS = CountTableRow.kind == CountKind.PAIRS.value


@dataclass(frozen=True, slots=True)
class Frame:
    """What decides which questions a version can answer: its outline, configuration ids, and unit of privacy."""

    outline: tuple[AttributeOutline, ...]
    configuration_ids: bytes
    unit: str | None = None


def packed_columns(table: type[PackedColumns]) -> tuple[InstrumentedAttribute[Any], ...]:
    """The columns that `to_packed` reads. SQLAlchemy would track whole rows for changes, which takes longer."""
    return table.dtype, table.shape, table.data


def packed_values(packed: PackedArray) -> dict[str, Any]:
    """A packed array as the values of its three columns."""
    return {"dtype": packed.dtype, "shape": list(packed.shape), "data": packed.data}


def to_packed(row: Row[Any]) -> PackedArray:
    """The packed array of a row."""
    return PackedArray(row.dtype, tuple(row.shape), row.data)

"""What versions of the service that run already may rely on in a schema, read from PostgreSQL itself."""

from dataclasses import dataclass, field

import psycopg

_Names = frozenset[str]

_COLUMNS = """
SELECT relname || '.' || attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid),
    attidentity <> '' OR attgenerated <> ''
FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
"""
_RULES = """
SELECT relname || '.' || conname, pg_get_constraintdef(pg_constraint.oid),
    ARRAY(SELECT relname || '.' || attname FROM pg_attribute WHERE attrelid = conrelid AND attnum = ANY(conkey))
FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
UNION ALL SELECT t.relname || '.' || i.relname, pg_get_indexdef(i.oid),
    ARRAY(SELECT t.relname || '.' || attname FROM pg_attribute WHERE attrelid = t.oid AND attnum = ANY(indkey))
FROM pg_index JOIN pg_class AS i ON i.oid = indexrelid JOIN pg_class AS t ON t.oid = indrelid
WHERE t.relnamespace = 'public'::regnamespace AND indisunique
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.oid AND conrelid = t.oid)
"""
_FUNCTIONS = "SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
_TRIGGERS = """
SELECT relname || '.' || tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
WHERE relnamespace = 'public'::regnamespace AND NOT tgisinternal AND tgenabled <> 'D'
"""


@dataclass(frozen=True)
class Column:
    type: str
    is_required: bool
    default: str | None
    is_filled: bool

    @property
    def must_be_given(self) -> bool:
        return self.is_required and self.default is None and not self.is_filled


@dataclass(frozen=True)
class Rule:
    text: str
    columns: _Names

    @property
    def is_relied_on(self) -> bool:
        """Whether code may need it: for `ON CONFLICT`, or since what depends on a row goes with it."""
        return any(words in self.text for words in ("UNIQUE", "PRIMARY KEY", "ON DELETE"))


@dataclass(frozen=True)
class Schema:
    """Columns, what rows must fulfil, functions, and triggers, by name."""

    columns: dict[str, Column] = field(default_factory=dict)
    rules: dict[str, Rule] = field(default_factory=dict)
    functions: _Names = frozenset()
    triggers: _Names = frozenset()

    @classmethod
    def of(cls, connection: psycopg.Connection) -> "Schema":
        columns = {name: Column(*rest) for name, *rest in connection.execute(_COLUMNS)}
        functions, triggers = (
            frozenset(name for (name,) in connection.execute(query)) for query in (_FUNCTIONS, _TRIGGERS)
        )
        rules = {name: Rule(text, frozenset(named)) for name, text, named in connection.execute(_RULES)}
        return cls(columns, rules, functions, triggers)

    @property
    def tables(self) -> set[str]:
        return {name.partition(".")[0] for name in self.columns}

    @property
    def relied_on(self) -> _Names:
        """What code may rely on by its name."""
        rules = {name for name, rule in self.rules.items() if rule.is_relied_on}
        return self.functions | self.triggers | self.columns.keys() | rules


def broken(before: Schema, after: Schema) -> set[str]:
    """What code that was written for a schema cannot rely on any more after a change of it."""
    gone = {f"{name} is gone" for name in before.relied_on - after.relied_on}
    return gone | _of_columns(before, after) | _of_rules(before, after)


def _of_columns(before: Schema, after: Schema) -> set[str]:
    changed = set()
    for name, column in after.columns.items():
        known = before.columns.get(name)
        if known is not None and known.type != column.type:
            changed.add(f"{name} has another type")
        if known is not None and known.default is not None and column.default is None:
            changed.add(f"{name} has no default any more")
        is_of_known_table = name.partition(".")[0] in before.tables
        if is_of_known_table and column.must_be_given and (known is None or not known.must_be_given):
            changed.add(f"{name} must be given")
    return changed


def _of_rules(before: Schema, after: Schema) -> set[str]:
    """Rules that rows of old code may not follow; it gives nothing for new columns."""
    return {
        f"{name} is a new rule"
        for name, rule in after.rules.items()
        if name.partition(".")[0] in before.tables
        and before.rules.get(name) != rule
        and not rule.columns.isdisjoint(before.columns)
    }

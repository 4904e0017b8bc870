"""Which attributes an entry shares unmasked, and the entry without joint counts that no configuration needs."""

from aegis_sdk.wire import IDENTITY, EntryDocument


def shared_unmasked(entry: EntryDocument) -> frozenset[str]:
    """Return the names of the attributes that a configuration leaves unmasked."""
    return frozenset(
        name
        for configuration in entry.masked
        for name, masking in configuration.maskings.items()
        if masking == IDENTITY
    )


def without_unshared(entry: EntryDocument) -> EntryDocument:
    """Return the entry without the unmasked joint counts of attributes that no configuration leaves unmasked."""
    shared = shared_unmasked(entry)
    attributes = [
        attribute
        if attribute.name in shared or attribute.joint is None
        else attribute.model_copy(update={"joint": None})
        for attribute in entry.attributes
    ]
    return entry.model_copy(update={"attributes": attributes})

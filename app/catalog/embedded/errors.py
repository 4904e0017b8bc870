class EmbeddedPostgresError(Exception):
    """The embedded server cannot be used: a line says what, where and what to do; a log may follow."""

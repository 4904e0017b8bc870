"""`aegis-server` whose embedded PostgreSQL also uses the stepped clock: `python -m bench.chaos.serve serve`.

The service passes hardly any environment variables to PostgreSQL, and none that preload a library. That is right for
the service, so the clock's variables are added here.
"""

from app.cli.commands import main
from app.platform.process.embedded import cluster
from bench.chaos.clock import VARIABLES

if __name__ == "__main__":  # child processes import this module, too
    cluster._KEPT += VARIABLES  # type: ignore[assignment]  # noqa: SLF001
    main()

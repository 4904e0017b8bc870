"""`aegis-server` whose embedded PostgreSQL goes by the clock of its group, too: `python -m bench.chaos.serve serve`.

PostgreSQL gets hardly anything of the environment, and what loads a library into it least of all. That is right for
the service, so what the clock needs is added here and not there.
"""

from app.cli.commands import main
from app.platform.process.embedded import cluster
from bench.chaos.clock import VARIABLES

if __name__ == "__main__":  # child processes import this module, too
    cluster._KEPT += VARIABLES  # type: ignore[assignment]  # noqa: SLF001
    main()

"""What every route uses: the state of the process, its dependencies, idempotent calls."""

"""What no feature owns: database, queue, processes, HTTP, telemetry."""

"""The worker's side: load in a short transaction, compute in a child process, store in a short transaction."""

"""Workers: load in a short transaction, compute in a child process, store in another short transaction."""

"""The masked table of a configuration: streamed, without what is suppressed, written whole, and checked."""

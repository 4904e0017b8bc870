"""Views of the pages about entries."""

"""Views of the pages about advice."""

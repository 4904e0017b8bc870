"""What all pages of the console share: layout, forms, charts, static files."""

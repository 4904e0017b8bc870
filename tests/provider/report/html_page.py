"""A page, read back by Python's own HTML parser."""

from collections import Counter
from html.parser import HTMLParser


class Reader(HTMLParser):
    """The elements of a page, its ids and its text."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.ids, self.texts, self.attributes = Counter(), Counter(), [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements[tag] += 1
        self.attributes += attrs
        self.ids.update(value for name, value in attrs if name == "id")

    def handle_data(self, data):
        self.texts.append(data.strip())

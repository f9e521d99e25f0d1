"""The wire format of Protocol Buffers, as far as Chakra's traces use it: fields of a message, and a file of messages, each behind its length."""

import gzip
import struct
import zlib

from unusable import Unusable

VARINT, EIGHT, BYTES, FOUR = 0, 1, 2, 5
MOST_BITS = 64
LONGEST = 256 << 20  # bytes of one message; a node has some hundred
READ = 1 << 20


class Malformed(ValueError):
    """Bytes that are no message."""


def varint(data, at):
    """(value, where it ends) of the varint at `at`."""
    value = shift = 0
    while True:
        if at >= len(data):
            raise Malformed("a number is cut off")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
        if shift >= MOST_BITS + 6:
            raise Malformed("a number has more than ten bytes")


def fields(data):
    """(number, value) of each field in order: whole numbers of varints, bytes of everything else."""
    at, end = 0, len(data)
    while at < end:
        key, at = varint(data, at)
        number, form = key >> 3, key & 7
        if number == 0:
            raise Malformed("a field has the number 0")
        if form == VARINT:
            value, at = varint(data, at)
        else:
            length, at = varint(data, at) if form == BYTES else ({EIGHT: 8, FOUR: 4}.get(form), at)
            if length is None:
                raise Malformed(f"field {number} has the wire type {form}")
            if length > end - at:
                raise Malformed(f"field {number} ends behind its message")
            value, at = data[at:at + length], at + length
        yield number, value


def whole_numbers(value):
    """Of a repeated field: packed ones, or the one of an entry."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        found.append(number)
    return found


def signed(value):
    """A negative int32 or int64 travels as a large number."""
    return value - (1 << 64) if value >> 63 else value


def unzigzag(value):
    return (value >> 1) ^ -(value & 1)


def unpacked(form):
    return lambda value: struct.unpack(form, value)[0]


def messages(path):
    """The bytes of each message of a file, which is unpacked where it begins as gzip's do; memory is that of one message."""
    try:
        with opened(path) as file:
            yield from messages_in(file, path)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise Unusable(f"'{path}' is compressed and not whole ({error}); it was cut off or is still being written; write the trace again") from error
    except OSError as error:
        raise Unusable(f"cannot read '{path}': {error.strerror or error}") from error


def opened(path):
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if packed else open(path, "rb")


def messages_in(file, path):
    window, at, count, ended = b"", 0, 0, False
    while True:
        length, begin = length_at(window, at)
        if length is not None and length > LONGEST:
            raise Unusable(f"'{path}' is no trace of Chakra: message {count + 1} would have {length} bytes; it holds messages of Protocol Buffers (et_def.proto), "
                           "each behind its length")
        if length is not None and begin + length <= len(window):
            yield window[begin:begin + length]
            at, count = begin + length, count + 1
        elif ended:
            if at < len(window):
                raise Unusable(f"'{path}' ends within message {count + 1}: it was cut off or is still being written; write the trace again")
            return
        else:
            more = file.read(max(READ, (length or 0) - (len(window) - begin)))
            ended, window, at = not more, window[at:] + more, 0


def length_at(window, at):
    """(length, where the message begins), or (None, at) where the window ends before."""
    try:
        return varint(window, at)
    except Malformed:
        return (LONGEST + 1, at) if len(window) - at > 10 else (None, at)


def encoded_varint(value):
    text = bytearray()
    value &= 0xFFFFFFFFFFFFFFFF
    while value > 0x7F:
        text.append(value & 0x7F | 0x80)
        value >>= 7
    text.append(value)
    return bytes(text)


def number_field(number, value):
    return encoded_varint(number << 3 | VARINT) + encoded_varint(value)


def bytes_field(number, value):
    return encoded_varint(number << 3 | BYTES) + encoded_varint(len(value)) + value


def message(text):
    """A message behind its length, as a file has it."""
    return encoded_varint(len(text)) + text

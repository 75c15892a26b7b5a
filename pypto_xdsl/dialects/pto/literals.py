"""Numbers and strings in `.pto` text."""

from xdsl.parser import AttrParser


def parse_integer(parser: AttrParser, width: int) -> int:
    """A number, in decimal or hexadecimal, that a signed integer of so many bits holds."""
    position = parser.pos
    value = parser.parse_integer(allow_boolean=False)
    if not -(1 << (width - 1)) <= value < 1 << (width - 1):
        parser.raise_error(f"integer value does not fit in {width} bits", position)
    return value


def parse_string(parser: AttrParser) -> str:
    """A string; one with escaped bytes, as xDSL prints other letters than ASCII's, is UTF-8."""
    position = parser.pos
    data = parser.parse_optional_bytes_literal()
    if data is None:
        return parser.parse_str_literal()
    try:
        return data.decode()
    except UnicodeDecodeError:
        parser.raise_error("string is not UTF-8", position)

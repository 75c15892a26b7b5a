"""Types parsed once per spelling.

A kernel writes the type of each operand at each use, some 130 characters of a few dozen tokens,
and a kernel of a thousand ops has a few dozen different ones. A type of this kind is looked up by
the text between its angle brackets before it is parsed.
"""

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.parser import AttrParser


class _Known(tuple[Attribute, ...]):
    """The parameters of a type that exists already, with the type."""

    attribute: ParametrizedAttribute


class InternedType(ParametrizedAttribute, TypeAttribute):
    """A parametrized type whose spelling determines it, whatever the program around it.

    Subclasses implement `parse_body`, from behind `<` up to and excluding `>`.
    """

    MAX_INTERNED: ClassVar[int] = 4096
    """Spellings remembered per type class, so that hostile text cannot fill the memory."""

    @classmethod
    def parse_body(cls, parser: AttrParser) -> Sequence[Attribute]:
        """The parameters, from the text between the angle brackets."""
        raise NotImplementedError

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        content = parser.lexer.input.content
        start = parser.pos
        text, end = _between_brackets(content, start)
        if text is not None and (known := _interned(cls).get(text)) is not None:
            parser._resume_from(end + 1)  # pyright: ignore[reportPrivateUsage]
            return known
        with parser.in_angle_brackets():
            params = cls.parse_body(parser)
        if text is None:
            return params
        # Not interned before it has verified.
        attribute = cls._from_parameters(params)
        known = _Known(params)
        known.attribute = attribute
        table = _interned(cls)
        if len(table) >= cls.MAX_INTERNED:
            table.clear()
        table[text] = known
        return known

    @classmethod
    def _from_parameters(cls, params: Sequence[Attribute]) -> Self:
        return super().new(params)

    @classmethod
    def new(cls, params: Sequence[Attribute]) -> Self:
        if isinstance(params, _Known) and isinstance(params.attribute, cls):
            return params.attribute
        return super().new(params)


def _between_brackets(content: str | bytes, start: int) -> tuple[str | bytes | None, int]:
    """The text in `<...>` at `start`, where it alone determines the type, and the place of `>`.

    Nested brackets are not followed; an alias (`!t`, `#a`) means what the file says; a comment
    may hold anything.
    """
    if isinstance(content, bytes):
        end = content.find(b">", start)
        data = content[start:end]
        if end < 0 or data[:1] != b"<" or any(c in data for c in (b"!", b"#", b"//")):
            return None, end
        return (None if data.count(b"<") > 1 else data[1:]), end
    end = content.find(">", start)
    text = content[start:end]
    if end < 0 or text[:1] != "<" or any(c in text for c in ("!", "#", "//")):
        return None, end
    return (None if text.count("<") > 1 else text[1:]), end


_TABLES: dict[type[InternedType], dict[str | bytes, _Known]] = {}


def _interned(cls: type[InternedType]) -> dict[str | bytes, _Known]:
    return _TABLES.setdefault(cls, {})

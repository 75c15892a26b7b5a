"""The dictionary of discardable attributes after an op of a custom form."""

from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser


def parse_attributes(
    parser: Parser, op_type: type[IRDLOperation], *, after_keyword: bool = False
) -> dict[str, Attribute]:
    """
    The attributes in `{...}`, or in `attributes {...}` if they stand after that keyword.

    A property of the op in there is an error: its own form has a place for it, and as an
    attribute it would say nothing.
    """
    position = parser.pos
    if after_keyword:
        given = parser.parse_optional_attr_dict_with_keyword()
        attributes = {} if given is None else dict(given.data)
    else:
        attributes = parser.parse_optional_attr_dict()
    if attributes:
        properties = op_type.get_irdl_definition().properties
        for name in attributes:
            if name in properties:
                parser.raise_error(
                    f"'{name}' is a property of '{op_type.name}', whose form has another place "
                    "for it",
                    position,
                    parser.pos,
                )
    return attributes

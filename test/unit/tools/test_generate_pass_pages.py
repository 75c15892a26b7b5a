"""The pages of the passes are current, and each says what it must."""

from __future__ import annotations

import generate_pass_pages
import pytest

PAGES = generate_pass_pages.pages()


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_current(name: str) -> None:
    path = generate_pass_pages.FOLDER / name
    assert path.exists(), "run python tools/generate_pass_pages.py"
    assert path.read_text() == PAGES[name], "run python tools/generate_pass_pages.py"


def test_no_page_of_a_pass_that_is_gone() -> None:
    assert {path.name for path in generate_pass_pages.FOLDER.glob("*.md")} == set(PAGES)


def test_a_page_has_documentation_facts_and_code() -> None:
    page = PAGES["normalize-return-order.md"]
    assert page.startswith("# `normalize-return-order`\n")
    assert "```mlir\norch.func incore @kernel" in page
    assert "| produced | [ReturnParamsExplicit](properties.md#returnparamsexplicit) |" in page


def test_options_are_listed_with_their_defaults() -> None:
    assert "| `backend` | `str \\| None` |  |" in PAGES["resolve-backend-op-layouts.md"]


def test_an_example_is_whole_where_the_text_begins_with_it() -> None:
    page = generate_pass_pages._markdown("    a\n      b\n\nbecomes\n\n    c\n")  # pyright: ignore[reportPrivateUsage]
    assert page == "```mlir\na\n  b\n```\n\nbecomes\n\n```mlir\nc\n```"


def test_options_say_what_they_mean() -> None:
    assert "| The target's name;" in PAGES["verify-target.md"]

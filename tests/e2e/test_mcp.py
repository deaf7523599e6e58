"""`warmwire mcp` as an assistant's program sees it: the official client over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli_support import failure, run
from tests.conftest import Serve
from tests.support import COMMAND

mcp = pytest.importorskip("mcp")
pytest.importorskip("pypdfium2")

DATA = Path(__file__).parents[1] / "data" / "documents"


def talk(root: Path, *calls: tuple[str, dict[str, Any]], socket: str = "/nowhere/s.sock") -> list[tuple[bool, str]]:
    """Call tools one after another; whether each failed, and its text."""

    async def session() -> list[tuple[bool, str]]:
        command, *arguments = COMMAND
        words = [*arguments, "mcp", "--root", str(root), "--socket", socket]
        server = mcp.StdioServerParameters(command=command, args=words, env=dict(os.environ))
        async with mcp.stdio_client(server) as (read, write), mcp.ClientSession(read, write) as client:
            await client.initialize()
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == {"read_document", "search_document", "ask_model"}
            assert "ctx" not in str(tools["read_document"])
            answers = [await client.call_tool(name, given) for name, given in calls]
            return [(bool(one.is_error), "".join(part.text for part in one.content)) for one in answers]

    return asyncio.run(asyncio.wait_for(session(), 120))


def test_documents_are_read_and_searched(tmp_path: Path) -> None:
    shutil.copy(DATA / "digital.pdf", tmp_path / "report.pdf")
    read, chosen, found, nothing = talk(
        tmp_path,
        ("read_document", {"path": "report.pdf"}),
        ("read_document", {"path": str(tmp_path / "report.pdf"), "pages": "1", "format": "text"}),
        ("search_document", {"path": "report.pdf", "query": "the", "limit": 1}),
        ("search_document", {"path": "report.pdf", "query": "zyzzyva"}),
    )
    assert not read[0]
    assert "#" in read[1]
    assert not chosen[0]
    assert "#" not in chosen[1]
    assert json.loads(found[1])["pages"]
    assert nothing == (False, "")


def test_files_elsewhere_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    shutil.copy(DATA / "digital.pdf", tmp_path / "secret.pdf")
    (tmp_path / "in" / "link.pdf").symlink_to(tmp_path / "secret.pdf")
    answers = talk(
        tmp_path / "in",
        ("read_document", {"path": "../secret.pdf"}),
        ("read_document", {"path": "link.pdf"}),
        ("read_document", {"path": str(tmp_path / "secret.pdf")}),
        ("read_document", {"path": "none.pdf"}),
        ("read_document", {"path": "none.pdf", "format": "exe"}),
    )
    assert all(failed for failed, _ in answers)
    assert all("only files under" in text for _, text in answers[:3])
    assert "none.pdf: no such file" in answers[3][1]
    assert "format is 'exe'; it is one of md" in answers[4][1]


def test_the_model_is_asked(tmp_path: Path, serve: Serve) -> None:
    host = serve("echo")
    (answer,) = talk(tmp_path, ("ask_model", {"prompt": "are you there"}), socket=host.path)
    assert answer == (False, "are you there")
    (answer,) = talk(tmp_path, ("ask_model", {"prompt": "x"}))
    assert answer[0]
    assert "/nowhere/s.sock" in answer[1]


def test_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    assert "no such folder" in failure(run("mcp", "--root", tmp_path / "none"), 2)

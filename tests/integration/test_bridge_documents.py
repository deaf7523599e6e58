"""Documents over HTTP: docling-serve's contract, Open WebUI's, and the page for dropping files on."""

from __future__ import annotations

import base64
import io
import json
import queue
import shutil
import subprocess
import threading
import zipfile
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.routing import Route

from tests.bridge_support import BridgeThread
from tests.support import PATIENCE, HostThread
from warmwire.bridge import documents
from warmwire.bridge.documents import Documents
from warmwire.models.interface import PageModel

pytest.importorskip("pypdfium2")

DATA = Path(__file__).parents[1] / "data" / "documents"
DIGITAL = DATA / "digital.pdf"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

Behind = Callable[..., HostThread]


class Reader:
    """A handler that finds one heading on every page."""

    name = "reader"

    def generate(self, image: Any, prompt: str, max_tokens: int | None, emit: Any, cancelled: threading.Event) -> None:
        emit("<doctag><section_header_level_1>Read by the host</section_header_level_1></doctag>")


def scan() -> bytes:
    """A picture with something on it."""
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (600, 800), "white")
    ImageDraw.Draw(picture).text((50, 50), "Words", fill="black", font_size=60)
    held = io.BytesIO()
    picture.save(held, "PNG")
    return held.getvalue()


def send(bridge: BridgeThread, *files: tuple[str, bytes], path: str = "", **fields: Any) -> httpx.Response:
    forms = [("files", (name, data)) for name, data in files]
    url = f"{bridge.url}/convert/file{path}"
    return httpx.post(url, files=forms or {"x": b""}, data=fields, timeout=PATIENCE, trust_env=False)


def test_a_file_is_converted_at_once(bridge: BridgeThread, behind: Behind) -> None:
    behind(PageModel(Reader()))
    answer = send(bridge, ("a b.pdf", DIGITAL.read_bytes()), to_formats=["md", "json"])
    found = answer.json()
    assert answer.status_code == 200
    assert (found["status"], found["errors"], found["document"]["filename"]) == ("success", [], "a b.pdf")
    assert "#" in found["document"]["md_content"]
    assert found["document"]["json_content"]["schema_name"] == "DoclingDocument"
    assert found["document"]["html_content"] is None
    found = send(bridge, ("scan.png", scan())).json()
    assert found["document"]["md_content"].strip().endswith("Read by the host")


def test_a_digital_file_needs_no_host(bridge: BridgeThread) -> None:
    assert send(bridge, ("x.pdf", DIGITAL.read_bytes())).json()["status"] == "success"
    answer = send(bridge, ("scan.png", scan()))
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "backend_unavailable")


def test_several_files_come_back_in_an_archive(bridge: BridgeThread, behind: Behind) -> None:
    behind(PageModel(Reader()))
    answer = send(bridge, ("dir/a.pdf", DIGITAL.read_bytes()), ("dir/a.png", scan()), to_formats="md,text")
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert sorted(archive.namelist()) == ["2-a.md", "2-a.txt", "a.md", "a.txt"]
        assert b"Read by the host" in archive.read("2-a.md")


def test_pages_are_told_as_they_are_done(bridge: BridgeThread) -> None:
    url, form = f"{bridge.url}/convert/file", {"files": ("x.pdf", DIGITAL.read_bytes())}
    headers = {"Accept": "text/event-stream"}
    with httpx.stream("POST", url, files=form, headers=headers, timeout=PATIENCE, trust_env=False) as answer:
        events = [line.removeprefix("data: ") for line in answer.iter_lines() if line]
    assert events[-1] == "[DONE]"
    pages, document = [json.loads(event) for event in events[:-2]], json.loads(events[-2])
    assert [page["page"] for page in pages] == list(range(1, len(pages) + 1))
    assert {page["route"] for page in pages} == {"file"}
    assert document["status"] == "success"


@pytest.mark.parametrize("path", ["", "/async"])
def test_a_target_that_is_not_here_is_refused_as_clients_understand(bridge: BridgeThread, path: str) -> None:
    answer = send(bridge, ("digital.pdf", DIGITAL.read_bytes()), path=path, target_type="presigned_url")
    assert answer.status_code == 400
    assert "input should be 'inbody' or 'zip', not 'presigned_url'" in answer.text


def test_a_task_is_asked_for_until_it_has_ended(bridge: BridgeThread, behind: Behind) -> None:
    behind(PageModel(Reader()))
    task = send(bridge, ("scan.png", scan()), path="/async").json()
    assert task["task_type"] == "convert"
    state = bridge.get(f"/v1/status/poll/{task['task_id']}?wait=30").json()
    counts = {"num_docs": 1, "num_processed": 1, "num_succeeded": 1, "num_failed": 0}
    assert (state["task_status"], len(state["task_meta"].pop("pages"))) == ("success", 1)
    assert state["task_meta"] == counts
    result = bridge.get(f"/v1/result/{task['task_id']}").json()
    assert "Read by the host" in result["document"]["md_content"]
    pdf = bridge.get(f"/v1/result/{task['task_id']}?format=pdf")
    assert pdf.content.startswith(b"%PDF-")
    assert pdf.headers["content-disposition"] == "attachment; filename=document.pdf"
    assert bridge.get(f"/v1/result/{task['task_id']}?format=docx").status_code == 400
    assert bridge.get("/v1/status/poll/nobody").status_code == 404


def test_a_task_is_answered_in_the_formats_of_its_form(bridge: BridgeThread) -> None:
    task = send(bridge, ("digital.pdf", DIGITAL.read_bytes()), path="/async", to_formats="json").json()
    bridge.get(f"/v1/status/poll/{task['task_id']}?wait=30")
    document = bridge.get(f"/v1/result/{task['task_id']}").json()["document"]
    assert document["json_content"]["schema_name"] == "DoclingDocument"
    assert not document["md_content"]
    again = bridge.get(f"/v1/result/{task['task_id']}?to_formats=md").json()["document"]
    assert again["md_content"]


def test_a_task_that_fails_says_why(bridge: BridgeThread) -> None:
    task = send(bridge, ("notes.docx", b"PK no document"), path="/async").json()
    state = bridge.get(f"/v1/status/poll/{task['task_id']}?wait=30").json()
    assert state["task_status"] == "failure"
    assert "notes.docx" in state["error_message"]
    assert bridge.get(f"/v1/result/{task['task_id']}").status_code == 400


def test_open_webui_has_files_read(bridge: BridgeThread, behind: Behind) -> None:
    behind(PageModel(Reader()))
    headers = {"Content-Type": "image/png", "X-Filename": "caf%C3%A9.png"}
    answer = httpx.put(f"{bridge.base}/process", content=scan(), headers=headers, timeout=PATIENCE, trust_env=False)
    found = answer.json()
    assert found["page_content"].strip().endswith("Read by the host")
    assert found["metadata"] == {"source": "café.png", "pages": 1, "status": "ok"}
    empty = httpx.put(f"{bridge.base}/process", content=b"", timeout=PATIENCE, trust_env=False)
    assert (empty.status_code, empty.json()["error"]["code"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"to_formats": "docx"}, "to_formats: 'docx' is none of md, json"),
        ({"document_timeout": "soon"}, "document_timeout: 'soon' is no number"),
        ({"document_timeout": "-1"}, "above 0"),
        ({"page_range": ["3", "1"]}, "runs backwards"),
        ({"page_range": ["900", "901"]}, "has no page"),
    ],
)
def test_fields_that_cannot_be_meant_are_named(bridge: BridgeThread, fields: dict[str, Any], words: str) -> None:
    answer = send(bridge, ("x.pdf", DIGITAL.read_bytes()), **fields)
    assert answer.status_code == 400
    assert words in answer.json()["error"]["message"]


def test_what_is_no_form_and_no_document_is_named(bridge: BridgeThread) -> None:
    assert "multipart/form-data" in bridge.post("/convert/file", b"%PDF-").json()["error"]["message"]
    assert "holds no file" in send(bridge).json()["error"]["message"] or send(bridge).status_code == 400
    answer = send(bridge, ("notes.txt", b"just words"))
    assert answer.status_code == 400
    assert "notes.txt" in answer.json()["error"]["message"]
    broken = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = httpx.post(f"{bridge.url}/convert/file", content=b"--y", headers=broken, trust_env=False)
    assert answer.status_code == 400


def test_curl_does(bridge: BridgeThread) -> None:
    if shutil.which("curl") is None:
        pytest.skip("no curl")
    command = ["curl", "-sS", "--noproxy", "*", "-F", f"files=@{DIGITAL}", "-F", "to_formats=text"]
    done = subprocess.run([*command, f"{bridge.url}/convert/file"], capture_output=True, check=True, timeout=PATIENCE)
    assert json.loads(done.stdout)["document"]["text_content"]


def test_the_page_holds_no_key_and_fetches_nothing_from_elsewhere(place: str) -> None:
    with BridgeThread(place, key="secret") as bridge:
        page = bridge.get("/")
        assert page.status_code == 200
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert "http" not in page.text.replace("http-equiv", "")
        assert bridge.post("/convert/file", b"").status_code == 401


DRIVE = """<script>
addEventListener("load", async () => {
  const bytes = Uint8Array.from(atob("%s"), c => c.charCodeAt(0));
  await read(new File([bytes], "letter.pdf", {type: "application/pdf"}));
  const links = [...document.querySelectorAll("#files a")].map(link => link.textContent);
  const view = document.getElementById("view");
  await fetch("/told", {method: "POST", body: JSON.stringify({
    said: document.getElementById("said").textContent, links, shown: !view.hidden, view: view.srcdoc.length})});
});
</script></html>"""


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_a_file_dropped_on_the_page_is_read(place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In a real browser: the page's own code sends a file, waits for its pages and shows the viewer."""
    told: queue.Queue[Any] = queue.Queue()
    page = (files("warmwire.bridge") / "drop.html").read_text()
    drive = DRIVE % base64.b64encode(DIGITAL.read_bytes()).decode()
    (tmp_path / "drop.html").write_text(page.replace("</html>", drive))

    async def hear(self: Documents, request: Any, body: bytes, output: Any, record: Any) -> None:
        told.put(json.loads(body))
        await output.json({})

    routes = Documents.routes

    def with_ear(self: Documents) -> list[Route]:
        return [*routes(self), Route("/told", self._endpoint("/told", partial(hear, self)), methods=["POST"])]

    monkeypatch.setattr(documents, "files", lambda package: tmp_path)
    monkeypatch.setattr(Documents, "routes", with_ear)
    with BridgeThread(place) as bridge:
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
        browser = subprocess.Popen(
            [str(CHROMIUM), *flags, f"--user-data-dir={tmp_path}/profile", "--remote-debugging-port=0", bridge.base],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            found = told.get(timeout=PATIENCE)
        finally:
            browser.kill()
            browser.wait()
    assert found["said"].startswith("letter.pdf: ")
    assert found["links"] == ["Markdown", "HTML", "text", "JSON", "searchable PDF", "tables", "viewer"]
    assert found["shown"]
    assert found["view"] > 5000

"""`warmwire ocr` as people run it: files, a terminal or a pipe; in a process of its own where that matters."""

from __future__ import annotations

import base64
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli_support import run_bytes
from tests.pdf_support import outline
from tests.support import COMMAND, eventually, kill

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data" / "documents"
SCAN = ROOT / "examples" / "scan.pdf"


def run(*arguments: str | Path, stdin: bytes = b"", cwd: Path = DATA) -> subprocess.CompletedProcess[bytes]:
    return run_bytes(*arguments, stdin=stdin, cwd=cwd)


def run_process(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, cwd=DATA, timeout=240)


def failure(done: subprocess.CompletedProcess[bytes], status: int) -> str:
    """The one line that says what went wrong."""
    assert done.returncode == status, done.stderr
    assert b"Traceback" not in done.stderr
    (line,) = done.stderr.decode().splitlines()
    return line


def test_a_page_with_text_needs_no_model() -> None:
    done = run_process("ocr", "digital.pdf")
    assert done.returncode == 0
    text = done.stdout.decode()
    assert text.startswith("# Log Books of the Harbour\n")
    assert "## What the office keeps\n" in text
    assert "1. Book number 7\n2. Book number 8\n3. Book number 9\n" in text
    assert "| Ship | Year |\n| --- | --- |\n| Gannet | 1871 |\n| Two\\|Sisters | 1902 |\n" in text
    assert "digital.pdf: 1/1: page 1 by file" in done.stderr.decode()


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["nowhere.pdf"], 1, "nowhere.pdf: no such file"),
        (["no*.pdf"], 1, "no*.pdf: no document matches"),
        (
            ["https://example.org/x.pdf"],
            1,
            "nothing is fetched; download it first: curl -LO 'https://example.org/x.pdf'",
        ),
        (["data:application/pdf;base64,!"], 1, "the data: URL is not valid base64"),
        (["file://elsewhere/x.pdf"], 1, "is on another machine"),
        (
            ["digital.pdf", "out.md"],
            2,
            "if the result is to go there, put -o before it: -o out.md",
        ),
        (["digital.pdf", "frames.pdf", "-o", "x.md"], 2, "x.md is one file's name, but there are several"),
        ([""], 1, "a file name is empty"),
        (["make.py"], 1, "make.py: plain text, which needs no reading"),
        (["encrypted.pdf"], 1, "--password"),
        (["encrypted.pdf", "--password", "x"], 1, "password is wrong"),
        (["digital.pdf", "--pages", "7"], 1, "has no page 7; it has 1"),
        (["digital.pdf", "--pages", "3-1"], 2, "--pages 3-1"),
        (["digital.pdf", "--force", "--threshold", "0"], 2, "--force"),
        (["digital.pdf", "frames.pdf", "--format", "json"], 2, "directory with -o"),
        (["digital.pdf", "frames.pdf", "-o", "make.py"], 2, "make.py is a file"),
        (["digital.pdf", "-o", "digital.pdf"], 2, "is an input"),
        (["-", "-"], 2, "once only"),
        (["digital.pdf", "-o", "x.docx"], 2, "x.docx: there is no format with the suffix .docx; there are .md, "),
        (["digital.pdf", "-f", "md,word"], 2, "there is no format 'word'; there are md, "),
        (["digital.pdf", "-f", "md,html"], 2, "md and html cannot share stdout"),
        (["digital.pdf", "frames.pdf", "-f", "pdf"], 2, "directory with -o"),
        (["digital.pdf", "-f", "md,pdf", "-o", "digital.md"], 2, "digital.pdf is an input"),
    ],
)
def test_mistakes_get_one_line(arguments: list[str], status: int, words: str) -> None:
    assert words in failure(run("ocr", *arguments), status)


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7\nnothing else", b"GIF89a"])
def test_files_that_are_no_documents_get_one_line(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.pdf").write_bytes(content)
    assert "x.pdf: " in failure(run("ocr", "x.pdf", cwd=tmp_path), 1)


def test_one_bad_file_does_not_stop_the_others(tmp_path: Path) -> None:
    done = run("ocr", "nowhere.pdf", "digital.pdf", "frames.pdf", "-o", tmp_path / "out")
    assert done.returncode == 1
    assert sorted(os.listdir(tmp_path / "out")) == ["digital.md", "frames.md"]
    assert (tmp_path / "out" / "digital.md").stat().st_mode & 0o777 == 0o666 & ~current_umask()


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_several_formats_go_beside_each_other(tmp_path: Path) -> None:
    assert run("ocr", "digital.pdf", "-f", "md,html,pdf", "-o", tmp_path / "x.md").returncode == 0
    assert sorted(os.listdir(tmp_path)) == ["x.html", "x.md", "x.pdf"]
    assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF-")
    assert run("ocr", "digital.pdf", "-o", tmp_path / "y.txt").returncode == 0
    assert (tmp_path / "y.txt").read_text().startswith("Log Books of the Harbour\n")
    assert run("ocr", "digital.pdf", "-f", "md,text", "-o", f"{tmp_path}/out/").returncode == 0
    assert sorted(os.listdir(tmp_path / "out")) == ["digital.md", "digital.txt"]
    done = run("ocr", "encrypted.pdf", "--password", "secret", "-o", tmp_path / "z.pdf")
    assert done.returncode == 1
    assert "encrypted.pdf: is encrypted, so no text can be added" in done.stderr.decode().splitlines()[-1]


def test_figures_go_to_a_folder_and_are_linked(tmp_path: Path) -> None:
    done = run("ocr", "drawing.pdf", "-o", tmp_path / "x.md", "--images", tmp_path / "i")
    assert done.returncode == 0
    figures = os.listdir(tmp_path / "i")
    assert "drawing-1-1.png" in figures
    assert all(f"](i/{figure})" in (tmp_path / "x.md").read_text() for figure in figures)


def test_a_folder_becomes_a_tree_of_results(tmp_path: Path) -> None:
    data = (DATA / "digital.pdf").read_bytes()
    for name in ("in/x.pdf", "in/a/x.pdf", "in/a/x.PDF", "in/old/y.pdf", "in/.hidden/z.pdf", "in/out/was.pdf"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    (tmp_path / "in" / "notes.txt").write_text("no document")
    done = run("ocr", "in", "-o", "in/out", "--exclude", "old", "-f", "text", cwd=tmp_path)
    assert done.returncode == 0
    found = sorted(str(path.relative_to(tmp_path / "in" / "out")) for path in (tmp_path / "in" / "out").rglob("*.txt"))
    assert found == ["a/x.PDF.txt", "a/x.pdf.txt", "x.txt"]


def test_inputs_are_checked_before_the_first_page_is_read(tmp_path: Path) -> None:
    done = run("ocr", "digital.pdf", "encrypted.pdf", "nowhere.pdf", "frames.pdf", "-o", tmp_path / "out")
    assert done.returncode == 1
    said = done.stderr.decode().splitlines()
    assert "encrypted.pdf: the PDF is encrypted" in said[0]
    assert "nowhere.pdf: no such file" in said[1]
    assert sorted(os.listdir(tmp_path / "out")) == ["digital.md", "frames.md"]


def test_urls_of_this_machine_are_inputs() -> None:
    one = run("ocr", "digital.pdf").stdout
    assert run("ocr", (DATA / "digital.pdf").as_uri()).stdout == one
    data = base64.b64encode((DATA / "digital.pdf").read_bytes()).decode()
    assert run("ocr", f"data:application/pdf;base64,{data}").stdout == one


def test_standard_input_and_output() -> None:
    done = run("ocr", "-", "--format", "text", stdin=(DATA / "digital.pdf").read_bytes())
    assert done.returncode == 0
    assert done.stdout.startswith(b"Log Books of the Harbour\n")


def test_several_files_follow_each_other() -> None:
    one = run("ocr", "digital.pdf").stdout
    assert run("ocr", "digital.pdf", "digital.pdf").stdout == one + b"\n" + one


def test_json_carries_the_records() -> None:
    done = run("ocr", "frames.pdf", "--format", "json", "--pages", "2,5-")
    records = json.loads(done.stdout)["warmwire"]["pages"]
    assert [record["page"] for record in records] == [2, 5, 6, 7]
    keys = {"route", "why", "coverage", "largest_image", "text_quality", "turn", "engine", "status", "confidence"}
    assert keys | {"seconds", "error"} <= set(records[0])


def test_a_dry_run_prints_decisions_and_loads_no_model() -> None:
    done = run("ocr", "routes.pdf", "--dry-run")
    assert done.returncode == 0
    assert [line.split()[3] for line in done.stdout.decode().splitlines()] == [
        "file", "model", "model", "model", "file", "file", "model", "file", "model",
    ]  # fmt: skip
    nobody = ("--socket", "/nowhere/s")  # who would be asked for a model
    told = run("ocr", "routes.pdf", "--dry-run", "--format", "json", *nobody)
    assert json.loads(told.stdout)["pages"][1]["route"] == "model"


def test_nothing_to_read_is_said_and_no_success(tmp_path: Path) -> None:
    done = run("ocr", DATA / "routes.pdf", "--pages", "6", "-o", "out.md", cwd=tmp_path)
    assert done.returncode == 1
    assert "no text was found" in done.stderr.decode()
    assert os.listdir(tmp_path) == []


def test_names_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    name = b"\x1b[31m\xff\nx.pdf"
    (tmp_path / os.fsdecode(name)).write_bytes((DATA / "digital.pdf").read_bytes())
    done = run("ocr", os.fsdecode(name), "--format", "json", cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["warmwire"]["source"].endswith("x.pdf")
    assert b"\x1b" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert run("ocr", os.fsdecode(name), "--dry-run", cwd=tmp_path).stdout.count(b"\n") == 1
    assert json.loads(run("ocr", os.fsdecode(name), "--dry-run", "-f", "json", cwd=tmp_path).stdout)["pages"]


def test_devices_and_links_are_written_to_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "real.md").write_text("old")
    (tmp_path / "link.md").symlink_to("real.md")
    assert run("ocr", DATA / "digital.pdf", "-o", "link.md", cwd=tmp_path).returncode == 0
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "real.md").read_text().startswith("# Log Books")
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE)
    assert run("ocr", DATA / "digital.pdf", "-o", "pipe", cwd=tmp_path).returncode == 0
    assert reader.communicate(timeout=60)[0].startswith(b"# Log Books")
    assert (tmp_path / "pipe").is_fifo()


def test_a_pipe_is_an_input(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = subprocess.Popen(["sh", "-c", f"cat {DATA / 'digital.pdf'} > {tmp_path / 'pipe'}"])
    done = run("ocr", tmp_path / "pipe")
    assert writer.wait(timeout=60) == 0
    assert done.stdout.startswith(b"# Log Books")
    assert "not a file" in failure(run("ocr", "/dev/zero"), 1)


def test_an_output_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run("ocr", DATA / "digital.pdf", "-o", "file/x.md", cwd=tmp_path)
    assert done.returncode == 1
    assert "file/x.md: cannot be written" in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_a_bar_on_a_terminal() -> None:
    parent, child = pty.openpty()
    try:
        subprocess.run([*COMMAND, "ocr", "frames.pdf"], stdout=subprocess.DEVNULL, stderr=child, cwd=DATA, timeout=60)
        os.close(child)
        shown = b""
        try:
            while piece := os.read(parent, 65536):
                shown += piece
        except OSError:
            pass  # how a terminal says that its other end is closed
    finally:
        os.close(parent)
    assert b"7/7" in shown


def test_help_is_instant() -> None:
    """Processor time, against that of a bare interpreter: a busy machine stretches both."""

    def processor_time(*command: str) -> float:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
        assert status == 0
        return usage.ru_utime + usage.ru_stime

    bare, with_help = [], []
    for _ in range(7):  # in turns, so that both meet the same machine
        bare.append(processor_time(sys.executable, "-c", "pass"))
        with_help.append(processor_time(*COMMAND, "ocr", "--help"))
    assert min(with_help) - min(bare) < max(0.15, 20 * min(bare))


def test_an_interrupt_leaves_no_half_result(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "never.pdf")
    child = subprocess.Popen(
        [*COMMAND, "ocr", str(DATA / "digital.pdf"), "never.pdf", "-o", "out"], cwd=tmp_path, stderr=subprocess.PIPE
    )
    assert child.stderr is not None
    assert b"page 1" in child.stderr.readline()
    eventually((tmp_path / "out" / "digital.md").exists, "the first result")
    child.send_signal(signal.SIGINT)
    assert b"interrupted" in child.communicate(timeout=60)[1]
    assert child.returncode == 130
    assert os.listdir(tmp_path / "out") == ["digital.md"]


@pytest.fixture
def sockets() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="ww") as folder:
        yield Path(folder)


def serve(model: str, path: Path, *more: str) -> subprocess.Popen[bytes]:
    host = subprocess.Popen([*COMMAND, "serve", model, "--socket", str(path), *more], stderr=subprocess.PIPE)
    for _ in range(1200):
        if path.exists():
            return host
        assert host.poll() is None, host.stderr and host.stderr.read()
        time.sleep(0.1)
    raise AssertionError("the host did not come up")


def stop(host: subprocess.Popen[bytes]) -> None:
    host.terminate()
    host.communicate(timeout=60)


def test_pages_are_read_through_a_host(sockets: Path) -> None:
    host = serve("echo", sockets / "s")
    try:
        done = run("ocr", "routes.pdf", "--pages", "2", "--socket", sockets / "s", "--dpi", "72")
    finally:
        stop(host)
    assert done.returncode == 0
    assert re.match(rb"\[image \S+ 612x792\]Convert this page to docling\.", done.stdout)


@pytest.mark.slow
def test_a_scan_is_read_the_same_here_and_through_a_host(sockets: Path, tmp_path: Path) -> None:
    here = run_process("ocr", SCAN)
    assert here.returncode == 0
    text = here.stdout.decode()
    assert text.startswith("# The Log Books of the Harbour\n")
    for part in ("## How it began\n", "- Use pencils only\n", "3. Hand the slip to the desk\n", "| Patience | 1890 |"):
        assert part in text
    places = [text.index(part) for part in ("older books are brittle", "In the second year", "## Rules of the house")]
    assert places == sorted(places), "columns are read one by one, and what stands below them after both"
    host = serve("pages", sockets / "s")
    try:
        there = run_process("ocr", SCAN, "--socket", sockets / "s", "-f", "md,pdf", "-o", tmp_path / "x.md")
        assert there.returncode == 0
        assert (tmp_path / "x.md").read_bytes() == here.stdout
        for child in Path(f"/proc/{host.pid}/task/{host.pid}/children").read_text().split():
            kill(int(child))
        again = run_process("ocr", SCAN, "--socket", sockets / "s", "--pages", "2")
        assert again.stdout.decode() in text
    finally:
        stop(host)
    tree = [line for page in (0, 1) for line in outline((tmp_path / "x.pdf").read_bytes(), page)]
    heads = [line for line in tree if line.startswith(".H")]
    assert [f"{'#' * int(line[2])}{line[3:]}" for line in heads] == re.findall(r"^#+ .*$", text, re.MULTILINE)
    assert "...LBody Use pencils only" in tree
    assert {"...TD Patience", "...TD 1890"} <= set(tree)


def test_a_form_of_a_kind_that_pdfium_does_not_know_is_read_without_its_complaint(tmp_path: Path) -> None:
    plain, catalog = (DATA / "digital.pdf").read_bytes(), b"<</Type/Catalog/Pages 2 0 R"
    file = tmp_path / "xfa.pdf"
    file.write_bytes(plain.replace(catalog, catalog + b"/AcroForm<</XFA(<xdp/>)/Fields[]>>", 1))
    done = run_process("ocr", str(file))
    assert done.returncode == 0
    assert all(line.startswith("warmwire: ") for line in done.stderr.decode().splitlines())

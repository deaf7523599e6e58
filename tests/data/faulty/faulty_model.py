"""A plug-in with a model `faulty`, which does what the first word of a prompt says, and a page model `faulty-pages`.

A worker is a fresh interpreter, so the tests put this folder, which has a package's metadata too, on its PYTHONPATH.
"""

import os
import signal
import sys
import time
import zlib

from warmwire.models.kind import Kind


class Faulty:
    name = "faulty"

    @property
    def capabilities(self):
        from warmwire.models.interface import Capabilities

        return Capabilities()

    def generate(self, request, emit, cancelled):
        from warmwire.models.interface import Finish
        from warmwire.media.images import decode_image
        from warmwire.errors import InvalidRequestError
        from warmwire.wire.generation.messages import OutBlock, StopReason

        def say(text):
            emit(OutBlock("text", text))

        order, _, argument = request.messages[-1].content[-1].text.partition(" ")
        say(f"pid {os.getpid()} ")
        match order:
            case "exit":
                os._exit(int(argument))
            case "kill":
                os.kill(os.getpid(), int(argument))
            case "answer-and-exit":
                import threading

                threading.Timer(0, os._exit, (0,)).start()
            case "watch":  # until cancelled
                while not cancelled.wait(0.002):
                    pass
                with open(argument, "w") as file:
                    file.write("cancelled")
                say("never seen")
            case "mark" | "slow":  # "mark NAME COUNT": the name so many times; slowly, it hears of a cancel
                name, count = argument.split()
                for number in range(int(count)):
                    if order == "slow" and cancelled.wait(0.005):
                        break
                    say(f"{name}-{number} ")
            case "wait":  # for a file; another one says who does
                open(f"{argument}.{os.getpid()}", "w").close()
                while not os.path.exists(argument):
                    time.sleep(0.01)
            case "deaf":
                time.sleep(1000)
            case "stop":
                os.kill(os.getpid(), signal.SIGSTOP)
            case "grow":  # by so many MB
                self.kept = b"x" * (int(argument) << 20)
            case "raise":
                raise ValueError("caf\udce9")
            case "refuse":
                raise InvalidRequestError("not like this")
            case "memory":
                raise MemoryError
            case "report":
                return Finish(report={"x": object()})
            case "flood":
                for _ in range(int(argument)):
                    say("x" * 100_000)
            case "burst":
                for _ in range(int(argument) // 2000):
                    say("x" * 2000)
            case "sum":
                for attachment in request.attachments:
                    if attachment.kind == "image":
                        say(f"{int(decode_image(attachment).sum())} ")
                    else:
                        say(f"{attachment.kind} {len(attachment.data)} ")
            case "scribble":
                image = decode_image(request.attachments[0])
                before = int(image.sum())
                image[:] = 255
                say(f"{before} ")
            case "print":
                print("noise on stdout")
                os.system("echo noise of a child")
            case "tool":
                emit(OutBlock("tool_use", tool_call_id="tc-1", name="f", input={"x": 1}))
                return Finish(StopReason.TOOL_USE, report={"confidence": 1})
        return Finish()


class FaultyTasks(Faulty):
    """Embeds and ranks as well: numbers that only this text, or this query with this document, has."""

    name = "faulty-tasks"

    @property
    def capabilities(self):
        from warmwire.models.interface import Capabilities

        return Capabilities(embed=True, rerank=True, dimensions=2)

    def embed(self, texts, cancelled, *, dimensions=None, task=None):
        from warmwire.models.interface import Embeddings

        self._obey(texts[0], cancelled)
        return Embeddings([[number_of(text), 1.0] for text in texts], 2, self.name)

    def rerank(self, query, documents, cancelled, *, top_n=None):
        from warmwire.models.interface import Ranking, rank

        self._obey(query, cancelled)
        return Ranking(rank([number_of(f"{query}/{document}") for document in documents], top_n), self.name)

    def _obey(self, text, cancelled):
        if text.startswith("exit"):
            os._exit(3)
        if text.startswith("raise"):
            raise ValueError(text)
        if text.startswith("slow"):
            cancelled.wait(0.5)


def number_of(text):
    return zlib.crc32(text.encode()) / (1 << 32)


class Sheets:
    """Calls a page by its pixels, and notes in the file FAULTY_SHOWN that it was shown it."""

    name = "faulty-pages"

    def generate(self, image, prompt, max_tokens, emit, cancelled):
        sheet = f"sheet{zlib.crc32(image.tobytes()):08x}"
        with open(os.environ["FAULTY_SHOWN"], "a") as file:
            file.write(f"{sheet}\n")
        cancelled.wait(0.02)
        emit(sheet)


def load_faulty(name):
    from warmwire.errors import InputError

    if name in ("faulty-file", "faulty-reads-file"):
        raise InputError("the model file is not there")
    if name == "faulty-bug":
        raise RuntimeError("a bug while loading")
    if name == "faulty-exit":
        os._exit(7)
    while "@" in name and not os.path.exists(name.partition("@")[2]):  # faulty@FILE loads when the file is there
        time.sleep(0.02)
    if "=" in name:  # faulty=FILE dies while loading as long as the file exists
        path = name.partition("=")[2]
        with open(f"{path}.tries", "a") as file:
            file.write("x")
        if os.path.exists(path):
            os._exit(9)
    return FaultyTasks() if name == FaultyTasks.name else Faulty()


class FaultyKind(Kind):
    word = "faulty"
    usage = "faulty[-pages|-tasks|-file|-bug|-exit|@FILE|=FILE]"
    summary = "a model that fails as it is told"

    def matches(self, name):
        return name.startswith("faulty")

    def load(self, name, threads):
        if name == Sheets.name:
            from warmwire.models.interface import PageModel

            return PageModel(self.load_pages(name, threads))
        return load_faulty(name)

    def page_name(self, name):
        return name if name == Sheets.name or name.startswith("faulty-reads") else None

    def load_pages(self, name, threads):
        return Sheets()

"""`warmwire chat`: a conversation with the model of a running host.

The wire has no conversations: each request brings all that has been said. What the model still knows of it, it does not
read again, so a long conversation goes on as fast as it began.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warmwire.cli.console.options import HostSocket

if TYPE_CHECKING:
    from warmwire.client import Attachment, Client, Message, Stream

_HELP = """\
/system TEXT   system prompt: how the model is to behave; without TEXT there is none
/image FILE    show a picture with what you say next
/save FILE     write the conversation to a file, as Markdown
/clear         forget the conversation and begin again
/quit          leave, as Ctrl-D does
A line that ends in \\ goes on in the next. Ctrl-C stops an answer, which is kept."""


def chat(
    system: Annotated[
        str, typer.Option("--system", "-s", metavar="TEXT", help="System prompt: how the model is to behave.")
    ] = "",
    max_tokens: Annotated[
        int | None, typer.Option(min=1, max=2**32 - 1, help="Stop each answer after this many tokens.")
    ] = None,
    socket: HostSocket = None,
) -> int:
    """Talk with the model of a running host: a prompt that remembers what was said.

    Type /help for its commands. Piped in, every line is one message, answered before the next is sent.
    """
    from warmwire.cli.console.reach import reach

    typed, shown = sys.stdin.isatty(), sys.stdout.isatty()
    with reach(socket) as client:
        talk = Talk(client, _show_markdown if shown else _show_plain, system, max_tokens)
        if typed:
            print(f"warmwire: {_HELP.splitlines()[-1]} /help tells more.", file=sys.stderr)
        for said in _turns(_typed_lines() if typed else (line.rstrip("\n") for line in sys.stdin)):
            if not talk.hear(said):
                break
    return 0 if typed or not talk.failed else 1


Show = Callable[["Stream"], None]
"""Shows an answer as it comes, to its end."""


class Talk:
    """A conversation: what has been said, and what is shown with what is said next."""

    def __init__(self, client: Client, show: Show, system: str = "", max_tokens: int | None = None) -> None:
        self._client = client
        self._show = show
        self._system = system
        self._max_tokens = max_tokens
        self.messages: list[Message] = []
        self.attachments: list[Attachment] = []
        self._pending: list[Attachment] = []
        self.failed = False

    def hear(self, said: str) -> bool:
        """Obey a command, or have an answer to anything else; returns whether to go on."""
        word, _, rest = said.partition(" ")
        if word == "/quit":
            return False
        if not word.startswith("/"):
            if said.strip():
                self._answer(said)
            return True
        self._obey(word, rest.strip())
        return True

    def _obey(self, word: str, rest: str) -> None:
        match word:
            case "/help":
                self._tell(_HELP)
            case "/system":
                self._system = rest
            case "/image":
                self._look_at(rest)
            case "/save":
                self._save(rest)
            case "/clear":
                self.messages, self.attachments, self._pending = [], [], []
            case _:
                self._fail(f"no command {word}; /help names them")

    def _answer(self, said: str) -> None:
        from warmwire.client import Block, Message, Request, text_block
        from warmwire.errors import WarmwireError

        shown = [Block(a.kind, attachment_id=a.id) for a in self._pending]
        asked = Message("user", [*shown, text_block(said)])
        system = [Message("system", [text_block(self._system)])] if self._system else []
        request = Request(
            messages=[*system, *self.messages, asked],
            attachments=[*self.attachments, *self._pending],
            max_tokens=self._max_tokens,
        )
        try:
            with self._client.generate(request) as stream:
                try:
                    self._show(stream)
                except KeyboardInterrupt:  # enough of this answer, not of the conversation
                    self._tell("stopped")
            answer = stream.answer.text
        except WarmwireError as error:
            self._fail(str(error))
            answer = error.partial
        if answer:  # what got no answer is as good as not said
            self.messages += [asked, Message("assistant", [text_block(answer)])]
            self.attachments += self._pending
            self._pending = []

    def _look_at(self, file: str) -> None:
        from warmwire.errors import WarmwireError
        from warmwire.media.images import image_attachment
        from warmwire.media.pictures import load_picture

        number = len(self.attachments) + len(self._pending) + 1
        try:
            self._pending.append(image_attachment(f"image-{number}", load_picture(Path(file).expanduser())))
        except WarmwireError as error:
            self._fail(str(error))

    def _save(self, file: str) -> None:
        parts = [f"**system:** {self._system}\n"] if self._system else []
        for message in self.messages:
            pictures = "".join(f"[{block.attachment_id}] " for block in message.content if block.attachment_id)
            parts.append(f"**{message.role}:** {pictures}{''.join(block.text or '' for block in message.content)}\n")
        try:
            Path(file).expanduser().write_text("\n".join(parts), encoding="utf-8")
        except OSError as error:
            self._fail(f"{file or '/save'}: {error.strerror or error}")
        else:
            self._tell(f"{file}: {len(self.messages)} messages")

    def _tell(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def _fail(self, text: str) -> None:
        self.failed = True
        self._tell(f"warmwire: {text}")


def _turns(lines: Iterator[str]) -> Iterator[str]:
    """What is said at a time: a line, and those after it while they end in a backslash."""
    parts: list[str] = []
    for line in lines:
        parts.append(line.removesuffix("\\"))
        if not line.endswith("\\"):
            yield "\n".join(parts)
            parts = []
    if parts:
        yield "\n".join(parts)


def _typed_lines() -> Iterator[str]:
    """Lines of a terminal, with editing and history where Python has them. Ctrl-C gives a line up, Ctrl-D ends."""
    with suppress(ImportError):
        import readline  # noqa: F401  # input() uses it once it is there
    while True:
        try:
            yield input("> ")
        except EOFError:
            print()
            return
        except KeyboardInterrupt:
            print()


def _show_plain(stream: Stream) -> None:
    from warmwire.cli.verbs.ask import print_answer

    print_answer(stream)


def _show_markdown(stream: Stream) -> None:
    from rich.console import Console
    from rich.live import Live
    from rich.markdown import Markdown

    from warmwire.cli.verbs.ask import harmless

    parts: list[str] = []
    with Live(console=Console(), refresh_per_second=8, vertical_overflow="visible") as live:
        for delta in stream:
            parts.append(harmless(delta))
            live.update(Markdown("".join(parts)))

"""Every command that a page shows: in indented blocks, in fenced blocks without a language or for a shell, inline."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

SOURCE_TREE = Path(__file__).resolve().parents[2]
PAGES = [SOURCE_TREE / "README.md", *sorted((SOURCE_TREE / "docs").glob("*.md"))]

SHELLS = ("", "bash", "sh", "shell", "console")
"""Languages of fenced blocks that hold commands; what is none gets another one, such as text."""

INLINE = re.compile(r"(\w+=\S+ )*((mario-rl|make|python3?|pytest|\.venv/bin/\S+) \S|(docker|scripts)/\w+\.sh\b)")
"""How inline code begins that is a command."""
BRIEF = re.compile(r"(bench|burn|distill|evaluate|explore|export|play|plot|record|rom|selfplay|train|watch) \S")
"""The same without its first word, as in a table: `mario-rl watch RUN`, `plot RUN`."""

_FENCE = re.compile(r"(\s*)(```+|~~~+)\s*(\w*)")
_LIST = re.compile(r"(\s*)([-*]|\d+\.)\s+")
_SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_NO_COMMANDS = re.compile(r"[\u2500-\u27BF·]|^\s*[{\[<]", re.MULTILINE)  # a drawing, a listing of files, JSON


@dataclass(frozen=True)
class Command:
    """One command of a page."""

    page: str
    line: int
    text: str

    @property
    def where(self) -> str:
        """For people, and for their editors."""
        return f"{self.page}:{self.line}"


def commands_of(page: Path) -> list[list[Command]]:
    """The commands of a page in its order: those of a block together, one that stands in the text by itself."""
    name = str(page.relative_to(SOURCE_TREE)) if page.is_relative_to(SOURCE_TREE) else page.name
    blocks, prose = _split(page.read_text())
    found = [[Command(name, line, text) for line, text in _commands(block)] for block in blocks]
    for paragraph in prose:
        found += [[Command(name, line, text)] for line, text in _spans(paragraph)]
    return sorted((block for block in found if block), key=lambda block: block[0].line)


Lines = list[tuple[int, str]]


def _split(text: str) -> tuple[list[Lines], list[Lines]]:
    """Blocks that may hold commands, and paragraphs of text; lines are numbered from 1."""
    blocks: list[Lines] = []
    prose: list[Lines] = [[]]
    fence: str | None = None  # what ends the block that we are in
    keep = False  # whether that block may hold commands
    indented = False
    in_list = 0  # columns by which the text of a list is indented
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        opening = _FENCE.match(line)
        if fence is not None:
            if line.strip() == fence:
                fence = None
            elif keep:
                blocks[-1].append((number, line))
            continue
        if opening and len(opening[1]) < 4 + in_list:
            fence, keep, indented = opening[2], opening[3] in SHELLS, False
            in_list = min(in_list, len(opening[1]))
            if keep:
                blocks.append([])
            prose.append([])
            continue
        if (item := _LIST.match(line)) and not indented:
            in_list = len(item[0])
        elif line and not line.startswith(" "):
            in_list = 0
        deep = len(line) - len(line.lstrip(" ")) >= 4 + in_list and not (item and in_list == len(item[0]))
        if deep and (indented or not before.strip()):
            if not indented:
                blocks.append([])
            indented = True
            blocks[-1].append((number, line))
        elif line.strip():
            indented = False
            prose[-1].append((number, line))
        else:
            indented = False
            prose.append([])
        before = line
    return blocks, prose


def _commands(block: Lines) -> Lines:
    """The lines of a block that are typed; a block with prompts shows output as well, a drawing has none."""
    text = "\n".join(line for _, line in block)
    if _NO_COMMANDS.search(text) and not re.search(r"^\s*\$ ", text, re.MULTILINE):
        return []
    prompts = any(line.strip().startswith("$ ") for _, line in block)
    found: Lines = []
    goes_on = False
    for number, line in block:
        typed = line.strip()
        if prompts and not goes_on and not typed.startswith("$ "):
            continue
        typed = re.sub(r"(^|\s+)#( .*)?$", "", typed.removeprefix("$ "))
        if goes_on:
            found[-1] = (found[-1][0], f"{found[-1][1]} {typed}")
        elif typed:
            found.append((number, typed))
        goes_on = bool(found) and found[-1][1].endswith("\\")
        if goes_on:
            found[-1] = (found[-1][0], found[-1][1][:-1].rstrip())
    return found


def _spans(paragraph: Lines) -> Lines:
    """Inline code that is a command; it may go on in the next line."""
    text = "\n".join(line for _, line in paragraph)
    found: Lines = []
    for span in _SPAN.finditer(text):
        typed = " ".join(span[1].split())
        if INLINE.match(typed) or BRIEF.match(typed):
            number = paragraph[text.count("\n", 0, span.start())][0]
            found.append((number, typed if INLINE.match(typed) else f"mario-rl {typed}"))
    return found

"""What a dying process says is heard by the others, its end above all."""

from __future__ import annotations

import pytest

from mario_rl.distributed.last_words import ROOM, SharedLastWords
from tests.distributed.child_processes import a_name


@pytest.mark.parametrize("text", ["", "ValueError: no flagpole", "ä" * ROOM, "x" * ROOM + "\nKeyError: 'end'\n"])
def test_last_words_keep_the_end(text: str) -> None:
    ours = SharedLastWords(a_name("words"), workers=2, create=True)
    SharedLastWords(ours.name, workers=2).say(1, text)
    heard = ours.hear(1)
    assert text.strip().endswith(heard.lstrip("�"))
    assert heard.splitlines()[-1:] == text.splitlines()[-1:] or len(text.encode()) > ROOM
    assert bool(heard) is bool(text)
    assert (ours.hear(0), ours.hear(ours.coordinator)) == ("", ""), "said by nobody else"
    ours.say(1, "short")
    assert ours.hear(1) == "short"
    ours.forget(1)
    assert ours.hear(1) == ""
    ours.close()

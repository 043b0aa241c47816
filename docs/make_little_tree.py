"""Writes the little tree into docs/cartridge.md, in words and as generated source: `python docs/make_little_tree.py`.

Its player is docs/little_tree.json, which `mario-rl distill --form tree --bytes 384` made. A test writes the page again
and compares.
"""

from __future__ import annotations

from pathlib import Path

from mario_rl.distill.player_file import load_player_file

PAGE = Path(__file__).parent / "cartridge.md"
PLAYER = Path(__file__).parent / "little_tree.json"
BEGIN = "<!-- little tree: written by `python docs/make_little_tree.py` -->\n"
END = "<!-- end of the little tree -->\n"


def block() -> str:
    """What stands between the markers."""
    player = load_player_file(PLAYER)
    made = player.form.compile()
    stage = player.card["stages"][-1]
    rates = ", ".join(f"{100 * rate:g} % of level {level}" for level, rate in stage["clear_rates"].items())
    source = made.source(
        "docs/little_tree.json, as `mario-rl burn docs/little_tree.json --source little_tree.s` writes it."
    )
    return f"""\
In words (`mario-rl distill docs/little_tree.json --explain`):

```text
{player.form.explain()}
```

As source, {len(made.code)} bytes in all, at most {stage["cycles"]:,} cycles a call. It clears {rates} \
({stage["games"]} games each, by `mario-rl distill`'s own measurement on the rules engine).

```asm
{source.rstrip()}
```
"""


def with_block(page: str) -> str:
    """The page with what is between its markers replaced."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE.name} lacks the markers {BEGIN.strip()} and {END.strip()}")
    return f"{before}{begin}{block()}{end}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_block(PAGE.read_text()))
    print(f"wrote {PAGE.name}")

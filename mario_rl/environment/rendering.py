"""How an environment shows itself: the same for every game."""

from __future__ import annotations

FRAMES_PER_SECOND = 60
RENDER_MODES = ("rgb_array",)


def check_render_mode(render_mode: str | None) -> None:
    """Complain about a render mode we do not have."""
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise ValueError(f"unknown render_mode {render_mode!r}; use {', '.join(RENDER_MODES)} or None")

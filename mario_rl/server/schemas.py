"""What goes in and out of the service: the requests and answers that HTTP and MCP share, with their bounds."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from mario_rl.emulators.base import DOWN, LEFT, RAM_SIZE, RIGHT, SELECT, START, UP, A, B
from mario_rl.emulators.remote_step import LONGEST_STEP

BUS_SIZE = 0x10000
LONGEST_NAME = 64
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
DISPLAY_PATTERN = r"^[A-Za-z0-9.-]{0,64}:[0-9]{1,5}(\.[0-9]{1,3})?$"

Button = Literal["A", "B", "SELECT", "START", "UP", "DOWN", "LEFT", "RIGHT"]
BUTTONS: dict[str, int] = {
    "A": A, "B": B, "SELECT": SELECT, "START": START, "UP": UP, "DOWN": DOWN, "LEFT": LEFT, "RIGHT": RIGHT,
}  # fmt: skip


def _from_hexadecimal(value: Any) -> Any:
    """People write addresses as 0x0046."""
    if isinstance(value, str) and value.lower().startswith("0x"):
        try:
            return int(value, 16)
        except ValueError:
            pass
    return value


Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=LONGEST_NAME)]
SessionName = Annotated[
    Name,
    Field(description="Which console: a name of one's own. There is one Mednafen per session.", examples=["default"]),
]
Address = Annotated[
    int,
    BeforeValidator(_from_hexadecimal),
    Field(ge=0, lt=BUS_SIZE, description="On the CPU's bus; 0x... is understood, too.", examples=[0x46]),
]
RamAddress = Annotated[
    int, BeforeValidator(_from_hexadecimal), Field(ge=0, lt=RAM_SIZE, description="In RAM.", examples=[0x0316])
]
Byte = Annotated[int, Field(ge=0, le=255)]
Frames = Annotated[int, Field(ge=1, le=LONGEST_STEP, description="60 are a second of play.", examples=[4])]
Pad = Annotated[
    Byte | Annotated[list[Button], Field(max_length=8)],
    Field(
        description="Held buttons, by name or as bits: 128 A, 64 B, 32 SELECT, 16 START, 8 UP, 4 DOWN, 2 LEFT, 1 RIGHT."
    ),
]


def pad_bits(pad: int | list[Button]) -> int:
    """The byte a pad is."""
    if isinstance(pad, int):
        return pad
    bits = 0
    for button in pad:
        bits |= BUTTONS[button]
    return bits


class Request(BaseModel):
    """A mistyped field is a mistake, not a wish for the default."""

    model_config = ConfigDict(extra="forbid")


class LaunchRequest(Request):
    """Which cartridge, and how to show it."""

    rom_path: Annotated[str, Field(min_length=1, max_length=1024)] | None = Field(
        default=None, description="A file in one of the server's ROM folders (None: the one that is found for `game`)."
    )
    game: Literal["antidote", "drmario", "smb"] = Field(
        default="drmario", description="Without rom_path: what to look for, as `mario-rl rom list` shows."
    )
    headless: bool = Field(default=True, description="False opens Mednafen's window.")
    display: Annotated[str, Field(pattern=DISPLAY_PATTERN)] | None = Field(
        default=None, description="The X display of that window (None: the server's own, or a virtual one)."
    )
    play: bool = Field(default=True, description="Walk through the menus into play; False stays where power-on leads.")


class ConnectRequest(Request):
    """How to attach to a console."""

    writer: bool = Field(default=False, description="Be its only writer: others can read but not write.")
    launch: bool = Field(default=True, description="Launch it if it is not running.")


class StepRequest(Request):
    """What to hold, for how long, and what to return."""

    pads: Annotated[list[Pad], Field(max_length=2)] = Field(
        default=[], description="Player 1's pad, then player 2's.", examples=[[["LEFT", "A"], 0]]
    )
    frames: Frames = 1
    returns: Literal["none", "ram", "frame", "state", "game_state"] = Field(
        default="game_state",
        alias="return",
        description="ram, or state (as saved): base64; frame: a PNG in base64; game_state: what GET /game_state says.",
    )


class ResetRequest(Request):
    """How to begin again."""

    play: bool = Field(default=True, description="Walk through the menus into play.")


class WriteRequest(Request):
    """Bytes for RAM."""

    address: RamAddress
    data: Annotated[list[Byte], Field(min_length=1, max_length=RAM_SIZE)] = Field(examples=[[1, 2]])


class LaunchAnswer(BaseModel):
    """How a launch went."""

    success: bool
    pid: int | None = Field(description="Of the Mednafen process.")
    nes_ram_base: int | None = Field(description="Where the console's RAM is in that process.")
    game_mode: str
    in_gameplay: bool
    message: str


class Status(BaseModel):
    """How a console is; true at any moment, also while it is being recovered."""

    session: str
    managed: bool = Field(description="The server owns a console of this name.")
    state: Literal["stopped", "launching", "running", "recovering", "failed"]
    alive: bool
    emulator: str
    pid: int | None
    nes_ram_base: int | None
    game: str | None = Field(description="drmario, smb, or null if the cartridge is none of them.")
    game_mode: str
    in_gameplay: bool
    restarts: int = Field(description="How often the console was lost and brought back.")
    frames: int = Field(description="Run since it was launched.")
    has_writer: bool = Field(description="A client has reserved writing.")
    uptime: float = Field(description="Seconds since it was launched.")


class ConnectAnswer(BaseModel):
    """What a client needs to know to go on."""

    writer: str | None = Field(description="Send it as the header X-Writer with everything that writes.")
    lease_seconds: float = Field(description="Who does not write for so long loses the right if another one claims it.")
    status: Status


class Sessions(BaseModel):
    """All consoles."""

    sessions: list[Status]
    most: int


class Memory(BaseModel):
    """Bytes of the CPU's bus."""

    address: int
    length: int
    hex: str = Field(description="Two digits a byte.")


class Capsule(BaseModel):
    """A capsule in the bottle."""

    colours: tuple[str, str] = Field(description="Left and right, or lower and upper half.")
    x: int = Field(description="Column, 0 is the left one; of the left half.")
    y: int = Field(description="Row, 0 is the bottom; of the lower half.")
    rotation: int = Field(description="0 lies, 1 stands, 2 lies turned, 3 stands turned.")


class Bottle(BaseModel):
    """A player's side of Dr. Mario."""

    player: int
    level: int
    speed: str
    viruses: int
    capsules: int
    capsule: Capsule | None = Field(description="The one that can be moved now.")
    next: tuple[str, str]
    field: list[str] = Field(description="16 rows from the top: . nothing, y r b pieces, Y R B viruses, * cleared.")
    cleared: bool
    topped_out: bool


class DrMarioState(BaseModel):
    """A round of Dr. Mario or Antidote."""

    players: int
    paused: bool
    score: int
    bottles: list[Bottle] = Field(description="Player 1's and, in a round for two, player 2's.")


class SmbState(BaseModel):
    """Where Mario is."""

    world: int
    stage: int
    x: int
    y: int
    lives: int
    power: str
    score: int
    coins: int
    clock: int
    dead: bool
    finished: bool


class GameState(BaseModel):
    """The game, decoded."""

    game: str | None
    game_mode: str
    in_gameplay: bool
    drmario: DrMarioState | None = None
    smb: SmbState | None = None


class StepAnswer(BaseModel):
    """How it is after a step; of the last four, the one that was asked for."""

    frames: int
    game_mode: str
    in_gameplay: bool
    ram: str | None = None
    frame: str | None = None
    state: str | None = None
    game_state: GameState | None = None


class SavedState(BaseModel):
    """A state kept under a name."""

    name: str
    size: int
    saved_at: float = Field(description="Seconds since 1970.")


class SavedStates(BaseModel):
    """All of them."""

    states: list[SavedState]


class Problem(BaseModel):
    """Why a request was refused."""

    model_config = ConfigDict(extra="allow")

    error: str = Field(description="forbidden, not_there, not_running, reset, invalid, locked or too_many.")
    detail: str

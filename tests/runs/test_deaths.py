"""deaths.csv as columns, whatever has become of the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mario_rl.runs.deaths import Deaths, read_deaths

HEADER = "time,level,area,x_pos\n"


def as_rows(deaths: Deaths) -> list[tuple[float, str, int, int]]:
    columns = deaths.time.tolist(), deaths.level.tolist(), deaths.area.tolist(), deaths.x.tolist()
    return list(zip(*columns, strict=True))


@given(
    st.lists(
        st.tuples(
            st.floats(0, 2e9), st.sampled_from(["1-1", "4-4"]), st.integers(0, 0xFFFF), st.integers(-32767, 32767)
        )
    )
)
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[float, str, int, int]]
) -> None:
    file = tmp_path_factory.mktemp("deaths") / "deaths.csv"
    file.write_text(HEADER + "".join(f"{time},{level},{area},{x}\n" for time, level, area, x in rows))
    deaths = read_deaths(file)
    assert as_rows(deaths) == rows
    assert len(deaths) == len(rows)
    assert deaths.levels == sorted({level for _, level, _, _ in rows})
    assert as_rows(deaths.of_level("4-4")) == [row for row in rows if row[1] == "4-4"]


def test_torn_deaths_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "deaths.csv"
    file.write_text(HEADER + "1,1-1,5,100\n2,1-2,5,-200\n3,1-1,")
    assert as_rows(read_deaths(file)) == [(1, "1-1", 5, 100), (2, "1-2", 5, -200)]
    assert len(read_deaths(tmp_path / "none.csv")) == 0


@pytest.mark.parametrize(
    "line",
    [
        "nan,1-1,5,100",
        "1,../../x,5,100",
        "1,9-9,5,100",
        "1,1-1,5,nan",
        "1,1-1,5,99999999999999999999",
        "1,1-1,70000,1",
        "",
    ],
)
def test_lines_that_cannot_be_are_left_out(tmp_path: Path, line: str) -> None:
    file = tmp_path / "deaths.csv"
    file.write_text(f"{HEADER}{line}\n2,1-2,5,200\n")
    assert as_rows(read_deaths(file)) == [(2, "1-2", 5, 200)]


@pytest.mark.parametrize("content", [b"", b"something,else\n1,2\n", b"\xff\xfe\x00\n\n", b"time,level,area,x_pos"])
def test_files_of_other_kinds_hold_no_deaths(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "deaths.csv").write_bytes(content)
    assert len(read_deaths(tmp_path / "deaths.csv")) == 0

"""Every page fits every screen, and shows what the session knows."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mario_rl.dashboard.hotspots import hotspots_page
from mario_rl.dashboard.learner import NAME_WIDTH, learner_page
from mario_rl.dashboard.overview import overview
from mario_rl.dashboard.workers import columns_that_fit, health, workers_table
from mario_rl.metrics.aggregator import Standing

any_size = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)


def lines_of(text):
    return text.plain.split("\n")


# --- all sizes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("under_way", [False, True])
@given(width=st.integers(0, 200), height=st.integers(0, 70))
@any_size
def test_the_overview_fits_every_screen(session, under_way, width, height):
    if under_way and not session.aggregator.workers:
        session.go_on()
    lines = lines_of(overview(session, 12.0, width, height))
    assert len(lines) <= max(height, 1)
    assert max(map(len, lines)) <= max(width, 1)


@given(width=st.integers(0, 200))
@any_size
def test_the_other_pages_fit_every_width(session, practising_session, width):
    if not session.aggregator.workers:
        session.go_on()
    for one in (session, practising_session("snapshots")):
        for page in (learner_page(one, width), hotspots_page(one, width), workers_table(one, 0.0, width)):
            assert max(map(len, lines_of(page))) <= max(width, 1)


# --- overview -----------------------------------------------------------------------------------------------------


def test_the_overview_at_80_columns(session):
    session.go_on()
    lines = lines_of(overview(session, 75.0, 79, 20))
    assert lines[0].endswith(" 45 %") and len(lines[0]) == 79
    assert lines[1] == "181k of 400k steps · 3616 steps/s · 1 m 01 s left · up 1 m 15 s"
    assert lines[3].split("  ")[0] == "flag rate" and lines[4].startswith("100 %")
    for word in ("best x", "first flag", "workers"):
        assert word in lines[3]
    for value in ("3161", "at 12.3k", "4 of 4"):
        assert value in lines[4]
    curve = [line for line in lines if "│" in line]
    assert len(curve) == 5 and curve[0].startswith("100 % │") and curve[-1].startswith("  0 % │")
    assert curve[-1].endswith("█") and curve[0].endswith("█") and not curve[0][7:].startswith("█")
    assert "worker 2 was killed by signal 9" in lines[-1] and "warning" in lines[-1]


def test_a_tall_screen_shows_the_workers_too(session):
    session.go_on()
    assert not any(line.startswith("#") for line in lines_of(overview(session, 1.0, 79, 20)))
    assert any(line.startswith("#") for line in lines_of(overview(session, 1.0, 119, 36)))


# --- workers ------------------------------------------------------------------------------------------------------


def test_the_workers_table_at_80_columns_has_all_that_was_promised(session):
    session.go_on()
    title, *rows, total = lines_of(workers_table(session, time.time(), 79))
    assert title.split() == (
        ["#", "episodes", "reward", "steps", "eps", "best", "x", "deaths", "grads", "saves", "restores", "health"]
    )
    assert rows[1].split() == ["1", "201", "31.25", "45.2k", "0.125", "3001", "77", "1234", "0", "0", "ok"]
    assert total.split() == ["all", "806", "31.25", "181k", "0.125", "3003", "308", "4936", "0", "0"]
    assert len(title) == len(title.rstrip()) and title.index("health") + 10 <= 79


def test_wider_screens_have_more_columns(session, ppo_session):
    counts = [len(columns_that_fit(width)) for width in range(80, 200)]
    assert counts == sorted(counts) and counts[0] == 9 and counts[-1] == 16
    ppo_session.go_on()
    assert "eps" not in lines_of(workers_table(ppo_session, 0.0, 119))[0].split()


@pytest.mark.parametrize(
    ("standing", "words"),
    [
        (Standing("starting"), "starting"),
        (Standing("collecting", heard=995.0), "ok"),
        (Standing("learning", heard=995.0, restarts=1), "ok, 1 restart"),
        (Standing("collecting", heard=970.0, restarts=2), "silent 30 s, 2 restarts"),
        (Standing("collecting", heard=900.0, since=990.0), "ok"),  # just started again: it may still be quiet
        (Standing("paused", heard=100.0), "paused"),
        (Standing("restarting", "killed by\nsignal 9", restarts=1), "restarting, 1 restart: killed by signal 9"),
        (Standing("given up", "died 5 times in a minute", heard=1.0), "given up: died 5 times in a minute"),
    ],
)  # fmt: skip
def test_health_in_words(standing, words):
    assert health(standing, now=1000.0).plain == words


# --- learner and hotspots -----------------------------------------------------------------------------------------


def test_the_learner_s_page_is_about_the_model(session, ppo_session):
    for one in (session, ppo_session):
        one.go_on()
    ddqn, ppo = learner_page(session, 79).plain, learner_page(ppo_session, 79).plain
    assert "the learner is learning" in ddqn
    for page in (ddqn, ppo):
        assert "0.0300" in page and "5.0e-05" in page and "600 updates" in page
    assert "Q mean" in ddqn and "6.50" in ddqn and "entropy" not in ddqn
    assert "entropy" in ppo and "1.25" in ppo and "Q mean" not in ppo
    loss = next(line for line in ddqn.split("\n") if line.startswith("loss"))
    assert loss.endswith("  ▁▂▃▃▄▅▆▆▇█")


def test_a_dreamer_s_page_says_what_is_well_and_what_is_not_yet(dreaming_session):
    dreaming_session.go_on()
    lines = lines_of(learner_page(dreaming_session, 79))
    page = {line[:NAME_WIDTH].strip(): line[NAME_WIDTH:].split() for line in lines}
    assert page["world loss"][0] == "21.50" and page["mean x"][0] == "2000" and page["ends foreseen"][0] == "75"
    assert page["recalled, MSE"][0] == "0.00400" and page["value"][0] == "24.50"
    assert page["recalled, SSIM"][0] == "0.850!", "pictures should be more alike"


def test_hotspots_are_where_mario_died(session):
    assert hotspots_page(session, 79).plain == "Mario has not died yet."
    session.go_on()
    heading, _, title, *rows, axis = lines_of(hotspots_page(session, 79))
    assert heading == "Where Mario dies of late: after 200k steps a death counts half"
    assert title == "1-1  24 deaths, most from x = 1125 (20), 2400 (4)"
    # 97 buckets of 25 pixels up to 2400 on 79 columns: two a column
    assert rows[0] == " " * 22 + "█" + " " * 26
    assert rows[-1] == " " * 22 + "█" + " " * 25 + "▆"
    assert axis.startswith("╵0        ╵500      ╵1000")


def test_maps_of_one_level_are_told_apart_and_the_deadliest_comes_first(session):
    events = session.events("worker_0")
    events.deaths([("1-2", 0xC0, 500)] * 3 + [("1-2", 0xA690, 2900)] * 5 + [("1-1", 0xA690, 100)] * 6)
    titles = [line for line in lines_of(hotspots_page(session, 79)) if "deaths," in line]
    assert [title.split("  ")[0] for title in titles] == ["1-2, area a690", "1-2, area 00c0", "1-1"]


def test_a_place_that_was_mastered_is_no_hotspot_any_more(session):
    session.events("worker_0").metrics({"deaths": 12})
    session.events("worker_0").deaths([("1-1", 37, 100)] * 8)
    session.hotspots.advance(int(session.hotspots.half_life))
    session.events("worker_0").deaths([("1-1", 37, 2400)] * 6)
    assert lines_of(hotspots_page(session, 79))[2] == "1-1  10 deaths, most from x = 2400 (6), 100 (4)"
    session.hotspots.advance(int(6 * session.hotspots.half_life))
    assert hotspots_page(session, 79).plain == "Mario has not died of late."


# --- practice -----------------------------------------------------------------------------------------------------


def test_what_each_worker_practises(practising_session):
    title, *rows, total, of_all = lines_of(workers_table(practising_session("snapshots"), time.time(), 79))
    assert not {"saves", "restores"} & set(title.split())
    assert [row.split()[0] for row in rows[::2]] == ["0", "1", "2", "3"]
    assert [row.strip() for row in rows[1::2]] == [
        f"practice: 132 episodes, 14 % flags; 12 saved, 8 restored ({stuck}/3)" for stuck in (0, 1, 2, 0)
    ]
    assert total.startswith("all")
    assert of_all.strip() == "practice: 528 episodes, 14 % flags; 48 saved, 32 restored (2/3)"


@pytest.mark.parametrize(
    ("curriculum", "words"),
    [
        ("archive", "practice: 528 episodes, 14 % flags"),
        ("demo", "practice: 528 episodes, 14 % flags; starts 35 % of the way back"),
    ],
)
def test_the_overview_keeps_practice_apart(practising_session, curriculum, words):
    lines = lines_of(overview(practising_session(curriculum), 75.0, 79, 20))
    assert lines[5] == words
    assert "flag rate of the latest 100 episodes of every worker from a level's start" in lines
    assert len(lines) <= 20


def test_without_a_curriculum_nothing_is_said_of_practice(session):
    session.go_on()
    for page in (overview(session, 75.0, 119, 40), workers_table(session, time.time(), 79)):
        assert "practice" not in page.plain


def test_practice_that_has_not_begun(practising_session):
    session = type(practising_session("snapshots"))("ppo", 1, "snapshots")
    session.events("worker_0").metrics({"steps": 100})
    words = lines_of(workers_table(session, time.time(), 79))[-1]
    assert words.strip() == "practice: 0 episodes; 0 saved, 0 restored (0/3)"


def test_the_widest_line_of_practice_fits_80_columns(practising_session):
    session = practising_session("snapshots", 1)
    most = {"practice_episodes": 12_345, "saves": 45_678, "restores": 44_444, "practice_flag_rate": 1, "stuck": 3}
    session.events("worker_0").metrics(most)
    line = lines_of(workers_table(session, time.time(), 79))[-1]
    assert line.endswith("practice: 12.3k episodes, 100 % flags; 45.7k saved, 44.4k restored (3/3)")


def test_whoever_is_paused_may_be_silent(session):
    silent = Standing("collecting", heard=1.0)
    assert health(silent, now=1000.0).plain == "silent 16 m 39 s"
    assert health(silent, now=1000.0, paused=True).plain == "paused"
    assert health(Standing("given up", heard=1.0), now=1000.0, paused=True).plain == "given up"
    session.go_on()
    rows = lines_of(workers_table(session, time.time() + 60, 79, paused=True))[1:-1]
    assert [row.split()[-1] for row in rows] == ["paused"] * 4

"""Settings: where they come from, what they may be, and that the help is their documentation."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from mario_rl import config as configuration
from mario_rl.config import ConfigError, TrainingConfig
from mario_rl.presets import PRESETS


def test_the_defaults_of_the_first_documents() -> None:
    config = TrainingConfig()
    assert (config.workers, config.lr, config.lr_min, config.gamma) == (4, 1e-4, 1e-5, 0.99)
    assert (config.n_step, config.batch_size, config.buffer_size, config.collect_steps) == (3, 32, 10_000, 64)


def test_a_name_stays_text_and_a_number_that_yaml_takes_for_text_is_a_number(tmp_path: Path) -> None:
    config = configuration.from_dict({"name": "42", "lr": 1e-3})
    configuration.write_yaml(config, tmp_path / "config.yaml")
    assert configuration.from_dict(configuration.read_yaml(tmp_path / "config.yaml")) == config
    (tmp_path / "hand.yaml").write_text("lr: 1e-3\n")
    assert configuration.build({}, None, tmp_path / "hand.yaml").lr == 1e-3


def test_flags_win_over_the_file_over_the_preset(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("lr: 1e-3\nbatch-size: 64\nmodel: ppo\n")
    config = configuration.build({"batch_size": 16}, "laptop", file)
    assert (config.model, config.lr, config.batch_size) == ("ppo", 1e-3, 16)
    assert config.lanes == PRESETS["laptop"]["ppo"]["lanes"]
    file.write_text("preset: laptop\n")
    assert configuration.build({"model": "ddqn"}, None, file).steps == PRESETS["laptop"]["ddqn"]["steps"]


def test_a_demonstration_has_defaults_of_its_own_which_any_choice_replaces() -> None:
    shown = configuration.build({"model": "ppo", "curriculum": "demo"}, "laptop")
    assert (shown.sticky, shown.entropy, shown.fresh) == (0.1, 0.003, 0.1)
    plain = configuration.build({"model": "ppo"}, "laptop")
    assert (plain.sticky, plain.entropy, plain.fresh) == (0.0, 0.01, 0.25)
    assert configuration.build({"model": "ppo", "curriculum": "demo", "sticky": 0.0}, "laptop").sticky == 0.0


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_are_valid_and_a_saved_configuration_comes_back(preset: str, tmp_path: Path) -> None:
    for model in PRESETS[preset]:
        config = configuration.build({"model": model}, preset)
        configuration.write_yaml(config, tmp_path / "config.yaml")
        assert configuration.from_dict(configuration.read_yaml(tmp_path / "config.yaml")) == config


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"lr": -1.0}, "--lr is above 0"),
        ({"workers": -1}, "--workers is a whole number from 0 on"),
        ({"lanes": 0}, "--lanes is a whole number from 1 on"),
        ({"gamma": 1.5}, "--gamma is between 0 and 1"),
        ({"lr": float("nan")}, "--lr is a finite number"),
        ({"lr_min": 1.0}, "--lr-min is at most lr"),
        ({"observation": "smell"}, "--observation is one of tiles, pixels"),
        ({"torso": "nature"}, "--torso is one of auto, mlp, cnn for tiles"),
        ({"batch_size": "many"}, "--batch-size is a whole number"),
        ({"batch_size": 3.5}, "--batch-size is a whole number"),
        ({"buffer_size": 10}, "--buffer-size is at least 80"),
        ({"stop_at": 0.0}, "--stop-at is above 0"),
        ({"minutes": 0.0}, "--minutes is above 0"),
        ({"size": "XXL"}, "--size is one of XS, S, M"),
        ({"model": "dreamer", "buffer_size": 200}, "--buffer-size is at least 272"),
        ({"speed": 9}, "unknown setting 'speed'"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(settings: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        configuration.from_dict(settings)
    assert words in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("content", ["- a\n- list", "lr: [", "1: 2", b"\xff\xfe\x00"])
def test_a_file_that_is_no_configuration(content: str | bytes, tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ConfigError):
        configuration.build({}, None, file)
    with pytest.raises(ConfigError, match="cannot read"):
        configuration.build({}, None, tmp_path / "missing.yaml")


def test_every_setting_is_documented_and_in_the_help() -> None:
    docs = configuration.docs()
    names = {field.name for field in dataclasses.fields(TrainingConfig)}
    assert set(docs) == names and all(docs.values())
    shown = subprocess.run(
        [sys.executable, "-m", "mario_rl", "train", "--help"], capture_output=True, text=True, check=True
    ).stdout
    for name in names:
        assert configuration.flag(name) in shown
    together = " ".join(shown.split())
    assert "Worker processes; 0 runs everything in one process, reproducible bit for bit. [4;" in together

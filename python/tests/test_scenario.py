"""Scenarios: read, made, changed, refused."""

from __future__ import annotations

import pickle
from datetime import timedelta
from pathlib import Path

import pytest
from facade import sections, upload

import tcplab
from tcplab import Scenario


def test_a_built_in_experiment_is_read_by_its_name() -> None:
    scenario = Scenario("interruption")
    assert scenario.name == "interruption"
    assert "200 ms interruption" in scenario.title
    assert len(scenario.cases) == 110
    assert "interruption" in tcplab.scenarios()
    assert Scenario.load("interruption") == scenario == Scenario(scenario)


def test_a_file_is_read_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(upload().toml)
    assert Scenario(file).name == "mine"
    assert Scenario(str(file)).title == "An upload"


def test_a_dictionary_becomes_a_file_and_back() -> None:
    scenario = upload()
    assert scenario.to_dict() == sections()
    assert scenario.trials == 2
    assert len(scenario.cases) == 1
    assert scenario.factors == {}


def test_the_order_of_the_matrix_is_the_order_of_the_cases() -> None:
    levels = ["reno", "cubic", "bbr"]
    scenario = upload().vary({"path.loss": [0, 0.01], "client.socket.congestion": levels})
    assert list(scenario.cases[0].levels) == [
        "path.loss",
        "client.socket.congestion",
    ]
    assert scenario.factors["client.socket.congestion"] == levels
    assert [case.name for case in scenario.cases][:2] == ["loss=0_reno", "loss=0_cubic"]


def test_python_values_become_those_of_the_file() -> None:
    changed = upload().with_(
        {"path.loss": 0.003, "path.delay": timedelta(milliseconds=15), "path.mark": 1.0}
    )
    assert changed.to_dict()["path"] == {
        "rate": "20 Mbit/s",
        "delay": "15 ms",
        "loss": "0.3 %",
        "mark": "100 %",
    }


def test_keys_with_dots_stand_in_quotes() -> None:
    changed = upload().with_({'server.sysctl."net.ipv4.tcp_ecn"': 1})
    assert changed.to_dict()["server"]["sysctl"] == {"net.ipv4.tcp_ecn": 1}


def test_none_removes_a_key() -> None:
    assert "rate" not in upload().with_({"path.rate": None}).to_dict()["path"]
    assert upload().with_({"path.forward.loss": None}).to_dict() == sections()
    varied = upload().vary({"path.loss": [0, 0.01]})
    assert varied.vary({"path.loss": None}).to_dict() == sections()


def test_a_key_that_the_matrix_varies_is_refused_with_the_way_to_change_it() -> None:
    varied = upload().vary({"path.loss": [0, 0.01]})
    with pytest.raises(tcplab.ScenarioError, match="the matrix varies `path.loss`") as caught:
        varied.with_({"path.loss": 0.02})
    assert "vary" in str(caught.value.remedy)
    assert "path.loss" in varied.toml.splitlines()[caught.value.line - 1]


def test_a_key_in_a_named_level_is_refused_too() -> None:
    levels = {"old": {"client.stack": "model:osx-10.7"}, "new": {}}
    varied = upload().vary({"variant": levels})
    with pytest.raises(tcplab.ScenarioError, match="its factor `variant`"):
        varied.with_({"client.stack": "model:linux-6.18"})


def test_a_key_below_a_value_that_is_no_table_is_refused() -> None:
    with pytest.raises(tcplab.ScenarioError, match=r"`path\.rate` is '20 Mbit/s', not a table"):
        upload().with_({"path.rate.steps": 1})


@pytest.mark.parametrize("key", ["", "path..loss", 'path."loss', "path."])
def test_a_key_that_cannot_be_read_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="is no key"):
        upload().with_({key: 1})


def test_levels_that_are_one_text_are_refused() -> None:
    with pytest.raises(TypeError, match="the levels are a list"):
        upload().vary({"path.loss": "1 %"})


def test_a_scenario_is_pickled_with_its_name() -> None:
    scenario = upload()
    again = pickle.loads(pickle.dumps(scenario))
    assert again == scenario
    assert hash(again) == hash(scenario)
    assert again.cases == scenario.cases


def test_a_scenario_shows_itself() -> None:
    scenario = upload(title="<b>bold</b>\x1b[31m")
    assert "\x1b" not in repr(scenario)
    shown = scenario._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<b>bold" not in shown
    assert "\x1b" not in shown


def test_a_mistyped_key_is_not_removed_silently() -> None:
    for key in ("nix", "path.dealy", "nix.delay"):
        with pytest.raises(tcplab.ScenarioError, match=f"unknown key `{key}`, which is to be rem"):
            upload().with_({key: None})
    with pytest.raises(tcplab.ScenarioError, match="did you mean `delay`") as caught:
        upload().with_({"path.dealy": None})
    assert "did you mean `delay`" in str(caught.value.remedy)
    with pytest.raises(tcplab.ScenarioError, match="unknown key `path.lost`"):
        upload().vary({"path.lost": None})
    # What may be there, and is not, is removed.
    assert upload().vary({"path.loss": None}) == upload().with_({"expect": None})


def test_times_are_exact() -> None:
    pandas = pytest.importorskip("pandas")
    numpy = pytest.importorskip("numpy")
    for time in (pandas.Timedelta(1500, "ns"), numpy.timedelta64(1500, "ns")):
        assert upload().with_({"path.delay": time}).to_dict()["path"]["delay"] == "1500 ns"
    assert (
        upload().with_({"path.delay": numpy.timedelta64(2, "ms")}).to_dict()["path"]["delay"]
        == "2 ms"
    )


def test_a_number_that_is_too_large_says_how_large_one_may_be() -> None:
    with pytest.raises(tcplab.ScenarioError, match=rf"seed = {2**63} is out of range") as caught:
        upload().with_({"repeat.seed": 2**63})
    assert str(2**63 - 1) in str(caught.value.remedy)


def test_one_case_is_not_several() -> None:
    scenario = upload(repeat={"trials": 1})
    assert "1 case × 1 trial" in scenario._repr_html_()
    assert "1 case × 1 trial>" in repr(scenario)


def test_computed_shares_are_probabilities() -> None:
    numpy = pytest.importorskip("numpy")
    shares = [*numpy.arange(0, 0.5, 0.1), *numpy.geomspace(0.001, 0.1, 5), 0.1 + 0.2, 1 / 3000]
    levels = {
        0.1 + 0.2: "30 %",
        1 / 3000: "0.0333333333 %",
        numpy.float32(0.01): "1 %",
        numpy.float16(0.1): "10 %",
        numpy.arange(0, 0.5, 0.1)[3]: "30 %",
    }
    for share, written in levels.items():
        assert upload().with_({"path.loss": share}).to_dict()["path"]["loss"] == written
    assert len(upload().vary({"path.loss": shares[5:]}).cases) == 7
    assert len(upload().vary({"path.loss": numpy.linspace(0, 0.05, 8)}).cases) == 8
    assert "30 %" in tcplab.path({"loss": 0.1 + 0.2}).description
    with pytest.raises(tcplab.ScenarioError, match="out of range"):
        upload().with_({"path.loss": 1.01})

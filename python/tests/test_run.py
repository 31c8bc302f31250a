"""Runs and trials."""

from __future__ import annotations

import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from facade import lossy, upload

import tcplab
from tcplab._commands import run_command
from tcplab._groups import median


def test_a_run_has_a_row_for_each_trial(run: tcplab.Run) -> None:
    assert len(run.trials) == 32
    names = run.trials.column_names
    assert {"case", "trial", "seed", "goodput_mbit_per_second"} <= set(names)
    assert run.factors == {
        "path.loss": ["0 %", "2 %"],
        "client.socket.congestion": ["reno", "cubic"],
    }


def test_the_metrics_are_a_long_table(run: tcplab.Run) -> None:
    first = run.metrics.to_dicts()[0]
    assert {"case", "trial", "metric", "unit", "value"} <= set(first)
    assert any(name.startswith("path_loss") for name in first)


def test_a_run_opens_again_with_the_same_rows(run: tcplab.Run) -> None:
    again = tcplab.Run.open(run.directory)
    assert again.trials.rows() == run.trials.rows()
    assert again.json == run.json
    assert (run.directory / "run.json").is_file()


def test_the_recordings_of_a_trial_are_tables(run: tcplab.Run) -> None:
    case = "loss=2%_reno"
    assert "cwnd_segments" in run.samples(case, 2).column_names
    assert run.packets(case, 2).column("payload_bytes")
    fates = set(run.path_log(case, 2).column("fate"))
    assert "delivered" in fates
    assert len(run.trace(case, 2, end="server").connections) == 1
    assert set(run.tables) >= {"trials", "metrics", "episodes"}
    assert len(run.episodes) > 0
    assert run.episodes.column_names[:2] == ["case", "trial"]


def test_findings_claims_and_summaries_are_records(run: tcplab.Run) -> None:
    assert {"case", "trial", "rule", "statement"} <= set(run.findings[0])
    assert run.claims[0]["outcome"] == "passed"
    goodput = [row for row in run.summaries if row["name"] == "goodput"]
    assert len(goodput) == 4


def test_a_comparison_names_both_levels_and_a_verdict(run: tcplab.Run) -> None:
    comparison = run.compare(by="path.loss")
    assert comparison.levels == ("0 %", "2 %")
    rows = [row for row in comparison.rows if row["metric"] == "transfer_time"]
    assert rows
    assert all(row["verdict"] for row in rows)
    assert "path.loss" in repr(comparison)
    assert "<table>" in comparison._repr_html_()


def test_an_exact_comparison_says_so(tmp_path: Path) -> None:
    scenario = upload(matrix={"path.queue": ["4 packets", "100 packets"]}, repeat={"trials": 1})
    run = tcplab.run(scenario, world="sim", directory=tmp_path, progress=False, report=False)
    comparison = run.compare()
    assert all(row["is_exact"] and row["p"] is None for row in comparison.rows)
    shown = comparison._repr_html_()
    assert "exact" in shown
    assert "too few trials" not in shown
    assert "identical" in {row["verdict"] for row in comparison.rows}
    assert "equivalent: identical" not in repr(comparison) + shown


def test_a_comparison_has_the_words_and_numbers_of_the_command(tmp_path: Path) -> None:
    scenario = lossy().vary({"path.queue": ["4 packets", "100 packets"]})
    run = tcplab.run(scenario, world="sim", trials=4, directory=tmp_path, progress=False)
    comparison = run.compare()
    said = " ".join(run_command(["compare", str(run.directory), "--by", "path.queue"]).split())
    rows = {row["metric"]: row for row in comparison.rows}
    verdict = rows["transfer_time"]["verdict"]
    assert verdict.startswith("inconclusive: 4 pairs are too few; ")
    assert verdict.endswith(" more needed")
    assert verdict in said
    row = next(row for row in comparison.json["rows"] if row["metric"] == "transfer_time")
    changed = row["medians"][0] + row["difference"]
    assert f"→ {changed:.4g} s, {verdict}" in repr(comparison)
    assert "difference or ratio" not in comparison._repr_html_()
    assert rows["transfer_time"]["p"] > 0
    assert rows["payload_intact"]["verdict"] == "identical"
    assert rows["payload_intact"]["p"] is None


def test_a_comparison_names_what_one_level_lacks() -> None:
    missing = [{"case": "slow", "metric": "transfer_time", "why": "B has none"}]
    sides = [{"label": "short"}, {"label": "long"}]
    document = {"by": "queue", "sides": sides, "rows": [], "missing": missing}
    comparison = tcplab.Comparison(document, [])
    assert comparison.missing == missing
    said = "slow transfer_time: not compared, B has none"
    assert said in repr(comparison)
    assert said in comparison._repr_html_()


def test_a_comparison_is_the_document_of_the_command(run: tcplab.Run) -> None:
    arguments = ["compare", str(run.directory), "--by", "path.loss", "--json"]
    assert run.compare(by="path.loss").json == json.loads(run_command(arguments))


def test_a_comparison_of_several_levels_says_how_to_name_two(tmp_path: Path) -> None:
    scenario = upload().vary({"path.loss": ["0 %", "1 %", "2 %"]})
    run = tcplab.run(scenario, world="sim", trials=1, directory=tmp_path, progress=False)
    with pytest.raises(tcplab.TcplabError) as caught:
        run.compare(by="path.loss")
    remedy = str(caught.value).splitlines()[-1]
    assert remedy.startswith("  try: ")
    assert '`by="path.loss", levels=("A", "B")`' in remedy
    assert "--" not in remedy
    assert run.compare(by="path.loss", levels=("0 %", "2 %")).levels == ("0 %", "2 %")


def test_an_end_that_does_not_exist_is_refused(run: tcplab.Run) -> None:
    for end in ("*", "middle", "../server"):
        with pytest.raises(tcplab.TcplabError, match="use client or server"):
            run.trace("loss=2%_reno", 1, end=end)


def test_a_run_shows_itself(run: tcplab.Run) -> None:
    shown = run._repr_html_()
    assert "loss=2%_cubic" in shown
    assert "Every byte arrives" in shown
    assert "goodput" in str(run)
    assert "32 trials" in repr(run)


def test_a_run_shows_its_failed_trials(tmp_path: Path) -> None:
    scenario = upload(matrix={"path.loss": ["0 %", "100 %"]}, limits={"trial": "5 s"})
    run = tcplab.run(scenario, world="sim", directory=tmp_path, progress=False, report=False)
    assert [(it["case"], it["trial"]) for it in run.failures] == [
        ("loss=100%", 1),
        ("loss=100%", 2),
    ]
    assert {it["reason"].split(":")[0] for it in run.failures} == {"not done after 5 s"}
    assert sorted(run.trials.column("outcome")) == ["failed"] * 2 + ["good"] * 2
    assert "2 cases, 4 trials, 2 failed, in " in repr(run)
    for said in ("0 of 2", "failed trial", "not done after 5 s"):
        assert said in run._repr_html_().split("<details", 1)[0]


def test_a_run_without_failed_trials_says_nothing_of_them(run: tcplab.Run) -> None:
    assert run.failures == []
    assert "failed" not in repr(run)
    assert "failed trial" not in run._repr_html_()


def test_an_open_run_stays_that_run_in_another_directory(
    run: tcplab.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run.directory.parent)
    opened = tcplab.Run.open(run.directory.name)
    monkeypatch.chdir(tmp_path)
    assert opened.directory == run.directory
    assert opened.samples("loss=2%_reno", 2).rows() == run.samples("loss=2%_reno", 2).rows()
    assert opened.compare(by="path.loss").json == run.compare(by="path.loss").json
    assert pickle.loads(pickle.dumps(opened)).trials.rows() == run.trials.rows()


def test_a_report_is_a_page(run: tcplab.Run) -> None:
    page = run.report()
    assert page.suffix == ".html"
    assert page.stat().st_size > 10_000


def test_a_case_must_be_named_where_there_are_several(run: tcplab.Run) -> None:
    with pytest.raises(tcplab.TcplabError, match="name one of the cases: loss=0%_reno"):
        run.samples()


def test_options_change_trials_seed_and_cases(tmp_path: Path) -> None:
    scenario = upload().vary({"path.loss": ["0 %", "2 %"]})
    case = scenario.cases[1].name
    run = tcplab.run(
        scenario, world="sim", trials=3, seed=7, cases=[case], directory=tmp_path, report=False
    )
    assert run.cases == [case]
    assert len(run.trials) == 3
    assert run.json["seed"] == 7
    assert not (run.directory / "report.html").exists()


def test_a_run_elsewhere_gives_a_data_set_with_the_same_rows(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    scenario = upload().vary({"path.loss": ["0 %", "2 %"]})
    here = tcplab.run(scenario, world="sim", directory=tmp_path / "here", progress=False)
    with ThreadPoolExecutor(max_workers=2) as pool:
        there = [
            tcplab.run(scenario, world="sim", directory=tmp_path / "there", on=pool, progress=False)
            for _ in range(2)  # the second finds what is done
        ]
    names = ["case", "trial", "seed", "goodput_mbit_per_second"]
    rows = here.trials.to_polars().select(names).sort(names)
    for dataset in there:
        found = dataset.trials.to_polars().with_columns(polars.col("case").cast(polars.String))
        assert found.select(names).sort(names).equals(rows)
    with pytest.raises(ValueError, match="jobs has no meaning with `on`"):
        tcplab.run(scenario, on=1, jobs=2)  # type: ignore[call-overload]


def test_a_trial_equals_the_one_of_a_run(run: tcplab.Run) -> None:
    scenario = tcplab.Scenario(run.directory / "scenario.toml")
    trial = tcplab.simulate(scenario, case="loss=2%_reno", number=2)
    rows = [row for row in run.trials if (row["case"], row["trial"]) == ("loss=2%_reno", 2)]
    assert trial.seed == rows[0]["seed"]
    assert trial.metrics["transfer_time"] == rows[0]["transfer_time_seconds"]
    assert trial.packets().rows() == run.packets("loss=2%_reno", 2).rows()


def test_the_same_seed_gives_the_same_packets() -> None:
    first, second, other = (tcplab.simulate(lossy(), seed=seed) for seed in (5, 5, 6))
    assert first.path_log.rows() == second.path_log.rows()
    assert first.path_log.rows() != other.path_log.rows()


def test_a_trial_has_metrics_with_units_and_shows_itself(trial: tcplab.Trial) -> None:
    assert trial.metrics["goodput"] > 0
    assert trial.units["goodput"] == "Mbit/s"
    assert trial.findings
    assert "goodput" in repr(trial) or "transfer_time" in repr(trial)
    assert "Mbit/s" in trial._repr_html_()


def test_a_recording_goes_with_its_trial() -> None:
    trial = tcplab.simulate(upload())
    place = Path(trial.directory)
    assert (place / "client.pcapng").is_file()
    del trial
    assert not place.exists()


def test_a_trace_keeps_the_recording_of_its_trial() -> None:
    trace = tcplab.simulate(upload()).trace("server")
    assert len(trace.segments) > 100


def test_summaries_have_the_median_of_the_trials(run: tcplab.Run) -> None:
    for row in run.summaries:
        if row["case"] == "loss=2%_reno" and row["name"] == "transfer_time":
            values = [
                each["transfer_time_seconds"] for each in run.trials if each["case"] == row["case"]
            ]
            assert row["median"] == pytest.approx(median(values))

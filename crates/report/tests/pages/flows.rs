//! Several flows on the page of their trial.

use tcplab_report::{question_and_answer, text_table};
use tcplab_results::{FlowConnectionRow, FlowRow, FlowSeries, Metric, Run};
use tcplab_scenario::metrics;

use super::synthetic;

fn flow(name: &str, background: bool, connections: u16) -> FlowRow {
    let metric = |name: &str, value| Metric { name: name.into(), unit: String::new(), value };
    let connection = |nth: u16| FlowConnectionRow {
        ports: [32_768 + nth, 5_001],
        start_s: 2.5,
        bytes: 1_000_000,
        metrics: vec![
            metric("transfer_time", 1.0 + f64::from(nth)),
            metric("goodput", 8.0 / (1.0 + f64::from(nth))),
            metric("retransmissions", 3.0),
            metric("payload_intact", 1.0),
        ],
        response_times_ms: Vec::new(),
    };
    FlowRow {
        name: name.into(),
        background,
        connections: (0..connections).map(connection).collect(),
        series: FlowSeries { interval_s: 0.5, bytes: vec![0, 62_500, 125_000, 0, 62_500, 0] },
    }
}

fn page(flows: &[FlowRow]) -> String {
    page_with(flows, |_| {})
}

fn page_with(flows: &[FlowRow], change: impl FnOnce(&mut Run)) -> String {
    let (mut run, recordings) = synthetic::run(1);
    change(&mut run);
    for trial in run.cases.iter_mut().flat_map(|case| &mut case.trials) {
        trial.flows = flows.to_vec();
    }
    super::page::page(&run, &recordings)
}

#[test]
fn each_flow_has_a_row_and_a_line() {
    let page = page(&[flow("cross", true, 1), flow("main", false, 1), flow("web", false, 3)]);
    for text in [
        "Received by each flow",
        r#"<td>cross<span class="about">, background</span></td>"#,
        r#"<span class="key key-flow-1" data-layer="flow-1">cross, background</span>"#,
        r#"<span class="key key-flow-3" data-layer="flow-3">web</span>"#,
        // Sums of counts, medians of times.
        r#"<td>web</td><td class="number">3</td><td class="number">2.500</td><td class="number">3,000,000</td><td class="number">2</td><td class="number">4</td><td class="number">–</td><td class="number">9</td>"#,
        "The following shows flow main.",
        "Received by each flow: cross, background max 2.00 Mbit/s (at 1.0 s)",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains(r#"data-layer="flow-others""#));
}

#[test]
fn one_flow_is_drawn_against_another() {
    let flows = [flow("main", false, 1), flow("web", true, 3)];
    let page = page_with(&flows, |run| {
        run.plots = vec![tcplab_scenario::Plot {
            metric: "goodput".into(),
            flow: Some("main".into()),
            over: run.cases[0].levels[0].0.clone(),
            by: None,
            against: Some("transfer_time".into()),
            against_flow: Some("web".into()),
        }];
    });
    let section = page.split(r#"id="trends""#).nth(1).expect("there is such a section");
    let section = section.split("</section>").next().unwrap();
    for text in [
        "goodput of main against transfer time of web",
        "goodput of main, Mbit/s",
        "transfer time of web, s",
        // The one connection of the first, and the median of three of the second.
        r#"<td class="number"><b>8</b>"#,
        r#"<td class="number"><b>2</b>"#,
    ] {
        assert!(section.contains(text), "{text}: {section}");
    }
}

#[test]
fn many_flows_share_a_line() {
    let flows: Vec<_> = (1..=9).map(|n| flow(&format!("f{n}"), false, 1)).collect();
    let page = page(&flows);
    assert!(page.contains(r#"data-layer="flow-5">f5</span>"#));
    assert!(page.contains(r#"data-layer="flow-others">4 others, summed</span>"#));
    // Four times 1 Mbit/s and 2 Mbit/s.
    assert!(page.contains("4 others, summed max 8.00 Mbit/s"));
    assert!(!page.contains(r#"data-layer="flow-6""#));
}

/// Metrics are of all connections, episodes of the first.
#[test]
fn episodes_name_the_connection_that_they_are_of() {
    let said = |connections: [Option<usize>; 2], flows: &[FlowRow], part: &str| {
        let (mut run, recordings) = synthetic::run(1);
        for (case, connections) in run.cases.iter_mut().zip(connections) {
            case.trials[0].connections = connections;
            case.trials[0].flows = flows.to_vec();
        }
        let page = super::page::page(&run, &recordings);
        let text = text_table(&run, false);
        for (text, expected) in [
            (&page, format!("<h2>Recovery episodes{part}</h2>")),
            (&page, format!("recovery episodes{part}: ")),
        ] {
            assert!(text.contains(&expected), "{expected}");
        }
        assert_eq!(text.contains(&format!("recovery episodes{part}:\n")), !part.is_empty());
        page
    };
    let page = said([Some(12), Some(12)], &[], " of the first connection of 12");
    assert!(
        page.contains("Graphs, findings and recovery episodes are of the first connection of 12.")
    );
    said([Some(12), Some(4)], &[], " of the first connection of each trial");
    said([Some(12), None], &[], " of the first connection of each trial");
    said([None, None], &[], "");
    let flows = |connections| [flow("cross", true, 1), flow("near", false, connections)];
    said([None, None], &flows(1), " of flow near");
    said([None, None], &flows(2), " of the first connection of flow near");
}

/// The first one need not have lost what the others lost.
#[test]
fn no_losses_of_the_first_connection_are_said_of_it_alone() {
    let (mut run, recordings) = synthetic::run(1);
    for trial in run.cases.iter_mut().flat_map(|case| &mut case.trials) {
        trial.episodes.clear();
        trial.connections = Some(12);
    }
    let page = super::page::page(&run, &recordings);
    assert!(page.contains("No losses to recover on the first connection of 12."));
}

#[test]
fn main_metric_names_its_flow() {
    let (mut run, recordings) = synthetic::run(2);
    for trial in run.cases.iter_mut().flat_map(|case| &mut case.trials) {
        trial.flows = vec![flow("cross", true, 1), flow("near", false, 1), flow("far", false, 2)];
    }
    let (question, answer) = question_and_answer(&run);
    assert!(question.ends_with("; main metric: transfer time of flow near."), "{question}");
    assert!(answer.contains("transfer time of flow near"), "{answer}");
    let page = super::page::page(&run, &recordings);
    assert!(page.contains("transfer time of flow near of 4 trials"), "the picture");
    assert!(page.contains("Metrics of flow near, the first that is not in the background."));
    let line = "\nmetrics of flow near, the first that is not in the background\n";
    assert!(text_table(&run, false).contains(line));
    // That is of all flows.
    for trial in run.cases.iter_mut().flat_map(|case| &mut case.trials) {
        let fairness = f64::from(trial.number) / 10.0;
        trial.metrics = vec![Metric::of(metrics::FAIRNESS, fairness)].into();
    }
    run.question_metric = Some("fairness".into());
    let (question, answer) = question_and_answer(&run);
    assert!(question.ends_with("; main metric: fairness."), "{question}");
    assert!(answer.contains("fairness") && !answer.contains("flow near"), "{answer}");
}

#[test]
fn trial_with_one_connection_has_no_flows_section() {
    assert!(!page(&[]).contains("Received by each flow"));
}

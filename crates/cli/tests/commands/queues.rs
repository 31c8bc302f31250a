//! The queue of a path as a figure: of a trial of a run, and of a recording.

use crate::home::Home;

const SCENARIO: &str = "\
title = \"A small queue\"
path = { rate = \"4 Mbit/s\", delay = \"10 ms\", queue = \"12 packets\" }
workload = { upload = \"600 kB\" }
repeat = { trials = 1 }
client = { stack = \"model:linux-6.18\" }
server = { stack = \"model:linux-6.18\" }
";

/// A home with a run, and the directory of its only trial.
fn with_run(scenario: &str) -> (Home, String) {
    let home = Home::with("small.toml", scenario);
    home.answer("run small.toml --world sim -q");
    let place = home.only("runs/small").join("trials/base-1");
    (home, place.display().to_string())
}

#[test]
fn queue_of_a_trial_and_of_its_recording_are_one_figure() {
    let (home, place) = with_run(SCENARIO);
    let figures = home.answer("plot small --figure base/1");
    let name = "base/1/queue-client-to-server";
    assert!(figures.contains(&format!("\n{name} ")), "{figures}");
    let csv = home.answer(&format!("plot small --figure {name} --table=csv"));
    let mut rows = csv.lines();
    let head = "\"time, s\",\"waiting, packets\",\"waiting, B\",dropped by";
    assert_eq!(rows.next(), Some(head), "{csv}");
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(',').collect()).collect();
    let most = rows.iter().map(|row| row[1].parse::<u32>().unwrap()).max();
    assert_eq!(most, Some(12), "as many as have room");
    let dropped: Vec<&Vec<&str>> = rows.iter().filter(|row| !row[3].is_empty()).collect();
    assert!(dropped.len() > 3, "{csv}");
    assert!(dropped.iter().all(|row| row[1] == "12" && row[3] == "queue-full"), "{dropped:?}");
    let svg = home.answer(&format!("plot small --figure {name}"));
    assert!(svg.contains(&format!(">dropped: queue full ({})</text>", dropped.len())), "{svg}");
    home.answer(&format!("plot small --figure {name} -o queue.pgf"));
    let tex = home.text("queue.pgf");
    assert!(tex.contains("\\addplot[const plot, ") && tex.contains("ylabel={packets}"), "{tex}");
    // The recording by itself.
    let list = home.answer(&format!("plot {place}"));
    assert!(list.starts_with("queue-client-to-server  Queue, client to server\n"), "{list}");
    let own = home.answer(&format!("plot {place} --figure queue-client-to-server --table=csv"));
    assert_eq!(own, csv);
    let near = format!("plot {place} --figure queue-client-to-serve");
    home.refuses(&[(&near, "did you mean `queue-client-to-server`?")]);
}

#[test]
fn queue_that_the_kernel_made_is_said_to_be_unknown() {
    let (home, place) = with_run(SCENARIO);
    // As a trial with netem leaves it: its log has no rows.
    let record = home.text(format!("{place}/result.json"));
    let mut record: serde_json::Value = serde_json::from_str(&record).unwrap();
    record["path"]["backend"] = "netem".into();
    home.write(&format!("{place}/result.json"), record.to_string());
    home.write(&format!("{place}/path.jsonl"), "");
    let why = "No graph of the queue: the kernel made the path (netem)";
    let list = home.answer(&format!("plot {place}"));
    assert!(list.starts_with(why), "{list}");
    home.refuses(&[
        (&format!("plot {place} --figure queue-client-to-server"), why),
        ("plot small --figure base/1/queue-client-to-server", why),
    ]);
}

#[test]
fn path_without_a_bottleneck_has_no_figure_of_a_queue() {
    let text =
        SCENARIO.replace("rate = \"4 Mbit/s\", ", "").replace(", queue = \"12 packets\"", "");
    let (home, place) = with_run(&text);
    let said = home.answer(&format!("plot {place}"));
    assert!(said.contains("its path has no bottleneck, so that nothing waits"), "{said}");
}

use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use tcplab_load::Progress;
use tcplab_units::{Instant, Span};
use tcplab_watch::{Overview, Step};

use super::load_picture::LoadPicture;
use super::plain;
use super::run_picture::RunPicture;
use super::screen::Shown;
use super::{load_screen, run_screen};

/// What is on a screen, without the spaces at the ends of lines.
fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let lines = buffer.content.chunks(width).map(|cells| {
        let line: String = cells.iter().map(Cell::symbol).collect();
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn drawn(picture: &RunPicture, [width, height]: [u16; 2], shown: Shown) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| run_screen::draw(picture, frame, shown)).unwrap();
    text(terminal.backend().buffer())
}

/// A window that grows, is halved at a loss, and grows again.
fn overview() -> Overview {
    let step = |at: u64| {
        let since_loss = at % 40;
        let cwnd = 30_000 + since_loss * 1_500;
        Step {
            bytes: [cwnd * 3, 2_000],
            dropped: u64::from(since_loss == 39) * 3,
            queue: Span::from_millis(since_loss * 2),
            rtt: (at > 2).then(|| Span::from_millis(40 + since_loss * 2)),
            cwnd: Some(cwnd),
            ssthresh: (at >= 40).then_some(45_000),
            in_flight: Some(cwnd - 1_000),
        }
    };
    Overview {
        at: Instant::from_nanos(12_000_000_000),
        steps: (0..120).map(step).collect(),
        over: 120,
        drops: [("loss", 2), ("queue-full", 9)].into(),
        retransmissions: 11,
        knows_path: true,
        is_over: false,
    }
}

fn picture() -> RunPicture {
    let finished = |number: u32, outcome: &str| (format!("cubic, number {number}"), outcome.into());
    RunPicture {
        experiment: "interruption".into(),
        phase: "trial 3 of 10".into(),
        left: Duration::from_secs(42),
        trial: Some("reno, number 1".into()),
        overview: overview(),
        finished: vec![
            finished(1, "goodput 9.41 Mbit/s"),
            finished(2, "failed: the path was late"),
        ],
    }
}

#[test]
fn run_is_drawn_at_each_size() {
    for size in [[80, 24], [40, 12], [200, 60]] {
        let [width, height] = size;
        let name = format!("run_{width}x{height}");
        insta::assert_snapshot!(name, drawn(&picture(), size, Shown::default()));
    }
}

#[test]
fn help_and_pause_are_shown() {
    let shown = Shown { is_paused: true, has_help: true };
    insta::assert_snapshot!("run_help", drawn(&picture(), [80, 24], shown));
}

#[test]
fn nothing_is_drawn_outside_of_tiny_screens() {
    for width in 1..50 {
        for height in 1..20 {
            drawn(&picture(), [width, height], Shown { is_paused: false, has_help: true });
            drawn(&RunPicture::default(), [width, height], Shown::default());
        }
    }
}

#[test]
fn control_characters_of_names_are_visible() {
    let hostile = "x\x1b[2J\u{202e}";
    let outcome = (hostile.into(), hostile.into());
    let (experiment, trial) = (hostile.into(), Some(hostile.into()));
    let picture = RunPicture { experiment, trial, finished: vec![outcome], ..picture() };
    let text = drawn(&picture, [80, 24], Shown::default());
    assert!(!text.contains('\x1b') && !text.contains('\u{202e}'), "{text}");
    assert_eq!(text.matches("x\\x1b[2J").count(), 4, "{text}");
}

#[test]
fn plain_line_has_the_numbers_of_the_screen() {
    let empty = RunPicture { phase: "preparing".into(), ..RunPicture::default() };
    assert_eq!(plain::line(&empty), "preparing");
    assert_eq!(
        plain::line(&picture()),
        "trial 3 of 10  reno, number 1  12.0 s  → 19.6 Mbit/s  ← 160 kbit/s  RTT 118 ms  \
         cwnd 88.5 kB  queue 78 ms  drops 11 (loss 2, queue-full 9)  retransmissions 11"
    );
}

#[test]
fn rate_is_of_steps_that_are_over() {
    let step = |bytes| Step { bytes: [bytes, 0], ..Step::default() };
    for (steps, over, rate) in [
        (vec![step(100_000); 12], 12, "8.00 Mbit/s"),
        // A tenth of the last step has passed.
        ([vec![step(100_000); 12], vec![step(10_000)]].concat(), 12, "8.00 Mbit/s"),
        (vec![step(100_000)], 0, "8.00 Mbit/s"),
        (vec![], 0, "–"),
    ] {
        let overview = Overview { steps, over, ..Overview::default() };
        assert_eq!(run_screen::recent_rate(&overview, 0), rate, "{overview:?}");
    }
}

/// A trial that kept no packets, one that has just begun, and one whose path's log comes later.
#[test]
fn what_was_not_read_is_no_zero() {
    let empty = |is_over| Overview { is_over, ..Overview::default() };
    let late = Overview { knows_path: false, drops: [].into(), ..overview() };
    for (overview, line, title) in [
        (empty(true), "finished, packets not kept", "throughput → –  ← –"),
        (empty(false), "nothing read yet", "in flight –  retransmissions –"),
        (late, "queue –  drops –  retransmissions 11", "drops –"),
    ] {
        let picture = RunPicture { overview, ..picture() };
        let said = plain::line(&picture);
        assert!(said.ends_with(line), "{said}");
        let screen = drawn(&picture, [200, 60], Shown::default());
        assert!(screen.contains(title) && !screen.contains("drops 0"), "{screen}");
    }
}

/// A step that has only begun has no data in flight yet, and nothing in the queue.
#[test]
fn numbers_are_those_of_the_newest_step_that_is_over() {
    let full = overview();
    let begun = Step { bytes: [0, 0], queue: Span::ZERO, in_flight: None, ..full.steps[119] };
    let only = |step| Overview { steps: vec![step], over: 0, ..full.clone() };
    // Nothing was sent or acknowledged in the last step that is over.
    let silent = Step { in_flight: None, ..full.steps[119] };
    for (overview, expected) in [
        (Overview { steps: [full.steps.clone(), vec![begun]].concat(), ..full.clone() }, Some(119)),
        (
            Overview {
                steps: [full.steps.clone(), vec![silent]].concat(),
                over: 121,
                ..full.clone()
            },
            Some(119),
        ),
        (only(full.steps[7]), Some(7)),
        (Overview::default(), None),
    ] {
        let expected = expected.map_or_else(Step::default, |at: usize| full.steps[at]);
        assert_eq!(run_screen::newest(&overview), expected, "{overview:?}");
    }
    let picture = RunPicture {
        overview: Overview { steps: [full.steps.clone(), vec![begun]].concat(), ..full },
        ..picture()
    };
    let text = drawn(&picture, [80, 24], Shown::default());
    assert!(text.contains("time in queue 78 ms") && text.contains("in flight 87.5 kB"), "{text}");
}

#[test]
fn load_is_drawn_at_each_size() {
    let mut picture = LoadPicture::of("http://127.0.0.1:8080/");
    for half in 1..=40 {
        picture.take(&Progress {
            elapsed: Duration::from_millis(half * 500),
            sending: Duration::from_millis(half * 500),
            requests: half * 1_000 + half * half * 10,
            errors: 2,
            bytes: half * 1_000_000,
            connected: 10,
            latencies: (1..half * 50).map(|nth| Duration::from_micros(200 + nth * 3)).collect(),
            ..Progress::default()
        });
    }
    for [width, height] in [[80, 24], [40, 12], [200, 60]] {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| load_screen::draw(&picture, frame, Shown::default())).unwrap();
        let name = format!("load_{width}x{height}");
        insta::assert_snapshot!(name, text(terminal.backend().buffer()));
    }
}

//! The queues of the path on the page of a trial.

use tcplab_path::{Cause, Direction, QueueLimit, QueuePlan};
use tcplab_recording::{NoQueueLog, QueueDrop, QueueLength, QueueLog, Queues};
use tcplab_report::{figure_file, figure_pgf, trial_figures};
use tcplab_units::{Bytes, Instant, Span};

use super::browser::seen_in;
use super::page::page;
use super::synthetic;

fn at(seconds: f64) -> Instant {
    Instant::ZERO + Span::from_secs_f64(seconds)
}

/// Full from second 1 on, with a drop at 2 s, half at 3 s, with a random loss; empty at 4 s.
fn queues() -> Queues {
    let length = |seconds, packets| QueueLength {
        at: at(seconds),
        packets,
        bytes: Bytes::new(u64::from(packets) * 1500),
    };
    let full = Cause::QueueFull { packets: 20, bytes: Bytes::new(30_000) };
    let log = |direction| QueueLog {
        direction,
        second_path: false,
        bottlenecks: 1,
        plan: QueuePlan::DropTail(QueueLimit::Packets(20)),
        lengths: vec![],
        drops: vec![],
        missing: 0,
    };
    Queues::Logged(vec![
        QueueLog {
            lengths: vec![length(1.0, 20), length(3.0, 10), length(4.0, 0)],
            drops: vec![
                QueueDrop { at: at(2.0), cause: full },
                QueueDrop { at: at(3.5), cause: Cause::Loss },
            ],
            ..log(Direction::Forward)
        },
        log(Direction::Reverse),
    ])
}

/// Points at the drop, beside it, and saves the numbers.
const READ: &str = "<script>
addEventListener('load', async () => {
  const seen = {};
  for (let tries = 0; tries < 200 && !groups.size; tries++) await new Promise((done) => setTimeout(done, 50));
  const [group] = groups.values();
  for (const graph of group.graphs) graph.layout(1000);
  group.draw();
  const graph = group.graphs.find(({ figure }) => figure.querySelector('.title').textContent.startsWith('Queue'));
  const read = (time) => { graph.point(time, null); return graph.readout.textContent; };
  seen.read = [2, 2.5, 3.5].map(read);
  seen.keys = [...graph.figure.querySelectorAll('.legend .key')].map((key) => key.textContent);
  const rows = (await (await exported(graph.figure, 'csv')).text()).trim().split('\\n');
  seen.rows = rows.filter((row) => row.startsWith('drop'));
  seen.wrong = wrong;
  document.title = 'SEEN' + JSON.stringify(seen);
});
</script>";

#[test]
fn queue_is_drawn_with_its_limit_and_drops() {
    let (run, mut recordings) = synthetic::run(1);
    for (_, data) in &mut recordings {
        data.queues = queues();
    }
    let page = page(&run, &recordings);
    assert!(page.contains("Queue, client to server: limit max 20.0 packets"), "its summary");
    assert!(page.contains("Queue, server to client: no packet ever waited."), "in words");
    let Some(seen) = seen_in(&page, READ) else { return };
    let expected = concat!(
        r#"{"read":["2.0000 s · limit 20.0 packets · waiting 20.0 packets · 1 dropped: queue full","#,
        r#""2.5000 s · limit 20.0 packets · waiting 20.0 packets","#,
        r#""3.5000 s · limit 20.0 packets · waiting 10.0 packets · 1 dropped: random loss"],"#,
        r#""keys":["limit","waiting","dropped: queue full (1)","dropped: random loss (1)","interruption"],"#,
        // Rows of the plane are 21.2 / 32768 packets.
        r#""rows":["drop-full,2.000000,19.9998657227,","drop-loss,3.500000,10.0002563477,"],"wrong":[]}"#,
    );
    assert_eq!(seen, expected);
}

#[test]
fn queue_is_a_figure_with_numbers() {
    let (run, mut recordings) = synthetic::run(1);
    let case = &run.cases[0];
    let (_, data) = &mut recordings[0];
    data.queues = queues();
    let figures = trial_figures(case, &case.trials[0], data);
    let named: Vec<_> = figures.iter().filter(|it| it.name.contains("queue")).collect();
    let [figure] = &named[..] else { panic!("one waited: {named:?}") };
    assert_eq!(figure.name, "reno/1/queue-client-to-server");
    let rows: Vec<String> = figure.table.as_ref().unwrap().rows().map(|it| it.join(",")).collect();
    assert_eq!(rows[1..4], ["1,20,30000,", "2,20,30000,queue-full", "3,10,15000,"]);
    let svg = figure_file(&figure.svg);
    assert!(svg.contains(">dropped: queue full (1)</text>") && !svg.contains("var("), "{svg}");
    let tex = figure_pgf(figure).unwrap();
    assert!(tex.contains("\\addlegendentry{dropped: queue full (1)}"), "{tex}");
    data.queues = Queues::Unknown(NoQueueLog::Kernel);
    let figures = trial_figures(case, &case.trials[0], data);
    assert!(figures.iter().all(|it| !it.name.contains("queue")), "no empty figure");
    let text = page(&run, &recordings);
    assert!(text.contains("No graph of the queue: the kernel made the path (netem)"));
}

//! The same packets through the queueing disciplines of a guest.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tcplab_capture::{Direction, Reader};
use tcplab_path::tc::{Interfaces, TcCommand};

use super::arrivals::Arrival;
use super::cases::{Case, Device, Kernel};
use super::crossing::{Crossing, Left};

const SOURCE: &str = include_str!("source.py");
/// Makes the source and what is behind it.
pub(crate) const GUEST: &str = include_str!("guest.sh");
/// Where the recording is to go.
pub(crate) const CAPTURE: &str = "capture";

impl Device {
    /// As the guest names it.
    const fn name(self) -> &'static str {
        match self {
            Device::Ethernet => "eth1",
            Device::WithoutHeader => "tcplab0",
        }
    }
}

/// Writes into a directory what the guest needs.
pub(crate) fn prepare(directory: &Path, cases: &[Case]) {
    let plan: Vec<Value> = cases.iter().map(planned).collect();
    let write = |name: &str, content: &str| {
        fs::write(directory.join(name), content).expect("a directory of the test's own");
    };
    write("plan.json", &Value::from(plan).to_string());
    write("source.py", SOURCE);
    let sources = "$inside python3 source.py eth1\npython3 source.py tcplab0\n";
    write("guest.sh", &format!("{GUEST}{sources}"));
}

fn planned(case: &Case) -> Value {
    let packet = |it: &Arrival| json!([it.at, it.size, it.flow, it.is_ect]);
    let [setup, undo] = commands(case, case.device);
    json!({
        "device": case.device.name(),
        "setup": setup,
        "undo": undo,
        "packets": case.arrivals.iter().map(packet).collect::<Vec<_>>(),
    })
}

/// The commands that set a case up where the guest forwards. Its device has no Ethernet header that
/// would have to be subtracted.
pub(crate) fn setup_lines(case: &Case) -> String {
    let [setup, _] = commands(case, Device::WithoutHeader);
    let lines: Vec<String> = setup.iter().map(TcCommand::line).collect();
    lines.join("\n").replace(" stab overhead -14", "")
}

/// What `tcplab path tc` writes for the forward direction, or what the case has in place of it.
fn commands(case: &Case, device: Device) -> [Vec<TcCommand>; 2] {
    let device = device.name();
    let interfaces = Interfaces { client: "unused".into(), server: device.into() };
    let plan = case.path().tc().unwrap_or_else(|refused| panic!("{}: {refused:?}", case.element));
    let mut script = plan.script(&interfaces);
    match case.kernel {
        Kernel::AsWritten => {}
        Kernel::InPlace(words) => {
            let line = format!("tc qdisc replace dev {device} root {words}");
            let words = line.split(' ').map(str::to_owned).collect();
            script.setup = vec![TcCommand { about: Vec::new(), words, module: None, table: None }];
        }
        Kernel::With(written, other) => {
            for word in script.setup.iter_mut().flat_map(|command| &mut command.words) {
                if word == written {
                    other.clone_into(word);
                }
            }
        }
    }
    [script.setup, script.undo]
}

/// What became of the packets of each case.
pub(crate) fn crossings(directory: &Path, cases: &[Case]) -> Vec<Crossing> {
    let mut left = vec![Vec::new(); cases.len()];
    for it in sent(&directory.join(CAPTURE).join("client.pcapng")) {
        left[usize::from(it.case)].push(it);
    }
    let mut stamps = [Device::Ethernet, Device::WithoutHeader]
        .map(|it| stamps(&directory.join(format!("{}-stamps.bin", it.name()))).into_iter());
    let crossings = cases.iter().zip(left).map(|(case, left)| {
        let stamps = &mut stamps[case.device as usize];
        let stamped = case.arrivals.iter().zip(stamps).map(|(it, at)| Arrival { at, ..*it });
        let arrivals: Vec<Arrival> = stamped.collect();
        assert_eq!(arrivals.len(), case.arrivals.len(), "{}: not all were sent", case.element);
        Crossing { arrivals, left }
    });
    crossings.collect()
}

/// What left the guest.
fn sent(capture: &Path) -> Vec<Left> {
    let mut reader = Reader::open(capture).expect("the shell has recorded");
    let mut sent = Vec::new();
    while let Some(record) = reader.next_record().expect("a whole capture") {
        if record.direction() == Some(Direction::Outbound) {
            let at = record.time.expect("ours have a time").as_nanos();
            sent.extend(Left::of(at, record.captured));
        }
    }
    sent
}

/// What a source has written of when it sent.
pub(crate) fn stamps(file: &Path) -> Vec<u64> {
    let bytes = fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    bytes.as_chunks().0.iter().map(|stamp| u64::from_le_bytes(*stamp)).collect()
}

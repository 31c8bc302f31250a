//! Packet by packet: where two trials of the same seed part.

use tcplab_results::fidelity::{Packet, Parting};
use tcplab_trace::Flow;
use tcplab_units::{Bytes, Instant};

/// A packet as the sender's capture shows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Seen {
    at: Instant,
    frame: u64,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// Data: the position of its first byte, and bytes.
    Data(u64, u64),
    /// An acknowledgement: its number, and the window.
    Ack(u64, Option<u64>),
}

/// The packets of a direction in the order of the capture: data, and the acknowledgements of them,
/// which come first within an instant. There, what a timer sent stands before them or after them,
/// as the world has it.
pub(crate) fn seen(flow: &Flow) -> Vec<Seen> {
    let data = flow.segments.iter().filter(|segment| segment.payload.as_u64() > 0).map(|it| Seen {
        at: it.at,
        frame: it.frame,
        what: What::Data(it.range.start.as_u64(), it.payload.as_u64()),
    });
    let acks = flow.acks.iter().map(|ack| Seen {
        at: ack.at,
        frame: ack.frame,
        what: What::Ack(ack.ack.as_u64(), ack.window.map(Bytes::as_u64)),
    });
    let mut all: Vec<Seen> = data.chain(acks).collect();
    all.sort_by_key(|seen| (seen.at, matches!(seen.what, What::Data(..)), seen.frame));
    all
}

/// Where the model's data segments are no longer the kernel's, in position or length; none if all
/// are the same. Of the packets in both directions it names the first that differs: an
/// acknowledgement, if the receivers differ first.
pub(crate) fn parting(trial: u32, kernel: &[Seen], model: &[Seen]) -> Option<Parting> {
    let [kernel_data, model_data] = [kernel, model].map(data);
    let segment = kernel_data
        .iter()
        .zip(&model_data)
        .position(|(kernel, model)| kernel.what != model.what)
        .or_else(|| {
            let alike = kernel_data.len().min(model_data.len());
            (kernel_data.len() != model_data.len()).then_some(alike)
        })?;
    let first = kernel.iter().zip(model).position(|(kernel, model)| kernel.what != model.what);
    let first = first.unwrap_or(kernel.len().min(model.len()));
    let packet = |all: &[Seen]| all.get(first).map(Seen::packet);
    Some(Parting {
        trial,
        segments_alike: segment,
        segments: kernel_data.len(),
        kernel: packet(kernel),
        model: packet(model),
    })
}

fn data(all: &[Seen]) -> Vec<Seen> {
    all.iter().copied().filter(|seen| matches!(seen.what, What::Data(..))).collect()
}

impl Seen {
    fn packet(&self) -> Packet {
        let at_s = self.at.since(Instant::ZERO).as_secs_f64();
        match self.what {
            What::Data(sequence, length_bytes) => Packet::Data { at_s, sequence, length_bytes },
            What::Ack(acknowledgement, window_bytes) => {
                Packet::Ack { at_s, acknowledgement, window_bytes }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64, what: What) -> Seen {
        Seen { at: Instant::from_nanos(micros * 1_000), frame: micros, what }
    }

    #[test]
    fn partings_name_the_first_packet_that_differs() {
        let both = [at(0, What::Data(1, 1448)), at(10, What::Ack(1449, Some(64_000)))];
        let kernel = [&both[..], &[at(20, What::Data(1449, 1448))]].concat();
        assert_eq!(parting(1, &kernel, &kernel), None);

        // The window differs before the data does.
        let mut narrow = kernel.clone();
        narrow[1].what = What::Ack(1449, Some(1_000));
        assert_eq!(parting(1, &kernel, &narrow), None, "all data is the same");
        narrow.pop();
        let found = parting(2, &kernel, &narrow).unwrap();
        assert_eq!((found.trial, found.segments_alike, found.segments), (2, 1, 2));
        let ack =
            |window| Packet::Ack { at_s: 10e-6, acknowledgement: 1449, window_bytes: Some(window) };
        assert_eq!((found.kernel, found.model), (Some(ack(64_000)), Some(ack(1_000))));

        // One sends what the other does not.
        let found = parting(1, &kernel, &both).unwrap();
        let data = Packet::Data { at_s: 20e-6, sequence: 1449, length_bytes: 1448 };
        assert_eq!((found.kernel, found.model), (Some(data), None));
    }
}

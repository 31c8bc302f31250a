//! The numbers in the headers.

use std::collections::BTreeMap;
use std::path::Path;

use tcplab_trace::{Ack, Trace};
use tcplab_wire::{FrameView, LinkType, TcpFlags, TcpOption, TcpPacket};

use super::name;
use super::oracle::Row;

/// Every packet of the capture by itself, and the windows as the trace has them.
pub(super) fn compare(capture: &Path, trace: &Trace, rows: &[Row]) {
    let mut reader = tcplab_capture::open(capture).unwrap();
    let acks = acks(trace);
    let (mut number, mut scaled) = (0, 0);
    while let Some(record) = reader.next_record().unwrap() {
        let (captured, original_len) = (record.captured.to_vec(), record.original_len);
        let link = LinkType::from_number(reader.interfaces()[0].link_type);
        let view = FrameView::new(link, &captured, original_len);
        number += 1;
        let row = &rows[number - 1];
        let place = format!("{}, frame {number}", name(capture));
        let tcp = view.tcp().unwrap_or_else(|| panic!("{place} is no TCP"));
        let window = acks.get(&(number as u64)).and_then(|ack| ack.window);
        // tshark takes the window of a reset for one, and guesses no scale; all SYNs are here.
        let is_reset = tcp.flags().contains(TcpFlags::RST);
        let is_scaled = !is_reset && tcp.flags().contains(TcpFlags::ACK);
        let shown = window.map_or_else(String::new, |window| window.as_u64().to_string());
        scaled += usize::from(is_scaled);
        let window = if is_scaled { shown } else { row.fields[13].clone() };
        assert_eq!(fields(number, original_len, &tcp, window), row.fields[..18], "{place}");
        assert_eq!(options(&tcp), row.options, "{place}");
    }
    assert_eq!(number, rows.len(), "{}: packets", name(capture));
    assert!(scaled * 10 > number * 9, "{}: {scaled} windows were compared", name(capture));
}

/// What every packet says as an acknowledgement, by its frame.
fn acks(trace: &Trace) -> BTreeMap<u64, &Ack> {
    let flows = trace.connections.iter().flat_map(|c| [&c.forward, &c.reverse]);
    flows.flat_map(|flow| &flow.acks).map(|ack| (ack.frame, ack)).collect()
}

/// As tshark prints them.
fn fields(number: usize, len: u32, tcp: &TcpPacket<'_>, window: String) -> Vec<String> {
    let ip = tcp.ip();
    vec![
        number.to_string(),
        len.to_string(),
        tcp.src().to_string(),
        tcp.dst().to_string(),
        format!("{:#06x}", ip.id().unwrap()),
        ip.ttl().to_string(),
        ip.total_len().to_string(),
        tcp.src_port().to_string(),
        tcp.dst_port().to_string(),
        tcp.seq().to_string(),
        tcp.ack().to_string(),
        format!("{:#06x}", tcp.flags().bits()),
        tcp.window().to_string(),
        window,
        tcp.data_offset().to_string(),
        tcp.payload_len().to_string(),
        format!("{:#06x}", tcp.checksum()),
        tcp.urgent_pointer().to_string(),
    ]
}

fn options(tcp: &TcpPacket<'_>) -> Vec<String> {
    let mut found: [Vec<String>; 8] = Default::default();
    for option in tcp.options() {
        let kind = match option {
            TcpOption::NoOperation => 1,
            TcpOption::Mss(mss) => {
                found[0].push(mss.to_string());
                2
            }
            TcpOption::WindowScale(shift) => {
                found[1].push(shift.to_string());
                3
            }
            TcpOption::SackPermitted => {
                found[2].push("0402".into());
                4
            }
            TcpOption::Sack(blocks) => {
                for block in &blocks {
                    found[3].push(block.left.to_string());
                    found[4].push(block.right.to_string());
                }
                5
            }
            TcpOption::Timestamps { value, echo } => {
                found[5].push(value.to_string());
                found[6].push(echo.to_string());
                8
            }
            other => panic!("{other:?}: there is no such option in the corpus"),
        };
        found[7].push(kind.to_string());
    }
    found.map(|values| values.join("|")).into()
}

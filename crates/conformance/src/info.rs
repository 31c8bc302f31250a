//! Fields of `struct tcp_info` and of SO_MEMINFO (`include/uapi/linux/tcp.h`, `sock_diag.h`).

/// A field: its name, where it stands, and its bytes.
type Field = (&'static str, usize, usize);

const FIELDS: &[Field] = &[
    ("tcpi_state", 0, 1),
    ("tcpi_ca_state", 1, 1),
    ("tcpi_retransmits", 2, 1),
    ("tcpi_probes", 3, 1),
    ("tcpi_backoff", 4, 1),
    ("tcpi_options", 5, 1),
    ("tcpi_rto", 8, 4),
    ("tcpi_ato", 12, 4),
    ("tcpi_snd_mss", 16, 4),
    ("tcpi_rcv_mss", 20, 4),
    ("tcpi_unacked", 24, 4),
    ("tcpi_sacked", 28, 4),
    ("tcpi_lost", 32, 4),
    ("tcpi_retrans", 36, 4),
    ("tcpi_fackets", 40, 4),
    ("tcpi_last_data_sent", 44, 4),
    ("tcpi_last_ack_sent", 48, 4),
    ("tcpi_last_data_recv", 52, 4),
    ("tcpi_last_ack_recv", 56, 4),
    ("tcpi_pmtu", 60, 4),
    ("tcpi_rcv_ssthresh", 64, 4),
    ("tcpi_rtt", 68, 4),
    ("tcpi_rttvar", 72, 4),
    ("tcpi_snd_ssthresh", 76, 4),
    ("tcpi_snd_cwnd", 80, 4),
    ("tcpi_advmss", 84, 4),
    ("tcpi_reordering", 88, 4),
    ("tcpi_rcv_rtt", 92, 4),
    ("tcpi_rcv_space", 96, 4),
    ("tcpi_total_retrans", 100, 4),
    ("tcpi_pacing_rate", 104, 8),
    ("tcpi_max_pacing_rate", 112, 8),
    ("tcpi_bytes_acked", 120, 8),
    ("tcpi_bytes_received", 128, 8),
    ("tcpi_segs_out", 136, 4),
    ("tcpi_segs_in", 140, 4),
    ("tcpi_notsent_bytes", 144, 4),
    ("tcpi_min_rtt", 148, 4),
    ("tcpi_data_segs_in", 152, 4),
    ("tcpi_data_segs_out", 156, 4),
    ("tcpi_delivery_rate", 160, 8),
    ("tcpi_busy_time", 168, 8),
    ("tcpi_rwnd_limited", 176, 8),
    ("tcpi_sndbuf_limited", 184, 8),
    ("tcpi_delivered", 192, 4),
    ("tcpi_delivered_ce", 196, 4),
    ("tcpi_bytes_sent", 200, 8),
    ("tcpi_bytes_retrans", 208, 8),
    ("tcpi_dsack_dups", 216, 4),
    ("tcpi_reord_seen", 220, 4),
    ("tcpi_rcv_ooopack", 224, 4),
    ("tcpi_snd_wnd", 228, 4),
    ("tcpi_rcv_wnd", 232, 4),
    ("tcpi_rehash", 236, 4),
    ("tcpi_total_rto", 240, 2),
    ("tcpi_total_rto_recoveries", 242, 2),
    ("tcpi_total_rto_time", 244, 4),
    ("tcpi_received_ce", 248, 4),
    ("tcpi_delivered_e1_bytes", 252, 4),
    ("tcpi_delivered_e0_bytes", 256, 4),
    ("tcpi_delivered_ce_bytes", 260, 4),
    ("tcpi_received_e1_bytes", 264, 4),
    ("tcpi_received_e0_bytes", 268, 4),
    ("tcpi_received_ce_bytes", 272, 4),
];

/// A part of a byte: the byte, its lowest bit there, how many bits.
const BITS: &[(&str, usize, u32, u32)] = &[
    ("tcpi_snd_wscale", 6, 0, 4),
    ("tcpi_rcv_wscale", 6, 4, 4),
    ("tcpi_delivery_rate_app_limited", 7, 0, 1),
    ("tcpi_fastopen_client_fail", 7, 1, 2),
];

const MEMORY: &[&str] = &[
    "SK_MEMINFO_RMEM_ALLOC",
    "SK_MEMINFO_RCVBUF",
    "SK_MEMINFO_WMEM_ALLOC",
    "SK_MEMINFO_SNDBUF",
    "SK_MEMINFO_FWD_ALLOC",
    "SK_MEMINFO_WMEM_QUEUED",
    "SK_MEMINFO_OPTMEM",
    "SK_MEMINFO_BACKLOG",
    "SK_MEMINFO_DROPS",
];

/// Level and name of the socket option that has a field.
pub(crate) fn option_of(field: &str) -> Option<(i64, i64)> {
    /// SOL_TCP, TCP_INFO; SOL_SOCKET, SO_MEMINFO.
    const OPTIONS: [(i64, i64); 2] = [(6, 11), (1, 55)];
    let of_tcp = FIELDS.iter().any(|(name, ..)| *name == field)
        || BITS.iter().any(|(name, ..)| *name == field);
    let of_memory = MEMORY.contains(&field);
    let [tcp, memory] = OPTIONS;
    of_tcp.then_some(tcp).or(of_memory.then_some(memory))
}

/// The value of a field in what the kernel wrote; none where the kernel is older than it.
pub(crate) fn value(bytes: &[u8], field: &str) -> Option<i64> {
    if let Some(place) = MEMORY.iter().position(|name| *name == field) {
        return number(bytes, 4 * place, 4);
    }
    if let Some((_, at, low, count)) = BITS.iter().find(|(name, ..)| *name == field) {
        return Some(i64::from(bytes.get(*at)? >> low & ((1 << count) - 1)));
    }
    let (_, at, size) = FIELDS.iter().find(|(name, ..)| *name == field)?;
    number(bytes, *at, *size)
}

fn number(bytes: &[u8], at: usize, size: usize) -> Option<i64> {
    let mut eight = [0; 8];
    eight[..size].copy_from_slice(bytes.get(at..at + size)?);
    Some(i64::from_le_bytes(eight))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_one_behind_the_other() {
        // Two bytes of bit fields stand behind the sixth.
        let mut end = 6;
        for (name, at, size) in &FIELDS[6..] {
            let start: usize = if end == 6 { 8 } else { end };
            assert_eq!(*at, start, "{name}");
            end = at + size;
        }
    }

    #[test]
    fn value_of_a_field_is_read_where_it_stands() {
        let mut bytes = vec![0; 248];
        bytes[6] = 0x87;
        bytes[7] = 0b101;
        bytes[80] = 10;
        bytes[112..120].fill(0xff);
        assert_eq!(value(&bytes, "tcpi_snd_wscale"), Some(7));
        assert_eq!(value(&bytes, "tcpi_rcv_wscale"), Some(8));
        assert_eq!(value(&bytes, "tcpi_fastopen_client_fail"), Some(2));
        assert_eq!(value(&bytes, "tcpi_snd_cwnd"), Some(10));
        assert_eq!(value(&bytes, "tcpi_max_pacing_rate"), Some(-1));
        assert_eq!(value(&bytes, "tcpi_received_ce"), None);
        assert_eq!(option_of("SK_MEMINFO_RCVBUF"), Some((1, 55)));
        assert_eq!(option_of("tcpi_nothing"), None);
    }
}

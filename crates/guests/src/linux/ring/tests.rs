use super::*;

/// What the driver does: puts a record into the ring of what the guest sends.
fn send(memory: &SharedMemory, time: u64, kind: u16, bytes: &[u8]) {
    let head = memory.read(SENT_HEAD);
    let at = (head % RING_SIZE as u64) as usize;
    let (size, rest) = (size_of(bytes.len()), RING_SIZE - at);
    if rest < size {
        memory.copy_in(SENT_RING + at, &[0; UNIT]);
        memory.write(SENT_HEAD, head + rest as u64);
        return send(memory, time, kind, bytes);
    }
    let mut header = [0; UNIT];
    header[..8].copy_from_slice(&time.to_ne_bytes());
    header[8..12].copy_from_slice(&(bytes.len() as u32).to_ne_bytes());
    header[12..14].copy_from_slice(&kind.to_ne_bytes());
    memory.copy_in(SENT_RING + at, &header);
    memory.copy_in(SENT_RING + at + UNIT, bytes);
    memory.write(SENT_HEAD, head + size as u64);
}

#[test]
fn records_come_in_order_around_the_end_of_the_ring() {
    let memory = SharedMemory::new(SIZE).unwrap();
    // Twice around, with sizes that leave rests of all lengths.
    for nth in 0..3000_u64 {
        let bytes = vec![nth as u8; (nth * 37 % 4000) as usize];
        let kind = if nth % 2 == 0 { PACKET } else { MESSAGE };
        send(&memory, nth, kind, &bytes);
        let record = match kind {
            PACKET => Record::Packet(VnetHeader::default(), bytes),
            _ => Record::Message(bytes),
        };
        assert_eq!(take(&memory), Ok(Some((Instant::from_nanos(nth), record))));
        assert_eq!(take(&memory), Ok(None));
    }
}

#[test]
fn full_ring_takes_nothing_more() {
    let memory = SharedMemory::new(SIZE).unwrap();
    let packet = vec![7; LONGEST];
    let fits = RING_SIZE / size_of(LONGEST);
    for nth in 0..fits {
        assert!(put(&memory, Instant::ZERO, Content::Packet(&packet, false)).unwrap(), "{nth}");
    }
    assert!(!put(&memory, Instant::ZERO, Content::Message(&packet)).unwrap());
    // The guest has read one.
    memory.write(ARRIVED_TAIL, size_of(LONGEST) as u64);
    assert!(put(&memory, Instant::ZERO, Content::Message(&packet)).unwrap());
    assert!(put(&memory, Instant::ZERO, Content::Packet(&vec![0; LONGEST + 1], false)).is_err());
}

#[test]
fn broken_ring_is_an_error() {
    for (what, length, kind, head) in [
        ("longer than any record", LONGEST as u32 + 1, PACKET, 64),
        ("longer than what is there", 1000, PACKET, 64),
        ("of no kind", 1, 9, 64),
        ("fuller than full", 1, PACKET, RING_SIZE as u64 + 64),
    ] {
        let memory = SharedMemory::new(SIZE).unwrap();
        let mut header = [0; UNIT];
        header[8..12].copy_from_slice(&length.to_ne_bytes());
        header[12..14].copy_from_slice(&kind.to_ne_bytes());
        memory.copy_in(SENT_RING, &header);
        memory.write(SENT_HEAD, head);
        assert!(take(&memory).is_err(), "{what}");
    }
}

use tcplab_units::Span;

use super::pair::Pair;
use super::peer::Bench;
use super::*;
use crate::Data;
use crate::SocketOption;

fn urgent(now: Instant, connection: &mut Connection, bytes: &[u8]) {
    let how = Send { urgent: true, ..Send::default() };
    connection.send(now, &Data::copy_of(bytes), how).unwrap();
}

/// The reader stops at the mark, and the urgent byte is in the stream only if it wants it there.
#[test]
fn urgent_byte_follows_oobinline() {
    for inline in [false, true] {
        let mut pair = Pair::alike(&Config::default(), Span::from_millis(5)).connect();
        let now = pair.now;
        pair.server().set_option(now, SocketOption::UrgentInline(inline));
        pair.client.write(now, b"before").unwrap();
        urgent(now, &mut pair.client, b"now!");
        pair.client.write(now, b"after").unwrap();
        pair.run_for(Span::from_millis(100));
        let now = pair.now;
        let server = pair.server();
        let mut block = [0; 100];
        assert!(server.has_urgent());
        assert_eq!(server.read(now, &mut block), Ok(9), "stops at the mark");
        assert_eq!(&block[..9], b"beforenow");
        assert!(server.is_at_mark());
        if inline {
            assert_eq!(server.read_urgent(), Err(ReadError::NoUrgent));
            assert_eq!(server.read(now, &mut block), Ok(6));
            assert_eq!(&block[..6], b"!after");
        } else {
            assert_eq!(server.read_urgent(), Ok(b'!'));
            assert_eq!(server.read_urgent(), Err(ReadError::NoUrgent));
            assert_eq!(server.read(now, &mut block), Ok(5));
            assert_eq!(&block[..5], b"after");
        }
        assert!(!server.is_at_mark());
    }
}

/// RFC 6093 section 3: the pointer points behind the urgent byte.
#[test]
fn urgent_pointer_stays_until_acknowledged() {
    let mut bench = Bench::established(&Config::default());
    let now = bench.now;
    urgent(now, &mut bench.connection, b"abc");
    bench.poll();
    assert_eq!(bench.forget(), ["P.U 1:4(3) ack 1 win 63 urg 3"]);
    bench.hear(".", 1, 4, 0);
    bench.connection.write(now, b"d").unwrap();
    bench.poll();
    assert_eq!(bench.forget(), ["P. 4:5(1) ack 1 win 63"]);
}

#[test]
fn urgent_pointer_before_byte_is_awaited() {
    let mut bench = Bench::established(&Config::default());
    let mut segment = Bench::segment(".U", 1, 1, 10);
    segment.header.urgent_pointer = 15;
    bench.hear_raw(&segment);
    assert!(!bench.connection.has_urgent());
    assert_eq!(bench.connection.read_urgent(), Err(ReadError::WouldBlock));
    bench.hear(".", 11, 1, 10);
    assert_eq!(bench.connection.read_urgent(), Ok(15));
    let mut block = [0; 100];
    assert_eq!(bench.connection.read(bench.now, &mut block), Ok(14));
    assert_eq!(bench.connection.read(bench.now, &mut block), Ok(5));
}

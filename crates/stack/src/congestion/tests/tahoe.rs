use tcplab_units::Span;

use super::driver::{Driver, Path};
use crate::congestion::Tahoe;

#[test]
fn tahoe_loss_restarts_from_one_segment() {
    let path = Path::endless(Span::from_millis(100));
    let mut driver = Driver::avoiding(Tahoe::default(), path, 64);
    driver.run_rounds(2);
    driver.drop_next();
    let rows: Vec<u32> = driver.run_rounds(12).iter().map(|row| row.cwnd).collect();
    // 66 segments, of which one is lost, are in flight while cwnd is 66; that is 67 when it is
    // known, and the threshold 33. A round passes until they have left the path, another for the
    // repair, and what acknowledges it counts for one segment.
    assert_eq!(rows, [67, 1, 1, 2, 4, 8, 16, 32, 33, 34, 35, 36]);
}

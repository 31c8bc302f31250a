//! The time of day as servers write it.

use std::time::{SystemTime, UNIX_EPOCH};

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A second of the time of day (UTC), with its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    second: u64,
    date: [u8; 29],
}

impl Moment {
    /// `second` seconds after the Unix epoch, at most the end of the year 9999.
    pub fn at(second: u64) -> Moment {
        const LAST: u64 = 253_402_300_799;
        let second = second.min(LAST);
        let Civil { year, month, day, weekday, hour, minute, second: s } = Civil::at(second);
        let (weekday, month) = (DAYS[weekday], MONTHS[month - 1]);
        let text =
            format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{s:02} GMT");
        let date = text.as_bytes().try_into().expect("a date until 9999 has 29 characters");
        Moment { second, date }
    }

    /// Seconds since the Unix epoch.
    pub fn second(&self) -> u64 {
        self.second
    }

    /// As in HTTP's `Date` (RFC 9110, section 5.6.7, IMF-fixdate).
    pub fn http_date(&self) -> &[u8] {
        &self.date
    }

    /// As `ctime` writes it, in UTC: RFC 867 leaves the form open, and this one is customary.
    pub fn daytime(&self) -> String {
        let Civil { year, month, day, weekday, hour, minute, second } = Civil::at(self.second);
        let (weekday, month) = (DAYS[weekday], MONTHS[month - 1]);
        format!("{weekday} {month} {day:2} {hour:02}:{minute:02}:{second:02} {year:04}\r\n")
    }
}

/// The system's time of day; its text is made once a second.
#[derive(Debug)]
pub(crate) struct Clock {
    moment: Moment,
}

impl Clock {
    pub(crate) fn new() -> Clock {
        Clock { moment: Moment::at(now()) }
    }

    pub(crate) fn moment(&mut self) -> &Moment {
        let second = now();
        if second != self.moment.second {
            self.moment = Moment::at(second);
        }
        &self.moment
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// A second in the Gregorian calendar.
struct Civil {
    year: u64,
    /// From 1.
    month: usize,
    day: u64,
    /// Thursday, the first day of the epoch, is 0.
    weekday: usize,
    hour: u64,
    minute: u64,
    second: u64,
}

impl Civil {
    fn at(second: u64) -> Civil {
        let (days, rest) = (second / 86_400, second % 86_400);
        // Years that begin in March have their leap day at the end, and months whose lengths follow
        // 153 days in five. 400 years are 146,097 days; 1 March of the year 0 lies 719,468 days
        // before the epoch.
        let since = days + 719_468;
        let (era, in_era) = (since / 146_097, since % 146_097);
        let year_in_era = (in_era - in_era / 1_460 + in_era / 36_524 - in_era / 146_096) / 365;
        let in_year = in_era - (365 * year_in_era + year_in_era / 4 - year_in_era / 100);
        let march_based = (5 * in_year + 2) / 153;
        let month = if march_based < 10 { march_based + 3 } else { march_based - 9 };
        Civil {
            year: era * 400 + year_in_era + u64::from(month <= 2),
            month: month as usize,
            day: in_year - (153 * march_based + 2) / 5 + 1,
            weekday: (days % 7) as usize,
            hour: rest / 3_600,
            minute: rest / 60 % 60,
            second: rest % 60,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_date_1() {
        // `date --utc --date=@N '+%a, %d %b %Y %T GMT'`
        let table = [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (951_868_799, "Tue, 29 Feb 2000 23:59:59 GMT"),
            (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
            (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (u64::MAX, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ];
        for (second, text) in table {
            assert_eq!(std::str::from_utf8(Moment::at(second).http_date()), Ok(text));
        }
        assert_eq!(Moment::at(784_111_777).daytime(), "Sun Nov  6 08:49:37 1994\r\n");
    }
}

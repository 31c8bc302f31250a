//! Who is logged in, as this machine records it (utmp(5)).

/// Where the record is.
pub(crate) const PLACES: [&str; 2] = ["/run/utmp", "/var/run/utmp"];

/// `ut_type` of a user's process.
const USER_PROCESS: u16 = 7;
/// Where `ut_user` lies in an entry, and how long it is.
const USER: std::ops::Range<usize> = 44..76;
/// An entry's length, which differs where `ut_session` and `ut_tv` are wider.
const ENTRY: usize = if cfg!(any(target_arch = "x86", target_arch = "x86_64", target_arch = "arm"))
{
    384
} else {
    400
};

/// How often this user is logged in, according to the content of a record.
pub(crate) fn logins(record: &[u8], user: &str) -> usize {
    let is_login = |entry: &&[u8]| {
        let kind = u16::from_ne_bytes([entry[0], entry[1]]);
        let name = entry[USER].split(|byte| *byte == 0).next().unwrap_or_default();
        kind == USER_PROCESS && name == user.as_bytes()
    };
    record.chunks_exact(ENTRY).filter(is_login).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kind: u16, user: &str) -> Vec<u8> {
        let mut entry = vec![0; ENTRY];
        entry[..2].copy_from_slice(&kind.to_ne_bytes());
        entry[USER][..user.len()].copy_from_slice(user.as_bytes());
        entry
    }

    #[test]
    fn users_are_counted_and_nothing_else() {
        let long = "u".repeat(32);
        let mut record = [
            entry(2, "reboot"),
            entry(USER_PROCESS, "ada"),
            entry(8, "ada"),
            entry(USER_PROCESS, "adam"),
            entry(USER_PROCESS, "ada"),
            entry(USER_PROCESS, &long),
        ]
        .concat();
        record.extend([7, 0, 1]);
        for (user, count) in [("ada", 2), ("adam", 1), ("ad", 0), ("reboot", 0), (&long, 1)] {
            assert_eq!(logins(&record, user), count, "{user}");
        }
        assert_eq!(logins(&[], "ada"), 0);
    }
}

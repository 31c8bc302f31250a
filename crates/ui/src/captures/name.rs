//! Names of files that somebody else gave.

/// The longest name, bytes: `NAME_MAX` less what a temporary name adds.
const LONGEST: usize = 120;

/// A name that is one file in one directory, whatever was given: its last part, with plain letters
/// only, the end kept where it is too long.
pub(super) fn safe(given: &str) -> String {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    let plain: String = last.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    // Neither hidden nor a flag.
    let plain = plain.trim_start_matches(['.', '-']);
    let plain = &plain[plain.len().saturating_sub(LONGEST)..];
    let plain = plain.trim_start_matches(['.', '-']);
    if plain.is_empty() { "capture".into() } else { plain.into() }
}

/// A name that is free: with a number before its ending where it is not.
pub(super) fn free(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(name) {
        return name.into();
    }
    let (stem, ending) = name.find('.').map_or((name, ""), |dot| name.split_at(dot));
    let numbered = (2..).map(|number| format!("{stem}-{number}{ending}"));
    { numbered }.find(|name| !is_taken(name)).expect("there are more numbers than files")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn safe_name_is_one_plain_file() {
        for (given, name) in [
            ("a.pcap.zst", "a.pcap.zst"),
            ("../../etc/passwd", "passwd"),
            ("..\\..\\a.pcap", "a.pcap"),
            ("..", "capture"),
            ("", "capture"),
            ("-w", "w"),
            (".hidden", "hidden"),
            ("a\0b", "a_b"),
            ("<img src=x onerror=alert(1)>", "_img_src_x_onerror_alert_1__"),
            ("schön.pcap", "sch_n.pcap"),
            ("x/", "capture"),
        ] {
            assert_eq!(safe(given), name, "{given:?}");
        }
        assert!(safe(&format!("{}.pcap", "x".repeat(500))).ends_with("x.pcap"));
        assert_eq!(safe(&"x".repeat(500)).len(), LONGEST);
    }

    #[test]
    fn free_name_gets_a_number_where_it_is_taken() {
        assert_eq!(free("a.pcap.zst", |_| false), "a.pcap.zst");
        assert_eq!(free("a.pcap.zst", |name| name == "a.pcap.zst"), "a-2.pcap.zst");
        assert_eq!(free("a", |name| ["a", "a-2"].contains(&name)), "a-3");
    }
}

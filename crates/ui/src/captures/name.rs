//! Names of files that somebody else gave.

/// The longest name, bytes: `NAME_MAX` less what a temporary name adds.
const LONGEST: usize = 120;

/// A name that is one file in one directory, whatever was given: its last part, with letters of any
/// script and little else, the end kept where it is too long.
pub(super) fn safe(given: &str) -> String {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain: String = last.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    // Neither hidden nor a flag.
    let plain = plain.trim_start_matches(['.', '-']);
    let mut cuts = plain.len().saturating_sub(LONGEST)..=plain.len();
    let plain = &plain[cuts.find(|at| plain.is_char_boundary(*at)).unwrap_or_default()..];
    let plain = plain.trim_start_matches(['.', '-']);
    if plain.is_empty() { "capture".into() } else { plain.into() }
}

/// Whether a character steers nothing: no shell, no terminal, no order of letters.
fn is_plain(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || "-_.+".contains(c);
    }
    // Also accents that are characters of their own, as macOS writes them.
    c.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&c)
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
            ("schön.pcap", "schön.pcap"),
            ("scho\u{308}n.pcap", "scho\u{308}n.pcap"),
            ("клиент.pcap", "клиент.pcap"),
            ("抓包 2.pcap", "抓包_2.pcap"),
            ("a\u{202e}pacp.exe", "a_pacp.exe"),
            ("a\u{200b}\u{2028}\u{85}b", "a___b"),
            ("..\u{ff0f}a", "_a"),
            ("x/", "capture"),
        ] {
            assert_eq!(safe(given), name, "{given:?}");
        }
        assert!(safe(&format!("{}.pcap", "x".repeat(500))).ends_with("x.pcap"));
        assert_eq!(safe(&"x".repeat(500)).len(), LONGEST);
        // Of two bytes each, and not cut within one.
        assert_eq!(safe(&format!("{}.", "я".repeat(500))).len(), LONGEST - 1);
    }

    #[test]
    fn free_name_gets_a_number_where_it_is_taken() {
        assert_eq!(free("a.pcap.zst", |_| false), "a.pcap.zst");
        assert_eq!(free("a.pcap.zst", |name| name == "a.pcap.zst"), "a-2.pcap.zst");
        assert_eq!(free("a", |name| ["a", "a-2"].contains(&name)), "a-3");
    }
}

//! The machine's own lists of package sources, in both formats of apt (sources.list(5)).

use super::suites::CODENAMES;

/// A mirror of Debian that the machine uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mirror {
    uri: String,
    /// The file with the keys that its lists are signed with, if it is named.
    signed_by: Option<String>,
    /// Whether it has security updates.
    is_security: bool,
}

impl Mirror {
    /// The line of a `sources.list` for a suite; none if it cannot have it.
    pub(super) fn line(&self, suite: &str) -> Option<String> {
        let is_release = !matches!(suite, "sid") && !suite.ends_with("-backports");
        let suite = match (self.is_security, is_release) {
            (false, _) => suite.to_owned(),
            (true, true) => format!("{suite}-security"),
            (true, false) => return None,
        };
        let key = self.signed_by.as_ref().map(|file| format!("[signed-by={file}] "));
        Some(format!("deb {}{} {suite} main\n", key.unwrap_or_default(), self.uri))
    }
}

/// The mirrors of Debian in these texts, each with whether it is in the newer format.
pub(super) fn mirrors(texts: &[(bool, String)]) -> Vec<Mirror> {
    let mut mirrors = Vec::new();
    for (is_deb822, text) in texts {
        let entries = if *is_deb822 { stanzas(text) } else { lines(text) };
        for entry in entries {
            for mirror in entry.mirrors() {
                let is_known = mirrors.iter().any(|known: &Mirror| known.uri == mirror.uri);
                if !is_known {
                    mirrors.push(mirror);
                }
            }
        }
    }
    mirrors
}

/// An entry of a list, as far as it matters.
#[derive(Debug, Default)]
struct Entry {
    is_off: bool,
    types: Vec<String>,
    uris: Vec<String>,
    suites: Vec<String>,
    signed_by: Option<String>,
}

impl Entry {
    fn mirrors(&self) -> Vec<Mirror> {
        let is_debian = self.suites.iter().any(|suite| {
            CODENAMES.iter().any(|codename| {
                suite
                    .strip_prefix(codename)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '/']))
            })
        });
        if self.is_off || !is_debian || !self.types.iter().any(|it| it == "deb") {
            return Vec::new();
        }
        let is_security = self
            .suites
            .iter()
            .all(|suite| suite.ends_with("-security") || suite.contains("/updates"));
        let uris = self.uris.iter().filter(|uri| !uri.starts_with("cdrom:"));
        let signed_by = self.signed_by.clone();
        uris.map(|uri| Mirror { uri: uri.clone(), signed_by: signed_by.clone(), is_security })
            .collect()
    }

    fn set(&mut self, field: &str, value: &str) {
        let words = || value.split_whitespace().map(str::to_owned);
        match field.to_ascii_lowercase().as_str() {
            "types" => self.types.extend(words()),
            "uris" => self.uris.extend(words()),
            "suites" => self.suites.extend(words()),
            "enabled" => self.is_off = matches!(value.trim(), "no" | "false" | "off" | "0"),
            // A key itself may stand here too; then apt's own keys must do.
            "signed-by" => self.signed_by = words().find(|word| word.starts_with('/')),
            _ => {}
        }
    }
}

/// Entries of `*.sources`: fields, each perhaps of several lines; an empty line ends an entry.
fn stanzas(text: &str) -> Vec<Entry> {
    let mut entries = vec![Entry::default()];
    let mut field = String::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let entry = entries.last_mut().expect("there is one");
        if line.trim().is_empty() {
            field.clear();
            entries.push(Entry::default());
        } else if line.starts_with([' ', '\t']) {
            entry.set(&field, line);
        } else if let Some((name, value)) = line.split_once(':') {
            name.clone_into(&mut field);
            entry.set(name, value);
        }
    }
    entries
}

/// Entries of `*.list`: `deb [ options ] uri suite component…`, one a line.
fn lines(text: &str) -> Vec<Entry> {
    text.lines().filter_map(line_entry).collect()
}

fn line_entry(line: &str) -> Option<Entry> {
    let line = line.split('#').next()?.trim();
    let (kind, rest) = line.split_once(char::is_whitespace)?;
    let mut entry = Entry::default();
    entry.set("types", kind);
    let mut rest = rest.trim_start();
    if let Some((options, after)) = rest.strip_prefix('[').and_then(|it| it.split_once(']')) {
        for option in options.split_whitespace() {
            if let Some((name, value)) = option.split_once('=') {
                entry.set(name, value);
            }
        }
        rest = after;
    }
    let mut words = rest.split_whitespace();
    entry.set("uris", words.next()?);
    entry.set("suites", words.next()?);
    Some(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(is_deb822: bool, text: &str) -> Vec<String> {
        let found = mirrors(&[(is_deb822, text.to_owned())]);
        found.iter().filter_map(|mirror| mirror.line("trixie")).collect()
    }

    #[test]
    fn stanzas_give_mirrors_without_comments() {
        let text = "Types: deb\n# http://old.example/debian/2025\nURIs: http://mirror.example/debian\n\
                    Suites: bookworm bookworm-updates\nComponents: main\n\
                    Signed-By: /usr/share/keyrings/a.gpg\n\nTypes: deb deb-src\n\
                    URIs: http://mirror.example/security\n  http://second.example/security\n\
                    Suites: bookworm-security\nComponents: main\n\nTypes: deb\n\
                    URIs: http://other.example/node\nSuites: nodistro\nComponents: main\n\n\
                    Enabled: no\nTypes: deb\nURIs: http://off.example/\nSuites: sid\n";
        assert_eq!(
            shown(true, text),
            [
                "deb [signed-by=/usr/share/keyrings/a.gpg] http://mirror.example/debian trixie main\n",
                "deb http://mirror.example/security trixie-security main\n",
                "deb http://second.example/security trixie-security main\n",
            ]
        );
    }

    #[test]
    fn lines_give_mirrors_without_comments() {
        let text = "# deb http://old.example/debian bookworm main\n\
                    deb [ arch=amd64 signed-by=/k.gpg ] http://mirror.example/debian bookworm main # a\n\
                    deb-src http://source.example/debian bookworm main\n\
                    deb cdrom:[Debian]/ bookworm main\n\
                    deb http://mirror.example/debian-security bookworm-security main\n\
                    deb https://other.example/apt cloud-sdk-bookworm main\n\
                    deb\ndeb http://half.example\n";
        assert_eq!(
            shown(false, text),
            [
                "deb [signed-by=/k.gpg] http://mirror.example/debian trixie main\n",
                "deb http://mirror.example/debian-security trixie-security main\n",
            ]
        );
    }

    #[test]
    fn security_has_releases_only() {
        let mirror =
            |is_security| Mirror { uri: "http://m.example/d".into(), signed_by: None, is_security };
        assert_eq!(mirror(true).line("sid"), None);
        assert_eq!(mirror(true).line("trixie-backports"), None);
        assert_eq!(mirror(false).line("sid").unwrap(), "deb http://m.example/d sid main\n");
    }

    #[test]
    fn hostile_lists_are_read() {
        for text in ["", "\n\n\n", ":", " x", "Types", "[", "deb [", "deb [a", "deb ] ] ]", "\u{0}"]
        {
            for is_deb822 in [true, false] {
                assert_eq!(shown(is_deb822, text), [""; 0], "{text:?}");
            }
        }
    }
}

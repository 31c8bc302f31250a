//! What stands beside a script: the shell files that it runs, and the kernel's configuration that
//! its suite asks for.

use std::path::Path;

use tcplab_packetdrill::ast::Flag;
use tcplab_packetdrill::{Position, Script};

use tcplab_actions::{TEXT_MAX, read_regular};

/// Puts in place what the shell files of `script` do; paths are relative to the script's own.
pub(super) fn read_files(script: &mut Script, path: &Path) {
    let folder = path.parent().unwrap_or(Path::new("."));
    script.read_files(&|file| read(&folder.join(file)));
}

/// A text beside the script; suites keep shell files in a folder beside it (`../common`), so any
/// place will do. None unless its name, links followed, is that of a shell file or `config`.
fn read(path: &Path) -> Option<String> {
    let path = path.canonicalize().ok()?;
    let is_meant = path.extension().is_some_and(|it| it == "sh") || path.ends_with("config");
    let bytes = read_regular(&path, TEXT_MAX).ok().filter(|_| is_meant)?;
    String::from_utf8(bytes).ok()
}

/// `CONFIG_HZ` of the file `config` beside the script, which Linux's selftests have: the ticks per
/// second for which their times are written.
pub(super) fn hz(path: &Path) -> Option<u32> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let text = read(&folder.join("config"))?;
    let value = text.lines().find_map(|line| line.trim().strip_prefix("CONFIG_HZ="))?;
    value.parse().ok().filter(|hz| (1..=10_000).contains(hz))
}

/// The IP version of a script: what it says itself (`--ip_version=ipv6`), or its name (google's
/// `*v4.pkt` and `*v6.pkt`), or else `given`.
pub(super) fn ip_version(text: &str, path: &Path, given: &str) -> String {
    let said = text.lines().find_map(|line| line.trim().strip_prefix("--ip_version="));
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    match said {
        Some(said) => said.trim().into(),
        None if name.ends_with("v6") => "ipv6".into(),
        None if name.ends_with("v4") => "ipv4".into(),
        None => given.into(),
    }
}

/// The script runs over this version of IP, before all else that it says.
pub(super) fn set_ip_version(script: &mut Script, version: String) {
    let at = Position { line: 1, column: 1 };
    script.options.insert(0, Flag { at, name: "ip_version".into(), value: Some(version) });
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tcplab_packetdrill::Definitions;
    use tcplab_packetdrill::shell::Command;

    use super::*;

    #[test]
    fn surroundings_of_script_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pkt");
        fs::write(folder.path().join("config"), "CONFIG_IPV6=y\nCONFIG_HZ=1000\n").unwrap();
        fs::write(folder.path().join("more.sh"), "sysctl -q a.b=1\n").unwrap();
        fs::write(folder.path().join("defaults.sh"), "#!/bin/sh\n./more.sh\nsysctl c.d=2\n")
            .unwrap();
        assert_eq!(hz(&path), Some(1000));
        let text = "`./defaults.sh\n./absent.sh`\n0 `./more.sh`\n+0 close(3) = 0";
        let mut script = Script::parse(text, &Definitions::none()).unwrap();
        read_files(&mut script, &path);
        let set = |name: &str, value: &str| Command::Set(vec![(name.into(), value.into())]);
        assert_eq!(
            script.init.unwrap().commands,
            [set("a.b", "1"), set("c.d", "2"), Command::File("./absent.sh".into())]
        );
        for (text, name, expected) in [
            ("0 a() = 0", "a/mtu-v6.pkt", "ipv6"),
            ("--mss=1000\n--ip_version=ipv6\n0 a() = 0", "a/b.pkt", "ipv6"),
            ("0 a() = 0", "b.pkt", "ipv4"),
        ] {
            assert_eq!(ip_version(text, Path::new(name), "ipv4"), expected, "{name}");
        }
        assert_eq!(hz(Path::new("/nowhere/a.pkt")), None);
    }
}

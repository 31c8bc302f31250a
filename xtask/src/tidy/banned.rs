//! What may not be called or named, and in which crates.

use std::collections::BTreeSet;

use super::source::Source;
use super::violation::Violation;

/// Some paths that a crate must do without.
struct Ban {
    /// Each is found wherever its segments follow one another in a path.
    paths: &'static [&'static str],
    /// Segments that may follow nevertheless.
    except: &'static [&'static str],
    scope: Scope,
    /// Files of the bound crates that are free nevertheless.
    free: &'static [&'static str],
    /// Whether tests are bound by it too.
    in_tests: bool,
    why: &'static str,
    remedy: &'static str,
}

enum Scope {
    Everywhere,
    In(&'static [&'static str]),
    Outside(&'static [&'static str]),
}

/// The crates whose results depend on nothing but their arguments.
const PURE: &[&str] =
    &["units", "wire", "path", "stack", "workload", "sim", "trace", "findings", "stats", "plot"];

/// What may name standard output and standard error.
const PRINTING: &[&str] = &[
    "crates/cli/src/output/terminal.rs",
    // The bytes of a program of the user's, as they are.
    "crates/cli/src/output/passed_on.rs",
    // Lines of JSON to the process that started this one.
    "crates/testbed/src/linux/message.rs",
    // Hands them to the program of the user.
    "crates/testbed/src/linux/shell/mod.rs",
];

const BANS: &[Ban] = &[
    pure(
        &["Instant::now", "SystemTime::now", "std::time::Instant", "std::time::SystemTime"],
        "this crate has no clock, or the virtual world could not run it",
        "take the time as an argument (`tcplab_units::Instant`)",
    ),
    pure(
        &["thread::sleep"],
        "this crate never waits, it returns when it wants to be called again",
        "return the time of the next wake-up",
    ),
    Ban {
        except: &[
            "IpAddr",
            "Ipv4Addr",
            "Ipv6Addr",
            "SocketAddr",
            "SocketAddrV4",
            "SocketAddrV6",
            "AddrParseError",
        ],
        ..pure(
            &["std::net"],
            "this crate has no socket",
            "take and return bytes; sockets live in `testbed`, plain addresses in `core::net`",
        )
    },
    pure(
        &["std::fs"],
        "this crate opens no file",
        "take a reader or a writer; files are opened by `lab`, `testbed` and `cli`",
    ),
    pure(
        &["rand::rng", "rand::random", "thread_rng", "OsRng", "SysRng", "getrandom"],
        "the same seed must give the same bytes",
        "take a `tcplab_units::Rng`",
    ),
    pure(
        &["HashMap", "HashSet", "RandomState"],
        "its order of iteration differs from run to run",
        "use a `BTreeMap`, a `BTreeSet`, or a `Vec` in order",
    ),
    Ban {
        scope: Scope::Outside(&["xtask"]),
        free: PRINTING,
        ..pure(
            &["print!", "println!", "eprint!", "eprintln!", "io::stdout", "io::stderr"],
            "one place prints, so that foreign text cannot steer the terminal",
            "return it; in `cli` print it with `crate::output`",
        )
    },
    Ban {
        scope: Scope::Outside(&["xtask"]),
        free: PRINTING,
        ..pure(
            &["ProgressDrawTarget", "MultiProgress", "rustix::stdio"],
            "one place prints, so that foreign text cannot steer the terminal",
            "use `crate::output`",
        )
    },
    Ban {
        scope: Scope::Outside(&["xtask"]),
        ..pure(
            &["serde_json::from_str", "serde_json::from_reader", "serde_json::from_value"],
            "each further source of JSON compiles every type that is read from it once more",
            "use `serde_json::from_slice`",
        )
    },
    everywhere(
        &["todo!", "unimplemented!"],
        "what is here works",
        "build it, or leave the whole way to it out",
    ),
    everywhere(&["dbg!"], "it is left over from a search", "delete it"),
    Ban {
        // `servers` has a `sys` of its own: its designs fork, share memory and hand memory to
        // io_uring, and must not need the privileges and namespaces of `testbed`. `guests` shares
        // memory with other kernels.
        scope: Scope::Outside(&["testbed", "servers", "guests"]),
        ..everywhere(
            &["unsafe"],
            "only `testbed`, the `sys` of `servers`, and `guests` speak to the kernel past the compiler",
            "write it safely, or move the system call to `testbed`",
        )
    },
];

/// A ban that binds the pure crates, but not their tests.
const fn pure(paths: &'static [&'static str], why: &'static str, remedy: &'static str) -> Ban {
    Ban { paths, except: &[], scope: Scope::In(PURE), free: &[], in_tests: false, why, remedy }
}

/// A ban that binds all code.
const fn everywhere(
    paths: &'static [&'static str],
    why: &'static str,
    remedy: &'static str,
) -> Ban {
    Ban { paths, except: &[], scope: Scope::Everywhere, free: &[], in_tests: true, why, remedy }
}

pub(super) fn check(source: &Source) -> Vec<Violation> {
    let Some(crate_name) = source.crate_name() else { return Vec::new() };
    // A build script talks to cargo by printing, and runs on the developer's machine.
    let build_script = !source.path.contains("/src/") && !source.test_file;
    let binds =
        |ban: &&Ban| ban.scope.binds(crate_name) && !ban.free.contains(&source.path.as_str());
    let bans: Vec<&Ban> = BANS.iter().filter(binds).collect();
    let mut violations = BTreeSet::new();
    for mention in source.mentions() {
        for ban in &bans {
            let exempt = build_script || source.is_test(mention.at);
            if let Some(path) = ban.named_in(&mention.segments)
                && (ban.in_tests || !exempt)
            {
                violations.insert(Violation {
                    path: source.path.clone(),
                    line: source.line_of(mention.at),
                    what: format!("`{path}` in `{crate_name}`"),
                    why: ban.why.into(),
                    remedy: ban.remedy.into(),
                });
            }
        }
    }
    violations.into_iter().collect()
}

impl Scope {
    fn binds(&self, crate_name: &str) -> bool {
        match self {
            Scope::Everywhere => true,
            Scope::In(crates) => crates.contains(&crate_name),
            Scope::Outside(crates) => !crates.contains(&crate_name),
        }
    }
}

impl Ban {
    /// Which of the banned paths `segments` contains, unless an exception follows it.
    fn named_in(&self, segments: &[String]) -> Option<&'static str> {
        self.paths.iter().copied().find(|path| {
            let banned: Vec<&str> = path.split("::").collect();
            let Some(at) = segments.windows(banned.len()).position(|window| window == banned)
            else {
                return false;
            };
            let next = segments.get(at + banned.len()).map(String::as_str);
            !next.is_some_and(|next| self.except.contains(&next))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(path: &str, text: &str) -> Vec<(usize, String)> {
        check(&Source::new(path, text)).into_iter().map(|one| (one.line, one.what)).collect()
    }

    #[test]
    fn each_ban_fires_on_its_line() {
        let table = [
            ("path", "fn f() {\n  let t = Instant::now();\n}", 2, "`Instant::now` in `path`"),
            ("sim", "use std::time::{Duration, Instant};", 1, "`std::time::Instant` in `sim`"),
            ("stack", "let t = std::time::SystemTime::now();", 1, "`SystemTime::now` in `stack`"),
            ("workload", "std::thread::sleep(d);", 1, "`thread::sleep` in `workload`"),
            ("trace", "use std::net::TcpStream;", 1, "`std::net` in `trace`"),
            ("trace", "use std::{\n  io,\n  fs::File,\n};", 3, "`std::fs` in `trace`"),
            ("units", "let r = rand::rng();", 1, "`rand::rng` in `units`"),
            ("findings", "let r = OsRng;", 1, "`OsRng` in `findings`"),
            ("stats", "let m = std::collections::HashMap::new();", 1, "`HashMap` in `stats`"),
            ("plot", "use std::collections::{BTreeMap, HashSet};", 1, "`HashSet` in `plot`"),
            ("lab", "println!(\"x\");", 1, "`println!` in `lab`"),
            ("cli", "println!(\"{x}\");", 1, "`println!` in `cli`"),
            ("cli", "use std::io::{self, stdout};", 1, "`io::stdout` in `cli`"),
            ("testbed", "let _ = write!(io::stderr(), \"x\");", 1, "`io::stderr` in `testbed`"),
            ("cli", "use indicatif::ProgressDrawTarget;", 1, "`ProgressDrawTarget` in `cli`"),
            ("lab", "serde_json::from_reader(file)", 1, "`serde_json::from_reader` in `lab`"),
            ("cli", "todo!()", 1, "`todo!` in `cli`"),
            ("testbed", "unimplemented!()", 1, "`unimplemented!` in `testbed`"),
            ("xtask", "std::dbg!(x)", 1, "`dbg!` in `xtask`"),
            ("capture", "unsafe { f() }", 1, "`unsafe` in `capture`"),
            ("wire", "macro_rules! m {\n  () => { eprintln!() }\n}", 2, "`eprintln!` in `wire`"),
        ];
        for (crate_name, text, line, what) in table {
            let found = found_in(&format!("crates/{crate_name}/src/lib.rs"), text);
            assert!(found.contains(&(line, what.to_owned())), "{text}: {found:?}");
        }
    }

    #[test]
    fn lookalike_text_is_not_reported() {
        let table = [
            ("path", "let text = \"todo!() unsafe Instant::now\";"),
            ("path", "let text = r#\"\"HashMap\" dbg!\"#;"),
            ("path", "// todo!()\n/* unsafe { std::fs::read } */"),
            ("path", "/// Not `println!`.\nfn f() {}"),
            ("path", "use tcplab_units::Instant;\nfn f(now: Instant) {}"),
            ("path", "#![forbid(unsafe_code)]"),
            ("path", "if todo != 1 { }"),
            ("trace", "use std::net::{IpAddr, Ipv4Addr};\nlet a = std::net::Ipv6Addr::LOCALHOST;"),
            ("lab", "let now = Instant::now(); let m = HashMap::new(); std::fs::read(p);"),
            ("testbed", "unsafe { libc::close(fd) }"),
            ("xtask", "println!(\"{x}\");"),
            ("path", "#[cfg(test)]\nmod tests {\n  use std::collections::HashMap;\n}"),
            ("path", "#[test]\nfn f() { eprintln!(\"skipped\"); }"),
        ];
        for (crate_name, text) in table {
            assert_eq!(found_in(&format!("crates/{crate_name}/src/lib.rs"), text), [], "{text}");
        }
        let printing = "fn f() { io::stdout().lock(); ProgressDrawTarget::stderr() }";
        assert_eq!(found_in("crates/cli/src/output/terminal.rs", printing), []);
        assert_eq!(found_in("crates/cli/build.rs", "fn main() { print!(\"cargo::\") }"), []);
        assert_eq!(found_in("crates/path/tests/pair.rs", "use std::fs;"), []);
    }

    #[test]
    fn tests_are_bound_where_it_says_so() {
        let text =
            "#[cfg(test)]\nmod tests {\n  fn f() { todo!() }\n  fn g() { unsafe { h() } }\n}";
        let lines: Vec<usize> =
            found_in("crates/path/src/lib.rs", text).iter().map(|one| one.0).collect();
        assert_eq!(lines, [3, 4]);
    }
}

//! The systems that tcplab is handed out for.

/// A system, and how a program for it is linked.
#[derive(Debug)]
pub(super) struct System {
    /// As in the names of files.
    pub(super) name: &'static str,
    /// The compiler's name for it.
    pub(super) target: &'static str,
    pub(super) program: &'static str,
    pub(super) linker: Linker,
    /// What the archive's name ends with.
    pub(super) archive: &'static str,
    /// Where it has packages, what they call the processor.
    pub(super) packages: Option<Packages>,
}

#[derive(Debug)]
pub(super) struct Packages {
    pub(super) deb: &'static str,
    pub(super) rpm: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Linker {
    /// By `cargo-zigbuild`, with the C library musl: nothing of this machine takes part.
    Musl,
    /// Debian's `gcc-mingw-w64-x86-64`.
    MinGw,
    /// By `cargo-zigbuild`, with `scripts/macos` in place of Apple's frameworks.
    MacOs,
}

pub(super) const SYSTEMS: &[System] = &[
    System {
        name: "x86_64-linux",
        target: "x86_64-unknown-linux-musl",
        program: "tcplab",
        linker: Linker::Musl,
        archive: "tar.gz",
        packages: Some(Packages { deb: "amd64", rpm: "x86_64" }),
    },
    System {
        name: "aarch64-linux",
        target: "aarch64-unknown-linux-musl",
        program: "tcplab",
        linker: Linker::Musl,
        archive: "tar.gz",
        packages: Some(Packages { deb: "arm64", rpm: "aarch64" }),
    },
    System {
        name: "x86_64-windows",
        target: "x86_64-pc-windows-gnu",
        program: "tcplab.exe",
        linker: Linker::MinGw,
        archive: "zip",
        packages: None,
    },
    System {
        name: "aarch64-macos",
        target: "aarch64-apple-darwin",
        program: "tcplab",
        linker: Linker::MacOs,
        archive: "tar.gz",
        packages: None,
    },
];

impl System {
    /// Whether this machine runs its programs.
    pub(super) fn runs_here(&self) -> bool {
        cfg!(target_os = "linux")
            && self.name.ends_with("-linux")
            && self.name.starts_with(std::env::consts::ARCH)
    }
}

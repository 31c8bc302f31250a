//! Checks that the requested output files can be written, before anything is read.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::super::input::Input;
use crate::arguments::{Outputs, ViewArguments};
use crate::output::Output;
use tcplab_actions::name;

/// Checks all requested outputs against this input.
pub(super) fn check(input: &Input<'_>, view: &ViewArguments, outputs: &Outputs) -> Result<()> {
    let json = view.json.place.clone().filter(|_| !view.json.is_printed());
    let named = [
        ("--json", &json),
        ("--ladder-svg", &outputs.ladder_svg),
        ("--hex-svg", &outputs.hex_svg),
        ("--html", &outputs.html),
        ("--annotate", &outputs.annotate),
        ("--csv", &outputs.csv),
    ];
    let mut places: Vec<(&str, PathBuf)> = Vec::new();
    if let Some(kept) = input.kept() {
        places.push(("-w", place(kept)));
    }
    for (option, file) in named {
        let Some(file) = file else { continue };
        if file.as_os_str() == Output::STDOUT {
            bail!("standard output is taken by the report: give {option} a file name");
        }
        let place = place(file);
        // A device such as /dev/null takes anything.
        if fs::metadata(&place).is_ok_and(|there| !there.is_file()) {
            continue;
        }
        if let Some(capture) = input.files().iter().find(|it| self::place(it) == place) {
            bail!("{option} would overwrite the input {}: choose another file", name(capture));
        }
        // Such as the first of `--html *.pcap`.
        if option != "--annotate" && tcplab_capture::open(&place).is_ok() {
            bail!("{option} would overwrite the capture {}: choose another file", file.display());
        }
        if let Some((other, _)) = places.iter().find(|(_, taken)| *taken == place) {
            bail!("{other} and {option} name the same file: {}", file.display());
        }
        places.push((option, place));
    }
    // --json keeps all packets, --connection those of one connection.
    let is_kept = view.json.place.is_some() || (view.connection.is_some() && !view.jsonl);
    if outputs.html.is_some() && !is_kept {
        needs_files(input, "--html")?;
    }
    if !view.hex.is_empty() {
        needs_files(input, "--hex")?;
    }
    if outputs.annotate.is_some() {
        let files = needs_files(input, "--annotate")?;
        if files.len() > 1 {
            bail!(
                "--annotate takes one capture, not {}: merge them first with `mergecap -w \
                 all.pcapng`",
                files.len()
            );
        }
    }
    Ok(())
}

/// The files that can be read again.
fn needs_files<'a>(input: &Input<'a>, option: &str) -> Result<&'a [PathBuf]> {
    match input.lasting() {
        Some(files) => Ok(files),
        None if input.is_live() => {
            bail!("{option} needs the packets twice: save those of the interface with -w FILE")
        }
        None => bail!(
            "{option} reads the capture twice: save standard input or the pipe to a file first"
        ),
    }
}

/// The canonical path of a file that exists or will.
fn place(file: &Path) -> PathBuf {
    file.canonicalize().unwrap_or_else(|_| {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize();
        match (folder, file.file_name()) {
            (Ok(folder), Some(name)) => folder.join(name),
            _ => file.to_owned(),
        }
    })
}

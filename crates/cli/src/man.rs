//! `tcplab man`.

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::arguments::{ManArguments, definition};
use crate::output::{Output, write_file};

pub(crate) fn man(arguments: &ManArguments) -> Result<ExitCode> {
    let mut tcplab = definition();
    tcplab.build();
    let Some(directory) = &arguments.directory else {
        write_file(Path::new(Output::STDOUT), &page(&tcplab)?)?;
        return Ok(ExitCode::SUCCESS);
    };
    fs::create_dir_all(directory)
        .with_context(|| format!("cannot create {}", directory.display()))?;
    write_pages(&tcplab, directory)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of a command and those of its subcommands.
fn write_pages(command: &Command, directory: &Path) -> Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    write_file(&directory.join(format!("{name}.1")), &page(command)?)?;
    let shown = command.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help");
    shown.into_iter().try_for_each(|inner| write_pages(inner, directory))
}

fn page(command: &Command) -> Result<String> {
    let man = Man::new(command.clone());
    let mut text = title(command).into_bytes();
    man.render_name_section(&mut text)?;
    write_synopsis(command, &mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if command.get_subcommands().any(|it| !it.is_hide_set()) {
        man.render_subcommands_section(&mut text)?;
    }
    write_examples(command, &mut text)?;
    Ok(String::from_utf8(text)?)
}

/// The macro of the head and foot (man(7)), without a date: clap_mangen leaves an empty one away,
/// and what follows takes its place.
fn title(command: &Command) -> String {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let version = env!("CARGO_PKG_VERSION");
    format!(".TH {name} 1 \"\" \"tcplab {version}\" \"tcplab manual\"\n")
}

/// The usage that the help and its errors have.
fn write_synopsis(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let usage = command.clone().render_usage().to_string();
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]);
    for (index, line) in usage.trim_start_matches("Usage:").lines().enumerate() {
        if index > 0 {
            roff.control("br", []);
        }
        roff.text([roman(line.trim())]);
    }
    roff.to_writer(page)
}

/// The end of a command's help: paragraphs, and indented lines, which stay as they are.
fn write_examples(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let Some(after) = command.get_after_long_help().or(command.get_after_help()) else {
        return Ok(());
    };
    let after = after.to_string();
    let mut roff = Roff::new();
    roff.control("SH", ["EXAMPLES"]);
    let (mut is_as_it_is, mut follows_text) = (false, false);
    for line in after.lines().skip_while(|line| *line == "Examples:") {
        let is_indented = line.starts_with(' ');
        if is_indented != is_as_it_is {
            roff.control(if is_indented { "nf" } else { "fi" }, []);
            is_as_it_is = is_indented;
        }
        if line.is_empty() {
            roff.control("PP", []);
        } else {
            if follows_text && !is_indented {
                roff.control("br", []);
            }
            roff.text([roman(line)]);
        }
        follows_text = !line.is_empty() && !is_indented;
    }
    if is_as_it_is {
        roff.control("fi", []);
    }
    roff.to_writer(page)
}

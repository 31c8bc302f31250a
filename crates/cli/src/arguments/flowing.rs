//! Ends of help texts whose paragraphs fit the terminal.

use clap::Command;

/// Joins the lines of each paragraph behind the arguments of a command and its subcommands, so that
/// they are broken once, where the terminal ends.
pub(super) fn flowing(command: Command) -> Command {
    let after = command.get_after_help().map(|text| joined(&text.to_string()));
    let command = match after {
        Some(text) => command.after_help(text),
        None => command,
    };
    command.mut_subcommands(flowing)
}

/// With a paragraph in each line. Lines that are indented, and headings, stay as they are.
fn joined(text: &str) -> String {
    let mut paragraphs = String::new();
    let mut before = "";
    for line in text.lines() {
        let stands_alone = |line: &str| line.is_empty() || line.starts_with(' ');
        let goes_on = !stands_alone(line) && !stands_alone(before) && !before.ends_with(':');
        if !paragraphs.is_empty() {
            paragraphs.push(if goes_on { ' ' } else { '\n' });
        }
        paragraphs.push_str(line);
        before = line;
    }
    paragraphs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_joined_and_examples_stay() {
        let text =
            "Examples:\n  tcplab run a    b\n  tcplab run c\n\nOne line\nand another:\nno.\n";
        let expected =
            "Examples:\n  tcplab run a    b\n  tcplab run c\n\nOne line and another:\nno.";
        assert_eq!(joined(text), expected);
    }
}

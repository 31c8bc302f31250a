//! Text in lines.

/// Lines of at most `most` letters, broken between words, but not between a number and its unit; a
/// longer word behind a comma, or where the line ends.
pub(super) fn wrapped(note: &str, most: usize) -> Vec<String> {
    let (mut lines, mut line, mut start) = (Vec::new(), String::new(), 0);
    for (space, _) in note.match_indices(' ').chain([(note.len(), "")]) {
        let number = note[start..space].ends_with(|c: char| c.is_ascii_digit());
        if number && space < note.len() {
            continue;
        }
        let mut gap = " ";
        for piece in cut(&note[start..space], most - 1) {
            if !line.is_empty() && line.chars().count() + gap.len() + piece.chars().count() > most {
                lines.push(std::mem::replace(&mut line, "\u{2003}".into()));
            }
            if !line.is_empty() && line != "\u{2003}" {
                line += gap;
            }
            line += piece;
            gap = "";
        }
        start = space + 1;
    }
    lines.push(line);
    lines
}

/// A word in pieces of at most `most` letters.
fn cut(word: &str, most: usize) -> Vec<&str> {
    let (mut pieces, mut rest) = (Vec::new(), word);
    while let Some((end, _)) = rest.char_indices().nth(most) {
        let (piece, more) = rest.split_at(rest[..end].rfind(',').map_or(end, |comma| comma + 1));
        pieces.push(piece);
        rest = more;
    }
    pieces.push(rest);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_break_between_words_not_before_units() {
        let word = "nine chars".replace(' ', "");
        let note = format!("{} eightlet 10 % are lost", [word.as_str(); 12].join(" "));
        let lines = wrapped(&note, 131);
        assert!(lines.iter().all(|line| line.chars().count() <= 131), "{lines:?}");
        assert_eq!(lines[1], "\u{2003}10 % are lost");
        assert_eq!(wrapped("short", 131), ["short"]);
        assert_eq!(wrapped("ends in 5", 131), ["ends in 5"]);
    }

    /// Keys and values of a table without a space, as the command line has them.
    #[test]
    fn long_word_is_broken_behind_a_comma_or_at_the_end_of_the_line() {
        let event = r#"{at="6 s",interrupt="500 ms"}"#;
        let note = format!("rate=\"10 Mbit/s\", events=[{}]", [event; 6].join(","));
        let lines = wrapped(&note, 131);
        assert!(lines.iter().all(|line| line.chars().count() <= 131), "{lines:?}");
        assert!(lines[1].ends_with("},") || lines[1].ends_with("\","), "{lines:?}");
        let whole: String = lines.iter().map(|line| line.trim_start_matches('\u{2003}')).collect();
        assert_eq!(whole, note.replace(", ", ","));
        assert_eq!(wrapped(&"ß".repeat(10), 5), ["ßßßß", "\u{2003}ßßßß", "\u{2003}ßß"]);
        assert_eq!(wrapped("", 5), [""]);
    }
}

//! The approximate width of text.

/// Pixels of a letter at the size of the plots' text (11.5 px): that of Liberation Sans, rounded
/// up, so that other fonts fit too.
fn letter(letter: char) -> f64 {
    match letter {
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' | '—' => 10.5,
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!'
        | ' ' | '(' | ')' | '[' | ']' | '/' | '-' => 4.0,
        'A'..='Z' => 8.4,
        _ => 6.8,
    }
}

pub(crate) fn width(text: &str) -> f64 {
    text.chars().map(letter).sum()
}

/// `text`, cut with an ellipsis if wider than `room` pixels.
pub(crate) fn fitted(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let room = room - letter('…');
    let mut taken = 0.0;
    let kept: String = text
        .chars()
        .take_while(|it| {
            taken += letter(*it);
            taken <= room
        })
        .collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_take_more_room_and_long_text_is_cut() {
        assert!(width("memory") > 40.0 && width("till") < 20.0);
        assert_eq!(fitted("memory", 60.0), "memory");
        let cut = fitted("a rather long name of a level", 80.0);
        assert!(cut.ends_with('…') && width(&cut) <= 80.0, "{cut}");
    }
}

//! What made runs doubtful: a line for each kind behind each path.

use std::collections::{BTreeMap, BTreeSet};

use tcplab_units::rounded::grouped;

/// The warnings of the runs that count, by path and kind.
#[derive(Debug, Default)]
pub(super) struct Warnings(BTreeMap<(usize, String), Warned>);

/// One kind behind one path.
#[derive(Debug)]
struct Warned {
    runs: usize,
    commands: BTreeSet<char>,
    /// That of the largest numbers, and the command it is of.
    worst: (String, char),
    /// Whether there are others with other numbers.
    differs: bool,
}

impl Warnings {
    /// One of a run of a command.
    pub(super) fn add(&mut self, path: usize, command: char, text: String) {
        let warned = self.0.entry((path, kind(&text))).or_insert_with(|| Warned {
            runs: 0,
            commands: BTreeSet::new(),
            worst: (text.clone(), command),
            differs: false,
        });
        warned.runs += 1;
        warned.commands.insert(command);
        warned.differs |= warned.worst.0 != text;
        if numbers(&text) > numbers(&warned.worst.0) {
            warned.worst = (text, command);
        }
    }

    /// A line for each; `paths` has for each path what it is called and how many runs behind it
    /// count.
    pub(super) fn lines(&self, paths: &[(&str, usize)]) -> Vec<String> {
        let line = |((path, _), warned): (&(usize, String), &Warned)| {
            let (name, all) = paths[*path];
            format!("{name}: {}", warned.sentence(all))
        };
        self.0.iter().map(line).collect()
    }
}

impl Warned {
    fn sentence(&self, all: usize) -> String {
        let Warned { runs, commands, worst: (text, worst), differs } = self;
        let of = match (*runs, commands.len(), *differs) {
            (1, ..) => format!(", of {worst}"),
            (_, 1, _) => format!(", all of {worst}"),
            (_, _, true) => format!(", the worst of {worst}"),
            (_, _, false) => String::new(),
        };
        let [runs, all] = [*runs, all].map(|count| grouped(count as u64));
        format!("in {runs} of {all} runs{of}: {text}")
    }
}

/// A warning without its numbers.
fn kind(text: &str) -> String {
    text.split(is_of_number).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("#")
}

fn numbers(text: &str) -> Vec<f64> {
    text.split(|c| !is_of_number(c)).filter_map(|part| part.parse().ok()).collect()
}

fn is_of_number(c: char) -> bool {
    c.is_ascii_digit() || c == '.'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_line_for_each_path() {
        let mut all = Warnings::default();
        let starved = |ms: &str, share: &str| {
            let time = format!("{ms} ms for a processor, {share} % of the time");
            format!("the thread that moves packets waited {time}")
        };
        for index in 0..20 {
            let name = if index % 2 == 0 { 'A' } else { 'B' };
            all.add(0, name, starved(&format!("{}.3", 10 + index), "1.5"));
            all.add(1, name, "the path asks for 100 Gbit/s".into());
        }
        all.add(0, 'B', starved("110.0", "9.0"));
        all.add(0, 'A', starved("99.9", "9.5"));
        all.add(0, 'B', "3 frames were lost outside the path".into());
        all.add(1, 'C', "the goodput is unknown: less than 5840 B".into());
        all.add(1, 'C', "the goodput is unknown: less than 5840 B".into());
        assert_eq!(
            all.lines(&[("rate=20 Mbit/s", 22), ("dsl-25", 1_020)]),
            [
                "rate=20 Mbit/s: in 1 of 22 runs, of B: 3 frames were lost outside the path",
                "rate=20 Mbit/s: in 22 of 22 runs, the worst of B: the thread that moves packets \
                 waited 110.0 ms for a processor, 9.0 % of the time",
                "dsl-25: in 2 of 1,020 runs, all of C: the goodput is unknown: less than 5840 B",
                "dsl-25: in 20 of 1,020 runs: the path asks for 100 Gbit/s",
            ]
        );
    }
}

//! Commands for two interfaces.

use std::fmt::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::plan::{TcLink, TcPlan, TcQdisc, TcTable};
use crate::Direction;

/// The interfaces of the box between the two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interfaces {
    /// Where the client is.
    pub client: String,
    /// Where the server is.
    pub server: String,
}

impl Interfaces {
    /// Where packets of a direction come in and go out.
    fn of(&self, direction: Direction) -> (&str, &str) {
        match direction {
            Direction::Forward => (&self.client, &self.server),
            Direction::Reverse => (&self.server, &self.client),
        }
    }
}

/// Commands that make a path, and those that take it away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcScript {
    /// In order.
    pub setup: Vec<TcCommand>,
    /// In order.
    pub undo: Vec<TcCommand>,
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcCommand {
    /// Its meaning, in lines.
    pub about: Vec<String>,
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The kernel module that it needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// A distribution that has to be in the directory that `TC_LIB_DIR` names, as NAME.dist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<TcTable>,
}

impl TcTable {
    /// The file's content (`*.dist`): numbers between spaces.
    pub fn content(&self) -> String {
        let lines = self.values.chunks(12).map(|chunk| {
            let numbers: Vec<String> = chunk.iter().map(i32::to_string).collect();
            numbers.join(" ") + "\n"
        });
        lines.collect()
    }
}

impl TcPlan {
    /// The commands for these interfaces.
    pub fn script(&self, interfaces: &Interfaces) -> TcScript {
        let mut script = TcScript { setup: Vec::new(), undo: Vec::new() };
        for (direction, link) in self.links() {
            link.write(direction, interfaces.of(direction), &mut script);
        }
        script
    }
}

impl TcLink {
    fn write(&self, direction: Direction, (from, to): (&str, &str), script: &mut TcScript) {
        let way = match direction {
            Direction::Forward => "client to server",
            Direction::Reverse => "server to client",
        };
        let shaped = match (&self.shaper, &self.line) {
            (Some(_), Some(_)) => {
                let between = between(direction);
                script.lead_through(from, between, way);
                between
            }
            _ => to,
        };
        if let Some([root, queue]) = &self.shaper {
            script.qdisc(way, shaped, &["root", "handle", "1:"], root);
            script.qdisc(way, shaped, &["parent", "1:1", "handle", "10:"], queue);
        }
        if let Some(line) = &self.line {
            script.qdisc(way, to, &["root", "handle", "1:"], line);
            if let Some(last) = script.setup.last_mut() {
                last.table.clone_from(&self.table);
            }
        }
        if self.shaper.is_some() || self.line.is_some() {
            script.undo.push(command("tc", &["qdisc", "del", "dev", to, "root"]));
        }
    }
}

/// The device that has the shaper where both sides have something to do.
const fn between(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "tcplab-fwd",
        Direction::Reverse => "tcplab-rev",
    }
}

impl TcScript {
    /// Redirects the packets that arrive at `from` through the device `between` first. The filter
    /// is u32, which every kernel has.
    fn lead_through(&mut self, from: &str, between: &str, way: &str) {
        let mut add = command("ip", &["link", "add", "dev", between, "type", "ifb"]);
        add.about
            .push(format!("{way}: a device of its own, so that the queue comes before the line"));
        add.module = Some("ifb".into());
        self.setup.push(add);
        self.setup.push(command("ip", &["link", "set", "dev", between, "up"]));
        let mut ingress =
            command("tc", &["qdisc", "add", "dev", from, "handle", "ffff:", "ingress"]);
        ingress.module = Some("sch_ingress".into());
        self.setup.push(ingress);
        let mut filter = command("tc", &["filter", "add", "dev", from, "parent", "ffff:"]);
        let all = "protocol all u32 match u32 0 0 action mirred egress redirect dev";
        filter.words.extend(all.split(' ').map(str::to_owned));
        filter.words.push(between.to_owned());
        filter.module = Some("act_mirred".into());
        self.setup.push(filter);
        self.undo.push(command("tc", &["qdisc", "del", "dev", from, "ingress"]));
        self.undo.push(command("ip", &["link", "del", "dev", between]));
    }

    fn qdisc(&mut self, way: &str, device: &str, place: &[&str], qdisc: &TcQdisc) {
        let mut one = command("tc", &["qdisc", "replace", "dev", device]);
        // What holds for any kind stands before it; a place comes first.
        one.words.extend(place.iter().map(|&word| word.to_owned()));
        one.words.extend(qdisc.words.iter().cloned());
        one.about = qdisc.stands_for.iter().map(|text| format!("{way}: {text}")).collect();
        one.module = Some(format!("sch_{}", qdisc.kind));
        self.setup.push(one);
    }
}

fn command(program: &str, arguments: &[&str]) -> TcCommand {
    let words = std::iter::once(program).chain(arguments.iter().copied()).map(str::to_owned);
    TcCommand { about: Vec::new(), words: words.collect(), module: None, table: None }
}

impl TcCommand {
    /// The command as a shell reads it.
    pub fn line(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| quoted(word)).collect();
        words.join(" ")
    }

    /// With its comments, and what it needs.
    fn shell(&self) -> String {
        let mut text = String::new();
        for about in &self.about {
            let _ = writeln!(text, "# {about}");
        }
        match &self.table {
            None => {
                let _ = writeln!(text, "{}", self.line());
            }
            Some(table) => {
                let _ = write!(
                    text,
                    "tables=$(mktemp -d)\ncat > \"$tables/{}.dist\" <<'END'\n{}END\n\
                     TC_LIB_DIR=\"$tables\" {}\nrm -r \"$tables\"\n",
                    table.name,
                    table.content(),
                    self.line()
                );
            }
        }
        text
    }
}

impl TcScript {
    /// The commands that make the path, for `sh`, each with a comment.
    pub fn setup_shell(&self) -> String {
        self.setup.iter().map(TcCommand::shell).collect()
    }

    /// The commands that take it away, for `sh`; each is tried, whatever the others do.
    pub fn undo_shell(&self) -> String {
        self.undo.iter().map(TcCommand::shell).collect()
    }
}

/// A path as a shell reads it as one word.
pub fn quoted_path(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

/// A word as a shell reads it as one.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/%@+,=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

//! `--live`: the screen is given back whatever ends the view, and logs get lines.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::home::Home;

/// Other commands that tests start meanwhile must not hold it open.
const FLAGS: OpenptFlags = OpenptFlags::RDWR.union(OpenptFlags::NOCTTY).union(OpenptFlags::CLOEXEC);
const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";

/// A command on a terminal of its own.
struct OnTerminal {
    child: Child,
    terminal: File,
    output: Receiver<Vec<u8>>,
    seen: String,
    /// Where what was waited for ends.
    after: usize,
}

impl OnTerminal {
    fn start(mut command: Command) -> OnTerminal {
        let ours = openpt(FLAGS).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&ours, size).unwrap();
        let theirs = ioctl_tiocgptpeer(&ours, FLAGS).unwrap();
        let end = || Stdio::from(theirs.try_clone().unwrap());
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let terminal = File::from(ours);
        let (mut reader, (sender, output)) = (terminal.try_clone().unwrap(), mpsc::channel());
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                if sender.send(bytes[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        drop(theirs);
        OnTerminal { child, terminal, output, seen: String::new(), after: 0 }
    }

    /// Waits until the output has this text after the one that was waited for before.
    fn wait_for(&mut self, text: &str) {
        loop {
            if let Some(found) = self.seen[self.after..].find(text) {
                self.after += found + text.len();
                return;
            }
            let Ok(bytes) = self.output.recv_timeout(Duration::from_secs(60)) else {
                panic!("no {text:?} in {:?}", &self.seen[self.after..]);
            };
            self.seen += &String::from_utf8_lossy(&bytes);
        }
    }

    fn press(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).unwrap();
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn is_raw(&self) -> bool {
        !tcgetattr(&self.terminal).unwrap().local_modes.contains(LocalModes::ICANON)
    }

    /// Whether it is suspended (proc_pid_stat(5): the state is T).
    fn is_stopped(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'))
    }

    /// Waits for the end of the command; its exit code and all it printed.
    fn end(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().unwrap();
        assert!(!self.is_raw(), "the terminal is left raw");
        while let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(500)) {
            self.seen += &String::from_utf8_lossy(&bytes);
        }
        (status, self.seen)
    }
}

/// An upload in virtual time, so many times.
fn write_scenario(home: &Home, megabytes: u32, trials: u32) {
    let scenario = format!(
        r#"title    = "Upload"
path     = {{ rate = "50 Mbit/s", delay = "10 ms" }}
client   = {{ stack = "model:linux-6.18" }}
server   = {{ stack = "model:linux-6.18" }}
workload = {{ upload = "{megabytes} MB" }}

[repeat]
trials = {trials}

[[expect]]
claim  = "all arrives"
metric = "payload_intact"
equals = true
"#
    );
    home.write("upload.toml", scenario);
}

/// A load on a server that never answers.
fn load(home: &Home) -> (TcpListener, Command) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let command = home.command(&format!("load echo://{address} -c 1 --duration 1h --live"));
    (listener, command)
}

#[track_caller]
fn assert_left(seen: &str) {
    let (enters, leaves) = (seen.matches(ENTER).count(), seen.matches(LEAVE).count());
    assert!(enters > 0 && enters == leaves, "{seen:?}");
    let (last, after) = (seen.rfind(ENTER), seen.rfind(LEAVE));
    assert!(last < after && seen.contains("\x1b[?25h"), "{seen:?}");
    // What is drawn moves the cursor; colours do not.
    let rest = &seen[after.unwrap() + LEAVE.len()..];
    for sequence in rest.split("\x1b[").skip(1) {
        let end = sequence.find(|c: char| c.is_ascii_alphabetic()).map(|at| &sequence[at..=at]);
        assert_eq!(end, Some("m"), "drawn after the end: {rest:?}");
    }
}

#[test]
fn run_stopped_by_a_key_or_a_signal_restores_the_terminal() {
    for (key, signal, code) in [
        ("q", None, 130),
        ("\x03", None, 130),
        ("", Some(Signal::TERM), 143),
        ("", Some(Signal::HUP), 129),
    ] {
        let home = Home::new();
        write_scenario(&home, 20, 500);
        let mut run = OnTerminal::start(home.command("run upload.toml --world sim --live"));
        run.wait_for("finished trials");
        assert!(run.is_raw());
        run.press("p?");
        run.wait_for("PAUSED");
        run.press(key);
        if let Some(signal) = signal {
            run.signal(signal);
        }
        let (status, seen) = run.end();
        assert_eq!(status.code(), Some(code), "{key:?}: {seen}");
        assert_left(&seen);
        assert!(seen.contains("resume with"), "{seen:?}");
    }
}

/// SIGQUIT ends it as always, after the terminal is given back.
#[test]
fn quit_restores_the_terminal() {
    let home = Home::new();
    let (_listener, command) = load(&home);
    let mut load = OnTerminal::start(command);
    load.wait_for("requests/s");
    assert!(load.is_raw());
    load.signal(Signal::QUIT);
    let (status, seen) = load.end();
    assert_eq!(status.signal(), Some(Signal::QUIT.as_raw()), "{seen}");
    assert_left(&seen);
}

#[test]
fn terminal_without_control_sequences_gets_lines() {
    let home = Home::new();
    write_scenario(&home, 1, 2);
    let mut command = home.command("run upload.toml --world sim --live");
    command.env("TERM", "dumb");
    let (status, seen) = OnTerminal::start(command).end();
    assert_eq!(status.code(), Some(0), "{seen}");
    assert!(seen.contains("no control sequences (TERM=dumb), so it is a line a second"), "{seen}");
    assert!(!seen.contains(ENTER), "{seen:?}");
}

#[test]
fn run_that_ends_leaves_the_screen_before_its_tables() {
    let home = Home::new();
    write_scenario(&home, 1, 2);
    let mut command = home.command("run upload.toml --world sim --live");
    command.env("NO_COLOR", "1");
    let (status, seen) = OnTerminal::start(command).end();
    assert_eq!(status.code(), Some(0), "{seen}");
    let tables = seen.rsplit(LEAVE).next().unwrap();
    assert!(seen.contains(ENTER) && tables.contains("report.html"), "{seen:?}");
}

#[test]
fn load_stopped_twice_restores_the_terminal() {
    let home = Home::new();
    let (listener, command) = load(&home);
    let mut load = OnTerminal::start(command);
    load.wait_for("requests/s");
    load.press("qq");
    let (status, seen) = load.end();
    drop(listener);
    assert_eq!(status.code(), Some(130), "{seen}");
    assert!(seen.contains(ENTER) && seen.contains(LEAVE), "{seen:?}");
}

#[test]
fn run_ends_when_its_terminal_is_gone() {
    let home = Home::new();
    write_scenario(&home, 20, 500);
    let mut run = OnTerminal::start(home.command("run upload.toml --world sim --live"));
    run.wait_for("finished trials");
    // The reader's copy goes with what it reads next.
    let OnTerminal { mut child, terminal, output, .. } = run;
    drop((terminal, output));
    kill_process(Pid::from_child(&child), Signal::HUP).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(129));
}

#[test]
fn suspended_view_gives_the_terminal_back_and_takes_it_again() {
    let home = Home::new();
    let (_listener, command) = load(&home);
    let mut load = OnTerminal::start(command);
    load.wait_for("requests/s");
    for is_key in [true, false] {
        if is_key {
            load.press("\x1a");
        } else {
            load.signal(Signal::TSTP);
        }
        load.wait_for(LEAVE);
        while !load.is_stopped() {
            thread::yield_now();
        }
        assert!(!load.is_raw());
        load.signal(Signal::CONT);
        load.wait_for(ENTER);
        load.wait_for("requests/s");
        assert!(load.is_raw());
    }
    load.press("q");
    let (status, seen) = load.end();
    assert_eq!(status.code(), Some(130), "{seen}");
    assert_left(&seen);
}

#[test]
fn live_on_a_pipe_prints_lines() {
    let home = Home::new();
    write_scenario(&home, 1, 2);
    let ended = home.run("run upload.toml --world sim --live");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.starts_with("--live: standard error is no terminal"), "{}", ended.stderr);
    assert!(!ended.stderr.contains('\x1b') && !ended.stdout.contains('\x1b'));
    let plain = home.run("run upload.toml --world sim --live=plain");
    assert_eq!((plain.code, plain.stderr.contains("no terminal")), (Some(0), false));
    assert_eq!(plain.stdout.lines().count(), ended.stdout.lines().count());
}

#[test]
fn shell_refuses_lines_on_the_terminal_of_its_program() {
    let home = Home::new();
    for live in ["--live", "--live=plain"] {
        let command = home.command(&format!("shell dsl-25 {live} -- true"));
        let (status, seen) = OnTerminal::start(command).end();
        assert_eq!(status.code(), Some(2), "{seen}");
        assert!(seen.contains("--live-log FILE"), "{seen}");
    }
    // There is no whole screen beside a program.
    let refused = home.run("shell dsl-25 --live=screen -- true");
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("line, plain"), "{}", refused.stderr);
}

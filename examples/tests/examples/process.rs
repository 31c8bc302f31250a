//! Programs that are started, talked to, and ended. Nothing waits for ever.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Longer than anything here takes, however busy the machine is.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// A server; ended when this is dropped.
pub(crate) struct Server {
    pub(crate) process: Child,
    pub(crate) address: SocketAddr,
    lines: Receiver<String>,
}

impl Server {
    pub(crate) fn start(program: &Path, arguments: &[&str]) -> Server {
        let mut process = Command::new(program)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let says = BufReader::new(process.stdout.take().unwrap());
        let (line, lines) = channel();
        thread::spawn(move || says.lines().map_while(Result::ok).try_for_each(|l| line.send(l)));
        let first = lines.recv_timeout(LONG).unwrap();
        let address = first.strip_prefix("listening on ").unwrap().parse().unwrap();
        Server { process, address, lines }
    }

    /// The next line that it prints.
    pub(crate) fn line(&self) -> String {
        self.lines.recv_timeout(LONG).unwrap()
    }

    /// Waits until no process prints there any more: each child has a copy of the pipe.
    pub(crate) fn until_silent(&self) {
        let end = loop {
            if let Err(end) = self.lines.recv_timeout(LONG) {
                break end;
            }
        };
        assert_eq!(end, RecvTimeoutError::Disconnected, "somebody still has the pipe");
    }

    pub(crate) fn address(&self) -> String {
        self.address.to_string()
    }

    /// A connection to it, of which no read waits for ever.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream
    }

    /// The page that it serves.
    pub(crate) fn page(&self) -> String {
        let mut stream = self.connect();
        stream.write_all(b"GET / HTTP/1.0\r\nHost: here\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What a program prints that ends by itself.
pub(crate) fn run(program: &Path, arguments: &[&str]) -> String {
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Output { status, stdout, stderr } = output(child.unwrap());
    let (said, complained) =
        (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
    assert!(status.success(), "{} {arguments:?}: {said}{complained}", program.display());
    said
}

/// What a program prints until it ends; one that goes on for too long is killed.
pub(crate) fn output(child: Child) -> Output {
    let number = Pid::from_child(&child);
    let (ended, end) = channel::<()>();
    let guard = thread::spawn(move || {
        if end.recv_timeout(LONG) == Err(RecvTimeoutError::Timeout) {
            let _ = kill_process(number, Signal::KILL);
        }
    });
    let output = child.wait_with_output().unwrap();
    drop(ended);
    guard.join().unwrap();
    output
}

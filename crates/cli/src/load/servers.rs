//! Test servers that a load starts for itself.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tcplab_units::ServerDesign;

/// How long a server may take to end.
const PATIENCE: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(10);

/// A test server on this machine, which ends with this value, and with this process: its standard
/// input ends then.
#[derive(Debug)]
pub(super) struct TestServer {
    child: Child,
    /// Where it is, as a target.
    pub(super) target: String,
}

impl TestServer {
    /// Starts one that echoes, or serves a file, and waits until it listens.
    ///
    /// # Errors
    /// If it cannot be started; it has said why.
    pub(super) fn start(design: ServerDesign, file: Option<&Path>) -> Result<TestServer> {
        let program = env::current_exe().context("cannot find the path of the tcplab program")?;
        let mut command = Command::new(program);
        command.args(["server", "--control", "--drain-timeout=1 s"]);
        command.arg(format!("--design={}", design.name()));
        if let Some(file) = file {
            command.arg("--file").arg(file.canonicalize().unwrap_or_else(|_| file.into()));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = command.spawn().context("cannot start tcplab server")?;
        let mut server = TestServer { child, target: String::new() };
        let mut line = String::new();
        if let Some(output) = server.child.stdout.take() {
            BufReader::new(output).read_line(&mut line).context("cannot hear tcplab server")?;
        }
        let told: Value = serde_json::from_slice(line.as_bytes()).unwrap_or_default();
        let Some(address) = told["listening"].as_str() else {
            bail!("the server of design {} did not start", design.name());
        };
        server.target = match file {
            Some(_) => format!("http://{address}/"),
            None => format!("echo://{address}"),
        };
        Ok(server)
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(LOOK);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! The servers: nginx and ours, on the same file, with one worker each.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::process::{self, Running, Side};
use crate::say;

pub(crate) struct Site {
    folder: TempDir,
}

impl Site {
    pub(crate) fn new(bytes: usize) -> io::Result<Site> {
        let folder = tempfile::tempdir()?;
        let text: String = (0..bytes).map(|at| char::from(b'a' + (at % 26) as u8)).collect();
        fs::create_dir(folder.path().join("site"))?;
        fs::write(folder.path().join("site/index.html"), text)?;
        Ok(Site { folder })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Served {
    Nginx,
    Epoll,
    IoUring,
}

pub(crate) struct Server {
    running: Running,
    address: SocketAddr,
    /// Kept open, so that its last output does not fail.
    _output: Option<BufReader<ChildStdout>>,
}

impl Server {
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Seconds of processor time so far.
    pub(crate) fn processor(&self) -> f64 {
        process::used(self.running.0.id())
    }

    /// Megabytes at most so far.
    pub(crate) fn memory(&self) -> f64 {
        process::memory(self.running.0.id())
    }
}

impl Served {
    pub(crate) const ALL: [Served; 3] = [Served::Nginx, Served::Epoll, Served::IoUring];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Served::Nginx => "nginx",
            Served::Epoll => "tcplab epoll",
            Served::IoUring => "tcplab io-uring",
        }
    }

    pub(crate) fn start(self, site: &Site) -> io::Result<Server> {
        let started = match self {
            Served::Nginx => nginx(site),
            Served::Epoll => own(&["--design", "epoll", "--file", &folder(site)]),
            Served::IoUring => own(&["--design", "io-uring", "--file", &folder(site)]),
        };
        started.inspect_err(|error| say(&format!("SKIPPED: {}: {error}", self.name())))
    }
}

fn folder(site: &Site) -> String {
    site.path().join("site").to_string_lossy().into_owned()
}

pub(crate) fn own(arguments: &[&str]) -> io::Result<Server> {
    let mut command = process::command(&process::tcplab()?, Side::Server);
    command.args(["server", "--json", "--workers", "1", "--drain-timeout", "1 s"]).args(arguments);
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().expect("it was asked for"));
    output.read_line(&mut line)?;
    let running = Running(child);
    let begun: Value = serde_json::from_str(&line)?;
    let address = begun["listening"].as_str().and_then(|text| text.parse().ok());
    let address = address.ok_or_else(|| io::Error::other("it does not say where it listens"))?;
    Ok(Server { running, address, _output: Some(output) })
}

/// Starts nginx as a single process, without a log, and with connections that stay.
fn nginx(site: &Site) -> io::Result<Server> {
    let program = process::found("nginx").ok_or_else(|| io::Error::other("it is not installed"))?;
    // A port that was free a moment ago.
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let folder = site.path();
    let place = folder.display();
    let configuration = format!(
        "daemon off; master_process off; worker_processes 1; pid {place}/nginx.pid;\n\
         error_log {place}/nginx.log crit; worker_rlimit_nofile 16000;\n\
         events {{ worker_connections 12000; }}\n\
         http {{\n\
           access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;\n\
           open_file_cache max=100; open_file_cache_valid 1s; types {{ text/html html; }}\n\
           client_body_temp_path {place}/1; proxy_temp_path {place}/2;\n\
           fastcgi_temp_path {place}/3; uwsgi_temp_path {place}/4; scgi_temp_path {place}/5;\n\
           server {{ listen {address} backlog=4096; root {place}/site; }}\n\
         }}\n"
    );
    let file = folder.join("nginx.conf");
    fs::write(&file, configuration)?;
    let mut command = process::command(&program, Side::Server);
    command.arg("-c").arg(&file).arg("-p").arg(folder);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let running = Running(child);
    let begin = Instant::now();
    while TcpStream::connect(address).is_err() {
        if begin.elapsed() > Duration::from_secs(5) {
            return Err(io::Error::other("it does not come up"));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(Server { running, address, _output: None })
}

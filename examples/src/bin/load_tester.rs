//! Example 8: how long a server takes, when so many ask at once.
//!
//! It teaches: what there is to measure of a request: until the connection stands, until the first
//! byte of the answer, until the last; that a mean hides the slowest. It is what a small `ab` does,
//! with its flaw: each of the clients asks again only when it was answered, so that a server that
//! stalls is asked less, and the stall is counted once for each client, not for everybody who would
//! have come meanwhile. `tcplab load` shows the difference.
//!
//! `load_tester ADDRESS:PORT [--requests N] [--clients N]`
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use tcplab_examples::{argument, option};

/// One request.
struct Took {
    connect: Duration,
    first_byte: Duration,
    whole: Duration,
    bytes: usize,
}

/// One of its times.
type Column = fn(&Took) -> Duration;

fn main() -> io::Result<()> {
    let server = argument(0, "the server's address and port")?;
    let requests: usize = option("--requests")?.unwrap_or(100);
    let clients = option("--clients")?.unwrap_or(4).clamp(1, requests.max(1));
    let begun = Instant::now();
    let workers: Vec<_> = (0..clients)
        .map(|client| {
            let server = server.clone();
            let own = requests / clients + usize::from(client < requests % clients);
            thread::spawn(move || (0..own).map(|_| request(&server)).collect::<Vec<_>>())
        })
        .collect();
    let all = workers.into_iter().flat_map(|worker| worker.join().expect("it does not panic"));
    let (mut took, mut failed) = (Vec::new(), Vec::new());
    for result in all {
        match result {
            Ok(one) => took.push(one),
            Err(error) => failed.push(error),
        }
    }
    let lasted = begun.elapsed().as_secs_f64();
    println!("{} of {requests} requests answered in {lasted:.3} s", took.len());
    if let Some(error) = failed.first() {
        println!("{} failed, the first: {error}", failed.len());
    }
    let columns: [(&str, Column); 3] = [
        ("time to connect", |took| took.connect),
        ("latency", |took| took.first_byte),
        ("response time", |took| took.whole),
    ];
    println!("{:16} {:>10} {:>10} {:>10}", "milliseconds", "mean", "median", "most");
    for (name, column) in columns {
        let mut each: Vec<f64> = took.iter().map(|t| column(t).as_secs_f64() * 1e3).collect();
        each.sort_by(f64::total_cmp);
        let Some(most) = each.last() else { continue };
        let mean = each.iter().sum::<f64>() / each.len() as f64;
        println!("{name:16} {mean:10.3} {:10.3} {most:10.3}", each[each.len() / 2]);
    }
    let bytes: usize = took.iter().map(|took| took.bytes).sum();
    println!("data rate        {:10.3} Mbit/s", bytes as f64 * 8.0 / lasted / 1e6);
    Ok(())
}

/// Asks for the page, over a connection of its own.
fn request(server: &str) -> io::Result<Took> {
    let begun = Instant::now();
    let mut stream = TcpStream::connect(server)?;
    let connect = begun.elapsed();
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n")?;
    let mut answer = vec![0; 1];
    stream.read_exact(&mut answer)?;
    let first_byte = begun.elapsed();
    stream.read_to_end(&mut answer)?;
    let whole = begun.elapsed();
    if !answer.starts_with(b"HTTP/1.") {
        return Err(io::Error::other("that is no answer of HTTP"));
    }
    Ok(Took { connect, first_byte, whole, bytes: answer.len() })
}

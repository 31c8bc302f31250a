//! The `tcplab` binary.

mod advise;
mod annotations;
mod arguments;
mod bisect;
mod bridge;
mod clean;
mod cluster;
mod compare;
mod control;
mod doctor;
mod exit;
mod export;
mod fidelity;
mod kernel;
mod live;
mod load;
mod metrics;
mod mistaken;
mod output;
mod packetdrill;
mod path_choice;
mod paths;
mod picture;
mod print_error;
mod progress;
mod remedied;
mod replay;
mod report;
mod rfc6349;
mod run;
mod run_scenario;
mod run_summary;
mod scenarios;
mod series;
mod server;
mod shell;
mod signals;
mod sockopts;
mod states;
mod tc;
mod trace;
mod traffic;
mod traffic_page;
mod ui;
mod unfinished;
mod verify;
mod virtual_shell;

use std::process::ExitCode;
use std::sync::Arc;

use arguments::Command;
use signal_hook::consts::SIGXFSZ;

fn main() -> ExitCode {
    // With any handler, writing past `ulimit -f` returns an error instead of killing the process
    // (setrlimit(2)).
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    let command = match arguments::parse() {
        Ok(command) => command,
        Err(said) => return print_error::print_usage(&said),
    };
    let result = match command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Scenarios(arguments) => scenarios::scenarios(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Clean(arguments) => clean::clean(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Trace(arguments) => trace::trace(&arguments),
        Command::Sweep(arguments) => cluster::in_python(&arguments.cluster),
        Command::Archive(arguments) => cluster::in_python(&arguments.cluster),
        Command::States(arguments) => states::states(&arguments),
        Command::Shell(arguments) => shell::shell(&arguments),
        Command::Bridge(arguments) => bridge::bridge(arguments),
        Command::Path(arguments) => paths::path(&arguments),
        Command::Export(arguments) => export::export(&arguments),
        Command::Replay(arguments) => replay::replay(&arguments),
        Command::Packetdrill(arguments) => packetdrill::packetdrill(&arguments),
        Command::Fidelity(arguments) => fidelity::fidelity(&arguments),
        Command::Server(arguments) => server::server(&arguments),
        Command::Load(arguments) => load::load(&arguments),
        Command::Bisect(arguments) => bisect::bisect(&arguments),
        Command::Kernel(arguments) => kernel::kernel(&arguments),
        Command::Ui(arguments) => ui::ui(&arguments),
        Command::Doctor(arguments) => doctor::doctor(&arguments),
        Command::Sockopts(arguments) => sockopts::sockopts(&arguments),
        Command::Advise(arguments) => advise::advise(&arguments),
        Command::Rfc6349(arguments) => rfc6349::rfc6349(&arguments),
        Command::Metrics(arguments) => metrics::metrics(&arguments),
        Command::World { arguments } => return tcplab_testbed::serve(&arguments),
    };
    let code = result.unwrap_or_else(|error| print_error::print_error(&error));
    signals::exit_code().unwrap_or(code)
}

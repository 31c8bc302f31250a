//! The `tcplab` binary.
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, unused_imports, reason = "what serves commands for Linux alone")
)]

mod advise;
mod annotations;
mod arguments;
#[cfg(target_os = "linux")]
mod bench;
#[cfg(target_os = "linux")]
mod bisect;
#[cfg(target_os = "linux")]
mod bridge;
mod clean;
mod cluster;
mod compare;
mod completions;
mod control;
mod converter;
#[cfg(target_os = "linux")]
mod doctor;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod exit;
#[cfg(target_os = "linux")]
mod expectations;
mod export;
mod fidelity;
mod figure;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod latency;
mod live;
#[cfg(target_os = "linux")]
mod load;
mod man;
mod metrics;
mod mistaken;
mod output;
mod packetdrill;
mod packets_gone;
#[cfg(target_os = "linux")]
mod passing;
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
#[cfg(target_os = "linux")]
mod server;
#[cfg(target_os = "linux")]
mod shell;
mod signals;
#[cfg(target_os = "linux")]
mod sockopts;
mod states;
mod tc;
mod trace;
#[cfg(target_os = "linux")]
mod traffic;
#[cfg(target_os = "linux")]
mod traffic_page;
mod ui;
mod unfinished;
mod verify;
#[cfg(target_os = "linux")]
mod virtual_shell;
mod work;

use std::process::ExitCode;

use arguments::Command;

/// musl's own allocator is slow, with several threads above all.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    signals::survive_full_files();
    let command = match arguments::parse() {
        Ok(command) => command,
        Err(said) => return print_error::print_usage(&said),
    };
    let result = match command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Scenarios(arguments) => scenarios::scenarios(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Plot(arguments) => figure::plot(&arguments),
        Command::Clean(arguments) => clean::clean(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Trace(arguments) => trace::trace(&arguments),
        Command::Sweep(arguments) => cluster::in_python(&arguments.cluster),
        Command::Archive(arguments) => cluster::in_python(&arguments.cluster),
        Command::States(arguments) => states::states(&arguments),
        #[cfg(target_os = "linux")]
        Command::Shell(arguments) => shell::shell(&arguments),
        #[cfg(target_os = "linux")]
        Command::Bench(arguments) => bench::bench(&arguments),
        #[cfg(target_os = "linux")]
        Command::Bridge(arguments) => bridge::bridge(arguments),
        Command::Path(arguments) => paths::path(&arguments),
        Command::Export(arguments) => export::export(&arguments),
        Command::Replay(arguments) => replay::replay(&arguments),
        Command::Packetdrill(arguments) => packetdrill::packetdrill(&arguments),
        Command::Fidelity(arguments) => fidelity::fidelity(&arguments),
        #[cfg(target_os = "linux")]
        Command::Server(arguments) => server::server(&arguments),
        #[cfg(target_os = "linux")]
        Command::Load(arguments) => load::load(&arguments),
        #[cfg(target_os = "linux")]
        Command::Latency(arguments) => latency::latency(&arguments),
        #[cfg(target_os = "linux")]
        Command::Bisect(arguments) => bisect::bisect(&arguments),
        #[cfg(target_os = "linux")]
        Command::Kernel(arguments) => kernel::kernel(&arguments),
        Command::Ui(arguments) => ui::ui(&arguments),
        #[cfg(target_os = "linux")]
        Command::Doctor(arguments) => doctor::doctor(&arguments),
        #[cfg(target_os = "linux")]
        Command::Sockopts(arguments) => sockopts::sockopts(&arguments),
        Command::Advise(arguments) => advise::advise(&arguments),
        Command::Rfc6349(arguments) => rfc6349::rfc6349(&arguments),
        Command::Metrics(arguments) => metrics::metrics(&arguments),
        Command::Completions(arguments) => completions::completions(&arguments),
        Command::Man(arguments) => man::man(&arguments),
        #[cfg(target_os = "linux")]
        Command::World { arguments } => return tcplab_testbed::serve(&arguments),
        #[cfg(not(target_os = "linux"))]
        command => elsewhere::refuse(&command),
    };
    let code = result.unwrap_or_else(|error| print_error::print_error(&error));
    signals::exit_code().unwrap_or(code)
}

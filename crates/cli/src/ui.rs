//! `tcplab ui`.

use std::env;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use tcplab_ui::Config;

use crate::arguments::UiArguments;
use crate::output::{answer, print_note};
use crate::signals::stop_on_signals;

pub(crate) fn ui(arguments: &UiArguments) -> Result<ExitCode> {
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let program = env::current_exe().context("cannot find the path of the tcplab program")?;
    let config = Config {
        listen: arguments.listen,
        names: arguments.name.clone(),
        without_encryption: arguments.without_encryption,
        runs: arguments.runs.clone(),
        program,
        token_file: token_file(),
    };
    let ready = |link: &str| {
        // Who cannot read it has no page, but those who have it open do.
        let _ = answer(&format!("{link}\n"));
        print_note("open the link; Ctrl-C ends the server and what it runs");
        if !arguments.no_browser {
            open_browser(link);
        }
    };
    tcplab_ui::serve(config, ready, &stop)?;
    Ok(ExitCode::SUCCESS)
}

/// Where the user's token is kept.
pub(crate) fn token_file() -> Option<PathBuf> {
    tcplab_kernels::user_cache().map(|cache| cache.join("ui-token"))
}

/// Opens the link where there is a screen. It is no error where there is none.
pub(crate) fn open_browser(link: &str) {
    if ["DISPLAY", "WAYLAND_DISPLAY"].iter().all(|name| env::var_os(name).is_none()) {
        return;
    }
    // A browser that this starts stays when tcplab ends: it is no child of this process.
    let mut command = Command::new("sh");
    command.args(["-c", "xdg-open \"$1\" &", "sh", link]);
    let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

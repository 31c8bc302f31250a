//! `tcplab bridge`.

use std::process::ExitCode;

use anyhow::Result;
use tcplab_testbed::{BridgeEnd, BridgeRequest, DeviceKind};
use tcplab_units::Span;

use crate::arguments::{BridgeArguments, PathChoice};
use crate::exit::of_signal;
use crate::output::print_note;
use crate::path_choice;
use crate::remedied::Remedied;
use crate::shell::moving;
use crate::traffic::{self, Codes, Display};
use crate::traffic_page::TrafficPage;

pub(crate) fn bridge(arguments: BridgeArguments) -> Result<ExitCode> {
    let BridgeArguments { path, first, second, set, duration, using } = arguments;
    traffic::check_places(&using)?;
    let choice = PathChoice { path, set };
    let mut request = BridgeRequest {
        moving: moving(&choice, &using, Some(DeviceKind::PacketSocket))?,
        interfaces: [first, second],
        lasting: duration.map(Span::to_std),
    };
    let page = using.ui.map(|mode| {
        let name = path_choice::description(&choice);
        TrafficPage::prepare(mode, &mut request.moving, &name, request.interfaces.clone())
    });
    let page = page.transpose()?;
    let mut display = Display::new(&using)?;
    let warn = |text: &str| print_note(&format!("tcplab: warning: {text}"));
    let beside = || page.map(TrafficPage::begin);
    let ended = tcplab_testbed::bridge(&request, beside, warn, |traffic| display.show(traffic));
    display.end();
    let [first, second] = &request.interfaces;
    let BridgeEnd { summary, signal, gone } = ended?;
    traffic::finish(&using, [first, second], &summary, Codes::default(), &[])?;
    if let Some(name) = gone {
        let said = format!("{name} is gone (removed, or moved to another network namespace)");
        return Err(Remedied::error(said, "make it again, then start the bridge again"));
    }
    Ok(signal.map_or(ExitCode::SUCCESS, |signal| ExitCode::from(of_signal(signal))))
}

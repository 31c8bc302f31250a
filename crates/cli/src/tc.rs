//! `tcplab path tc`.

use std::fmt::Write;

use anyhow::{Result, anyhow, bail};
use serde_json::json;
use tcplab_path::PathError;
use tcplab_path::tc::{Interfaces, TcPlan, TcScript};
use tcplab_quantities::TC_DOCUMENT;

use crate::arguments::{PathChoice, TcArguments};
use crate::output::answer_or_json;
use crate::path_choice;

pub(crate) fn tc(arguments: &TcArguments) -> Result<()> {
    let TcArguments { choice, client_side, server_side, undo, json } = arguments;
    if client_side == server_side {
        bail!(
            "both sides are {client_side}: name two interfaces of a box between client and server"
        );
    }
    // Whoever the path is meant for: here it is tc, and what that cannot do is told below, in full.
    let mut set = choice.set.clone();
    set.push("backend=tcplab".into());
    let path = path_choice::find(&PathChoice { path: choice.path.clone(), set })?.path;
    let plan = path.tc().map_err(|refused| refusal(&path_choice::description(choice), &refused))?;
    let interfaces = Interfaces { client: client_side.clone(), server: server_side.clone() };
    let script = plan.script(&interfaces);
    let shown = json!({
        "path": path,
        "interfaces": interfaces,
        "notes": plan.notes(),
        "segments": segments(&interfaces),
        "setup": script.setup,
        "undo": script.undo,
    });
    answer_or_json(&TC_DOCUMENT, json, &shown, || {
        let path = path_choice::description(choice);
        if *undo {
            removal(&path, &interfaces, &script)
        } else {
            setup(&path, &interfaces, &plan, &script)
        }
    })
}

/// Everything that tc cannot do the same, a line each.
fn refusal(path: &str, refused: &[PathError]) -> anyhow::Error {
    let mut text = format!("the kernel's qdiscs cannot do the path {path}:");
    for error in refused {
        let _ = write!(text, "\n  {}: {error}", error.key);
    }
    anyhow!(text)
}

/// What lets each qdisc see segments as they are on a wire.
fn segments(interfaces: &Interfaces) -> Vec<String> {
    [&interfaces.client, &interfaces.server]
        .map(|name| format!("ethtool -K {name} gro off lro off tso off gso off"))
        .into()
}

fn setup(path: &str, interfaces: &Interfaces, plan: &TcPlan, script: &TcScript) -> String {
    let Interfaces { client, server } = interfaces;
    let mut text = format!(
        "#!/bin/sh -e\n\
         # The path {path}, on a box that forwards packets between\n\
         # {client}, where the client is, and {server}, where the server is. As root.\n"
    );
    for note in plan.notes() {
        let _ = writeln!(text, "# Different: {}: {}.", note.key, note.what);
    }
    text += "# Segments must come one by one: put together, they are judged as one packet. What is\n\
             # on this box itself (virtual machines, containers) must not send them together either.\n";
    for line in segments(interfaces) {
        text += &(line + "\n");
    }
    text + &script.setup_shell()
}

fn removal(path: &str, interfaces: &Interfaces, script: &TcScript) -> String {
    let Interfaces { client, server } = interfaces;
    format!(
        "#!/bin/sh\n\
         # Takes the path {path} away from {client} and {server}. What ethtool changed stays:\n\
         # `ethtool -K {client} gro on tso on gso on` gives it back, and so for {server}.\n{}",
        script.undo_shell()
    )
}

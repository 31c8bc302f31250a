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
            "both sides are {client_side}: pass two interfaces of a router between client and server"
        );
    }
    // The refusal below lists everything that tc cannot do.
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

/// Lists everything that tc cannot do.
fn refusal(path: &str, refused: &[PathError]) -> anyhow::Error {
    let mut text = format!(
        "the kernel's queueing disciplines cannot emulate the path {path}; change these keys:"
    );
    for error in refused {
        let _ = write!(text, "\n  {}: {error}", error.key);
    }
    anyhow!(text)
}

/// Turns off offloads, so that each qdisc sees single segments.
fn segments(interfaces: &Interfaces) -> Vec<String> {
    [&interfaces.client, &interfaces.server]
        .map(|name| format!("ethtool -K {name} gro off lro off tso off gso off"))
        .into()
}

fn setup(path: &str, interfaces: &Interfaces, plan: &TcPlan, script: &TcScript) -> String {
    let Interfaces { client, server } = interfaces;
    let mut text = format!(
        "#!/bin/sh -e\n\
         # The path {path}, on a router between {client} (client side)\n\
         # and {server} (server side). Run as root.\n"
    );
    for note in plan.notes() {
        let _ = writeln!(text, "# Difference: {}: {}.", note.key, note.what);
    }
    text += "# Turn off offloads: qdiscs treat an aggregate as one packet. Also turn off TSO/GSO in virtual\n\
             # machines and containers on this router.\n";
    for line in segments(interfaces) {
        text += &(line + "\n");
    }
    text + &script.setup_shell()
}

fn removal(path: &str, interfaces: &Interfaces, script: &TcScript) -> String {
    let Interfaces { client, server } = interfaces;
    format!(
        "#!/bin/sh\n\
         # Removes the path {path} from {client} and {server}. To restore offloads:\n\
         # `ethtool -K {client} gro on tso on gso on`, and the same for {server}.\n{}",
        script.undo_shell()
    )
}

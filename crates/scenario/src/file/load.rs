//! Checks of a scenario whose workload is a load.

use crate::case::{EndpointSpec, Stack};
use crate::problem::Problem;

/// Refuses settings that a load cannot have.
pub(crate) fn check_end(name: &str, end: &EndpointSpec) -> Result<(), (String, Problem)> {
    let refused = |key: String, why: &str| Err((key, Problem::Value(why.into())));
    if let Stack::Model(_) = end.stack {
        return refused(
            format!("{name}.stack"),
            "a load needs the kernel's processes and threads: write `stack = \"linux\"`",
        );
    }
    let why = "the server design opens the sockets of a load: set `sysctl` for all of them, such \
               as \"net.ipv4.tcp_wmem\"";
    let has_backlog = end.socket.backlog().is_some();
    if name == "client" && !end.socket.is_empty() || end.socket.len() > usize::from(has_backlog) {
        return refused(format!("{name}.socket"), why);
    }
    if !end.accepted.is_empty() {
        return refused(format!("{name}.accepted"), why);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    #[test]
    fn impossible_setting_of_load_is_refused() {
        for (ends, why) in [
            ("[server]\nsocket = { backlog = 16 }\n", None),
            ("[server]\nsysctl = { \"net.core.somaxconn\" = \"64\" }\n", None),
            ("[client]\nstack = \"model:linux-6.18\"\n", Some("the kernel's processes")),
            ("[client]\nsocket = { nodelay = true }\n", Some("the server design opens")),
            (
                "[server]\nsocket = { backlog = 16, rcvbuf = \"8 KiB\" }\n",
                Some("the server design opens"),
            ),
            ("[server]\naccepted = { nodelay = true }\n", Some("the server design opens")),
        ] {
            let load = "[workload]\nload = { design = \"epoll\" }\n";
            let source = format!("title = \"t\"\n[path]\n{ends}{load}");
            let error = Scenario::parse(&source, "t").err().map(|it| it.to_string());
            let is_right = match (&error, why) {
                (Some(error), Some(why)) => error.contains(why),
                (error, why) => error.is_none() && why.is_none(),
            };
            assert!(is_right, "{ends}: {error:?}");
        }
    }
}

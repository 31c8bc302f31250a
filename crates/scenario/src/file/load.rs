//! What a scenario whose workload is a load cannot have.

use crate::case::{EndpointSpec, Stack};
use crate::problem::Problem;

/// Refuses what an end under load does not do.
pub(crate) fn check_end(name: &str, end: &EndpointSpec) -> Result<(), (String, Problem)> {
    let refused = |key: String, why: &str| Err((key, Problem::Value(why.into())));
    if let Stack::Model(_) = end.stack {
        return refused(
            format!("{name}.stack"),
            "a server under load is processes and threads of the kernel: a model has none",
        );
    }
    let why = "the sockets of a load are opened as its server's design has it: set what is to hold \
               for all of them as `sysctl`, such as \"net.ipv4.tcp_wmem\"";
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
    fn what_a_load_does_not_do_is_refused() {
        for (ends, why) in [
            ("[server]\nsocket = { backlog = 16 }\n", None),
            ("[server]\nsysctl = { \"net.core.somaxconn\" = \"64\" }\n", None),
            ("[client]\nstack = \"model:linux-6.18\"\n", Some("a model has none")),
            ("[client]\nsocket = { nodelay = true }\n", Some("as its server's design has it")),
            (
                "[server]\nsocket = { backlog = 16, rcvbuf = \"8 KiB\" }\n",
                Some("as its server's design has it"),
            ),
            ("[server]\naccepted = { nodelay = true }\n", Some("as its server's design has it")),
        ] {
            let load = "[workload]\nload = { design = \"epoll\" }\n";
            let source = format!("title = \"t\"\n[path]\n{ends}{load}");
            let told = Scenario::parse(&source, "t").err().map(|error| error.to_string());
            let is_right = match (&told, why) {
                (Some(told), Some(why)) => told.contains(why),
                (told, why) => told.is_none() && why.is_none(),
            };
            assert!(is_right, "{ends}: {told:?}");
        }
    }
}

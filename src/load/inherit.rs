//! Servers that a policy names only to change something of them.

use super::Layer;
use crate::model::policy::Server;

/// Fills in what a server that says neither `command` nor `url` leaves out, from the nearest policy before it that
/// declares the same server.
pub(super) fn servers(layers: &mut [Layer]) {
    for at in 1..layers.len() {
        let (before, rest) = layers.split_at_mut(at);
        let Some(own) = rest.first_mut().and_then(|layer| layer.policy.servers.as_mut()) else { continue };
        for (name, server) in own.iter_mut().filter(|(_, server)| server.command.is_none() && server.url.is_none()) {
            let declared = before.iter().rev().find_map(|layer| layer.policy.servers.as_ref()?.get(name));
            if let Some(declared) = declared {
                fill(server, declared);
            }
        }
    }
}

fn fill(own: &mut Server, declared: &Server) {
    let written = std::mem::replace(own, declared.clone());
    if !written.args.is_empty() {
        own.args = written.args;
    }
    own.env.extend(written.env);
    own.headers.extend(written.headers);
    own.tools.extend(written.tools);
    own.not_secret.extend(written.not_secret);
    own.risk = written.risk.or(own.risk.take());
    own.timeout = written.timeout.or(own.timeout.take());
    own.enabled = written.enabled.or(own.enabled.take());
    own.via = written.via.or(own.via.take());
}

#[cfg(test)]
mod tests {
    use crate::diag::Sink;
    use crate::model::policy::Server;
    use crate::system::memory::Memory;

    fn server(own: &str) -> Server {
        let base = "servers:\n  one:\n    command: run\n    args: [a, b]\n    via: gateway\n    tools: { x: { confers: [docs.search] }, y: { confers: [docs.search] } }\n";
        let system = Memory::new()
            .with("base/policy.yaml", base)
            .with("shared-agent-rules/policy.yaml", format!("extends: [base]\nservers:\n  one: {own}\n"));
        let loaded = crate::load::load(&system, Some("shared-agent-rules"), &mut Sink::default());
        loaded.layers.last().unwrap().policy.servers.as_ref().unwrap()["one"].clone()
    }

    #[test]
    fn what_is_not_written_is_kept_and_what_is_written_replaces_its_own_part() {
        let changed = server("{ args: [c], tools: { y: { confers: [memory.read] }, z: { confers: [memory.read] } } }");
        let args: Vec<&str> = changed.args.iter().map(|arg| arg.as_str()).collect();
        assert_eq!((changed.command.as_ref().map(|c| c.as_str()), args), (Some("run"), vec!["c"]));
        let tools: Vec<(&str, &str)> =
            changed.tools.iter().map(|(name, tool)| (name.as_str(), tool.confers[0].as_str())).collect();
        assert_eq!(tools, [("x", "docs.search"), ("y", "memory.read"), ("z", "memory.read")]);
        assert!(changed.via.is_some());
    }

    #[test]
    fn a_server_that_says_how_it_is_reached_is_a_declaration_of_its_own() {
        let own = server("{ command: other }");
        assert!(own.args.is_empty() && own.tools.is_empty() && own.via.is_none());
    }
}

//! The ledger of servers: what an agent of the session has of each, and what asks a person first.

use crate::model::adapter::{Adapter, Mcp, Verdict};
use crate::model::scalar::{EvidenceKind, Guarantee};
use crate::plan::ledger::{LimitedBy, Line, State, Subject};
use crate::resolve::Route;
use crate::resolve::gateway;
use crate::resolve::policy::{Policy, Server};

use super::{ServerOnHost, ServersPlan, ToolOnHost, approval};

/// Stands for every tool of a server that the policy does not name.
pub const UNNAMED: &str = "*";

/// One line for each tool that the policy names, and one for all others of each server.
pub fn lines(adapter: &Adapter, policy: &Policy, plan: Option<&ServersPlan>) -> Vec<Line> {
    let mut lines = Vec::new();
    let found = |name: &str| plan.and_then(|p| p.servers.iter().find(|s| s.server == name).map(|s| (p, s)));
    for server in policy.servers.values() {
        match (adapter.mcp.as_ref(), found(&server.name), policy.route_of(&adapter.id, &server.name)) {
            (Some(mcp), Some((plan, own)), _) => lines.extend(of(adapter, mcp, plan, own)),
            (Some(_), None, route) if plan.is_some() && policy.behind(server, std::slice::from_ref(&adapter.id)) => {
                lines.push(behind(adapter, server, route));
            }
            _ => lines.push(nowhere(adapter, server)),
        }
    }
    let gateways = policy.on.get(&adapter.id).into_iter().flat_map(|on| &on.gateways);
    match (adapter.mcp.as_ref(), plan) {
        (Some(mcp), Some(plan)) => {
            for own in gateways.filter_map(|gateway| plan.servers.iter().find(|s| s.server == gateway.name)) {
                lines.extend(of(adapter, mcp, plan, own));
            }
        }
        _ => lines.extend(gateways.map(|gateway| nowhere(adapter, gateway))),
    }
    lines
}

fn base(adapter: &Adapter, server: &str, tool: &str, state: State, reason: String) -> Line {
    let evidence = &adapter.evidence;
    Line {
        host: adapter.id.clone(),
        subject: Subject::Server { server: server.to_owned(), tool: tool.to_owned() },
        state,
        limited_by: None,
        guarantee: None,
        evidence: evidence.by,
        version: evidence.version.clone(),
        date: evidence.date.clone(),
        conditions: adapter.mcp.iter().flat_map(|m| m.conditions.clone()).collect(),
        reason,
        lowered: None,
        measured: Vec::new(),
    }
}

fn nowhere(adapter: &Adapter, server: &Server) -> Line {
    let reason = if server.given() { "servers are not written for this host" } else { "no host is given the server" };
    let mut line = base(adapter, &server.name, UNNAMED, State::Unreachable, reason.to_owned());
    line.conditions.clear();
    line
}

/// A server that the host does not know: its tools are had through the gateway, and the others by nobody.
fn behind(adapter: &Adapter, server: &Server, route: Option<&Route>) -> Line {
    let mut reason =
        "the host is not given the server itself: the gateway shows what the policy makes or names of it, and refuses the rest"
            .to_owned();
    if let Some(route) = route.filter(|route| route.auto) {
        reason = format!("{reason}; chosen because {}", route.why);
    }
    let mut line = base(adapter, &server.name, UNNAMED, State::Denied, reason);
    line.limited_by = Some(LimitedBy::Absence);
    guarded(&mut line);
    line.conditions.clear();
    line
}

/// The gateway itself holds it, which is known from its own source: on the host it was not run.
fn guarded(line: &mut Line) {
    line.guarantee = Some(Guarantee::Guarded);
    line.evidence = line.evidence.min(EvidenceKind::Source);
}

fn of(adapter: &Adapter, mcp: &Mcp, plan: &ServersPlan, server: &ServerOnHost) -> Vec<Line> {
    let mut lines: Vec<Line> = server.tools.iter().map(|tool| named(adapter, mcp, plan, server, tool)).collect();
    lines.push(unnamed(adapter, mcp, plan, server));
    lines
}

fn named(adapter: &Adapter, mcp: &Mcp, plan: &ServersPlan, server: &ServerOnHost, tool: &ToolOnHost) -> Line {
    let mut reason = format!("`{}`, {}; in `{}`", tool.seen, tool.risk.word(), plan.file);
    if tool.counts != tool.risk {
        reason = format!("{reason}; counts as {} there, as all of its server", tool.counts.word());
    }
    let mut line = base(adapter, &server.server, &tool.tool, State::Granted, reason);
    let Some(approval) = approval(mcp, tool.counts) else {
        line.limited_by = Some(LimitedBy::Approval);
        line.guarantee = Some(Guarantee::Advised);
        line.reason.push_str("; whether a person is asked first is up to the host");
        return line;
    };
    line.evidence = approval.evidence.unwrap_or(line.evidence);
    for condition in &approval.conditions {
        if !line.conditions.contains(condition) {
            line.conditions.push(condition.clone());
        }
    }
    match approval.verdict {
        Verdict::Allow => line.reason.push_str("; runs without asking"),
        Verdict::Ask => {
            line.limited_by = Some(LimitedBy::Approval);
            line.reason.push_str("; a person is asked first");
        }
        Verdict::Deny => {
            line.state = State::Denied;
            line.limited_by = Some(LimitedBy::Approval);
            line.reason.push_str("; refused");
        }
    }
    if approval.verdict != Verdict::Allow {
        line.guarantee = Some(approval.guarantee.unwrap_or(Guarantee::Advised));
    }
    if let Some(hole) = &approval.hole {
        line.reason = format!("{}; {hole}", line.reason);
    }
    line
}

fn unnamed(adapter: &Adapter, mcp: &Mcp, plan: &ServersPlan, server: &ServerOnHost) -> Line {
    let reason = "tools of the server that the policy does not name";
    let mut line = base(adapter, &server.server, UNNAMED, State::Denied, reason.to_owned());
    let stronger = mcp.unnamed.as_ref().is_some_and(|claim| claim.guarantee > Guarantee::Guarded);
    if gateway::is(&server.server) && !stronger {
        line.limited_by = Some(LimitedBy::Absence);
        guarded(&mut line);
        line.reason =
            "the gateway has no others, but `read_artifact`, which gives back what a call of it kept".to_owned();
        return line;
    }
    match &mcp.unnamed {
        Some(claim) => {
            line.guarantee = Some(claim.guarantee);
            line.evidence = claim.evidence.unwrap_or(line.evidence);
            let asked = claim.guarantee == Guarantee::Prompted;
            line.limited_by = Some(if asked { LimitedBy::Approval } else { LimitedBy::Absence });
            for condition in &claim.conditions {
                if !line.conditions.contains(condition) {
                    line.conditions.push(condition.clone());
                }
            }
            if !asked {
                line.reason = format!("{reason} are left out in `{}`", plan.file);
            }
            if let Some(hole) = &claim.hole {
                line.reason = format!("{}; {hole}", line.reason);
            }
        }
        None => {
            line.guarantee = Some(Guarantee::Advised);
            line.reason = format!("{reason} stay within reach; only a gateway in between could leave them out");
        }
    }
    line
}

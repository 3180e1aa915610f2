//! `explain ROLE`: what a role can and cannot do on each host, and on what that rests.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::model::adapter::{Adapter, Form, Sense};
use crate::plan::RoleOnHost;
use crate::plan::ledger::{LimitedBy, Line, State};
use crate::plan::measured::Measured;
use crate::plan::offer::{self, Origin, Tool};
use crate::plan::role::RolePlan;
use crate::resolve::policy::{Policy, Role};

use super::claims::{self, Demand, Group};
use super::conditions;
use super::layout::Table;
use super::view::{self, Shown, View, ticked};

/// One form of the role with its ledger lines.
struct Shape<'a> {
    name: &'a str,
    form: &'a Form,
    plan: &'a RolePlan,
    lines: Vec<&'a Line>,
}

/// The page of a role.
pub fn human(view: &View<'_>, role: &Role) -> String {
    let mut out = format!("{}\n{}\n", role.id, role.description);
    for host in &view.hosts {
        let Some(on_host) = host.plan.roles.iter().find(|r| r.role == role.id) else { continue };
        for alike in alike(shapes(view, *host, on_host)) {
            out.push('\n');
            out.push_str(&shape(view, *host, role, on_host, &alike));
        }
    }
    out
}

fn shapes<'a>(view: &View<'a>, host: Shown<'a>, on_host: &'a RoleOnHost) -> Vec<Shape<'a>> {
    let shape = |plan: &'a RolePlan| {
        let form = host.adapter.forms.get(&plan.form)?;
        let lines = claims::lines(view, &host.plan.host, &plan.role, &plan.form);
        Some(Shape { name: &plan.form, form, plan, lines })
    };
    on_host.forms.iter().filter_map(shape).collect()
}

/// Forms of which everything is the same stand together.
fn alike(shapes: Vec<Shape<'_>>) -> Vec<Vec<Shape<'_>>> {
    let mut all: Vec<Vec<Shape<'_>>> = Vec::new();
    for shape in shapes {
        let equal = |other: &Shape<'_>| {
            other.plan.tools == shape.plan.tools
                && other.plan.list == shape.plan.list
                && other.plan.removed == shape.plan.removed
                && other.form.residue == shape.form.residue
                && other.lines.len() == shape.lines.len()
                && other.lines.iter().zip(&shape.lines).all(|(a, b)| claims::same(a, b))
        };
        match all.iter_mut().find(|group| group.first().is_some_and(equal)) {
            Some(group) => group.push(shape),
            None => all.push(vec![shape]),
        }
    }
    all
}

fn shape(view: &View<'_>, host: Shown<'_>, role: &Role, on_host: &RoleOnHost, alike: &[Shape<'_>]) -> String {
    let Some(first) = alike.first() else { return String::new() };
    let titles: Vec<&str> = alike.iter().map(|s| s.form.title.as_str()).collect();
    let mut out = format!("{} ({}), {}\n", host.adapter.title, host.plan.host, titles.join(" and "));
    out.push_str(&facts(view, host, on_host, alike).print(2, &[10]));
    let groups = claims::groups(view.policy, host.adapter, role, first.plan, &first.lines);
    for (state, heading) in
        [(State::Granted, "can"), (State::Denied, "cannot, or must not"), (State::Unreachable, "granted, out of reach")]
    {
        let mut table = Table::default();
        for group in groups.iter().filter(|g| g.line.state == state) {
            table.row([view.caps(group.caps), claim_on(host.adapter, group.line), reason(view.policy, group)]);
        }
        if !table.is_empty() {
            let _ = writeln!(out, "  {heading}");
            out.push_str(&table.print(4, &[36, 20]));
        }
    }
    let named = conditions::named(groups.iter().map(|g| g.line.conditions.as_slice()));
    let mut below = conditions::explain(host.adapter, &named);
    for waiver in role.waive.get(&host.plan.host).into_iter().flatten() {
        below.row(["waived".to_owned(), format!("`{}`: {}", waiver.pattern, waiver.reason)]);
    }
    if !below.is_empty() {
        out.push_str("  where\n");
        out.push_str(&below.print(4, &[30]));
    }
    out
}

/// What is known before any claim: evidence, file, list.
fn facts(view: &View<'_>, host: Shown<'_>, on_host: &RoleOnHost, alike: &[Shape<'_>]) -> Table {
    let mut table = Table::default();
    table.row(["seen on".to_owned(), seen_on(host)]);
    for shape in alike {
        let files = view::files(view, host, on_host, shape.form);
        let paths = ticked(files.iter().map(|a| &a.path));
        let mut text = if paths.is_empty() { "no file".to_owned() } else { paths };
        if let Some(run) = &shape.form.run {
            let _ = write!(text, ", as {} by `{}`", shape.form.title, run.replace("{name}", &on_host.name));
        }
        table.row(["file".to_owned(), text]);
        if started(host, shape.name) {
            let text = format!("`rolecast run {} --host {}`", on_host.role, host.plan.host);
            table.row(["start".to_owned(), text]);
        }
    }
    let Some(Shape { form, plan, .. }) = alike.first() else { return table };
    let list = if denies(host, form) { ("removed", &plan.removed) } else { ("list", &plan.list) };
    let words = if list.1.is_empty() { "nothing".to_owned() } else { ticked(list.1) };
    table.row([list.0.to_owned(), words]);
    if !plan.inform.is_empty() {
        table.row(["also".to_owned(), format!("{}, a list the host is not known to obey", ticked(&plan.inform))]);
    }
    let has: Vec<&str> = plan.tools.iter().filter(|t| !form.residue.contains(&t.name)).map(|t| &*t.name).collect();
    if has != plan.list.iter().map(String::as_str).collect::<Vec<_>>() {
        let text = if has.is_empty() { "no tool".to_owned() } else { ticked(&has) };
        table.row(["tools".to_owned(), text]);
    }
    if !form.residue.is_empty() {
        table.row(["always".to_owned(), format!("{}, whatever the list says", ticked(&form.residue))]);
    }
    table
}

/// Whether `rolecast run` starts this form of the host.
fn started(host: Shown<'_>, form: &str) -> bool {
    host.adapter.forms.iter().find(|(_, f)| f.launch.is_some()).is_some_and(|(name, _)| name == form)
}

/// Whether the list of the form says what goes, not what may.
fn denies(host: Shown<'_>, form: &Form) -> bool {
    offer::list(host.adapter, form).is_some_and(|l| l.sense == Sense::Deny)
}

/// On what the facts about a host were established.
pub fn seen_on(host: Shown<'_>) -> String {
    let evidence = &host.adapter.evidence;
    let package = evidence.package.as_ref().map_or_else(|| host.adapter.title.clone(), Clone::clone);
    format!("{package} {}, {}", evidence.version, evidence.date)
}

/// How hard, by what, on what evidence, under which conditions.
pub fn claim(line: &Line) -> String {
    let mut words: Vec<String> = Vec::new();
    match (line.guarantee, line.limited_by) {
        (Some(guarantee), Some(LimitedBy::Absence)) => words.push(format!("{} absence", guarantee.word())),
        (Some(guarantee), Some(by)) => words.push(format!("{} by {}", guarantee.word(), by.word())),
        (Some(guarantee), None) => words.push(guarantee.word().to_owned()),
        (None, _) if line.state == State::Granted => words.push("no limit".to_owned()),
        (None, _) => words.push("no tool".to_owned()),
    }
    words.push(line.evidence.word().to_owned());
    words.extend(line.conditions.iter().map(|c| format!("if {c}")));
    let measured = |m: &Measured| format!("eval {}/{} ({}, {}, {})", m.held, m.runs, m.scenario, m.model, m.date);
    words.extend(line.measured.iter().map(measured));
    words.join(", ")
}

/// The same, with the version and the day where they are not those of the whole host.
pub fn claim_on(adapter: &Adapter, line: &Line) -> String {
    let mut words = claim(line);
    // A line that was turned down says so itself.
    let other = line.version != adapter.evidence.version || line.date != adapter.evidence.date;
    if other && line.lowered.is_none() {
        let _ = write!(words, ", on {}, {}", line.version, line.date);
    }
    words
}

fn reason(policy: &Policy, group: &Group<'_>) -> String {
    let mut text = match &group.demand {
        Demand::None => String::new(),
        Demand::Held { at_least } => format!("HELD, {} demanded: ", at_least.word()),
        Demand::Waived { at_least } => format!("NOT HELD, {} demanded, waived: ", at_least.word()),
    };
    if let Some(scope) = group.scope(policy) {
        let _ = write!(text, "{scope}; ");
    }
    text.push_str(&group.why());
    text
}

/// The same for programs.
pub fn json(view: &View<'_>, role: &Role) -> Value {
    let mut tools = Vec::new();
    let mut lines: Vec<&Line> = Vec::new();
    let mut denials = Vec::new();
    let mut waivers = Vec::new();
    let mut terms = serde_json::Map::new();
    for host in &view.hosts {
        let Some(on_host) = host.plan.roles.iter().find(|r| r.role == role.id) else { continue };
        for shape in shapes(view, *host, on_host) {
            tools.push(tools_json(view, *host, on_host, &shape));
            denials.extend(shape.lines.iter().filter_map(|line| denial(view, *host, role, shape.name, line)));
            lines.extend(shape.lines);
        }
        for waiver in role.waive.get(&host.plan.host).into_iter().flatten() {
            waivers.push(json!({ "host": host.plan.host, "pattern": waiver.pattern, "reason": waiver.reason }));
        }
        let of_host = lines.iter().filter(|l| l.host == host.plan.host).map(|l| l.conditions.as_slice());
        terms.insert(host.plan.host.clone(), conditions::json(host.adapter, &conditions::named(of_host)));
    }
    json!({
        "role": role.id,
        "description": role.description,
        "source": view.sources().get(role.source).path,
        "grants": grants(view, role),
        "tools": tools,
        "lines": lines,
        "denials": denials,
        "waivers": waivers,
        "conditions": terms,
    })
}

fn grants(view: &View<'_>, role: &Role) -> Value {
    let scopes = role.grants.iter().map(|(cap, scope)| {
        let value = json!({ "paths": scope.paths, "commands": scope.commands, "domains": scope.domains });
        (view.policy.catalogue.name(*cap).to_owned(), value)
    });
    Value::Object(scopes.collect())
}

fn tools_json(view: &View<'_>, host: Shown<'_>, on_host: &RoleOnHost, shape: &Shape<'_>) -> Value {
    let files: Vec<&str> = view::files(view, host, on_host, shape.form).into_iter().map(|a| a.path.as_str()).collect();
    json!({
        "host": host.plan.host,
        "form": shape.name,
        "title": shape.form.title,
        "name": on_host.name,
        "files": files,
        "start": started(host, shape.name).then(|| format!("rolecast run {} --host {}", on_host.role, host.plan.host)),
        "run": shape.form.run.as_ref().map(|r| r.replace("{name}", &on_host.name)),
        "list": shape.plan.list,
        "removed": shape.plan.removed,
        "inform": shape.plan.inform,
        "residue": shape.form.residue,
        "has": shape.plan.tools.iter().map(|t| tool_json(view, t)).collect::<Vec<_>>(),
    })
}

/// A tool for programs.
pub fn tool_json(view: &View<'_>, tool: &Tool) -> Value {
    let all = |set: crate::resolve::CapSet| set.iter().map(|c| view.policy.catalogue.name(c)).collect::<Vec<_>>();
    let server = if let Origin::Mcp { server, .. } = &tool.origin { Some(server) } else { None };
    json!({ "name": tool.name, "server": server, "covers": all(tool.covers), "confers": all(tool.confers) })
}

fn denial(view: &View<'_>, host: Shown<'_>, role: &Role, form: &str, line: &Line) -> Option<Value> {
    let cap = claims::capability(view.policy, line)?;
    let (held, at_least) = match claims::demand(host.adapter, role, cap, line) {
        Demand::None => return None,
        Demand::Held { at_least } => (true, at_least),
        Demand::Waived { at_least } => (false, at_least),
    };
    Some(json!({
        "host": host.plan.host,
        "form": form,
        "capability": view.policy.catalogue.name(cap),
        "at-least": at_least,
        "held": held,
    }))
}

//! `role list` and `role show`

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::cli::exit::{Exit, Failure};
use crate::cli::place::Place;
use crate::cli::ui::Ui;
use crate::diag::render::Format;

use super::{known, origin};

/// Lists the roles of the policy in the order of their names.
///
/// # Errors
/// The policy is invalid.
pub fn list(place: &Place, ui: &Ui) -> Result<Exit, Failure> {
    let known = known(place, ui)?;
    if known.sink.has_errors() {
        ui.diagnostics(&known.sink, &known.loaded.sources);
        return Err(Failure::said(Exit::Policy));
    }
    let roles: Vec<Row> = known
        .policy
        .roles
        .iter()
        .map(|role| Row {
            name: &role.id,
            origin: origin(known.source(role).0),
            grants: role.grants.len(),
            description: &role.description,
        })
        .collect();
    ui.result(&if ui.format == Format::Json { as_json(&roles) } else { as_table(&roles) });
    Ok(Exit::Clean)
}

/// Prints a role's source as it is.
///
/// # Errors
/// There is no such role, or the sources cannot be read.
pub fn show(name: &str, place: &Place, ui: &Ui) -> Result<Exit, Failure> {
    let known = known(place, ui)?;
    let (path, text) = known.source(known.role(name)?);
    if ui.format == Format::Json {
        let value = json!({ "name": name, "origin": origin(path), "source": text });
        ui.result(&format!("{value:#}\n"));
    } else {
        ui.result(text);
    }
    Ok(Exit::Clean)
}

struct Row<'a> {
    name: &'a str,
    origin: &'a str,
    grants: usize,
    description: &'a str,
}

fn as_json(roles: &[Row<'_>]) -> String {
    let all = roles
        .iter()
        .map(|r| json!({ "name": r.name, "origin": r.origin, "description": r.description, "grants": r.grants }))
        .collect();
    format!("{:#}\n", Value::Array(all))
}

fn as_table(roles: &[Row<'_>]) -> String {
    let width = |of: fn(&Row<'_>) -> usize| roles.iter().map(of).max().unwrap_or(0);
    let (name, origin) = (width(|r| r.name.len()), width(|r| r.origin.width()));
    roles
        .iter()
        .map(|r| {
            let grants = format!("{} grant{}", r.grants, if r.grants == 1 { "" } else { "s" });
            let gap = " ".repeat(origin - r.origin.width());
            format!("{:name$}  {}{gap}  {grants:>9}  {}\n", r.name, r.origin, r.description)
        })
        .collect()
}

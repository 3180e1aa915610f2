//! `role new`

use serde_json::{Value, json};

use crate::cli::exit::{Exit, Failure};
use crate::cli::place::Place;
use crate::cli::put;
use crate::cli::ui::Ui;
use crate::compile::compile;
use crate::diag::Sink;
use crate::diag::render::{self as diagnostics, Format, Look};
use crate::load::Loaded;
use crate::resolve::{role_name, role_name_folded};
use crate::system::System;

use super::{Known, known, origin, text};

/// Writes a new role and tells whether the policy compiles with it.
///
/// # Errors
/// The name cannot be used or is taken, there is no policy of the repository's own, it is invalid, or the
/// file cannot be written.
pub fn run(name: &str, from: Option<&str>, place: &Place, ui: &Ui) -> Result<Exit, Failure> {
    role_name(name).map_err(|help| Failure::usage(format!("`{name}` cannot name a role")).help(help))?;
    let Some(dir) = place.policy.as_deref() else {
        return Err(Failure::usage("there is no policy here to write a role for").help("start with `rolecast init`"));
    };
    let known = known(place, ui)?;
    let path = format!("{}/{name}.md", folder(&known.loaded, dir));
    let takes_over = from == Some(name);
    free(name, &path, takes_over, &known, place)?;
    let source = match from {
        // An inherited role under its own name: nobody needs to be told to adapt what replaces itself.
        Some(from) if takes_over => known.source(known.role(from)?).1.to_owned(),
        Some(from) => text::copy(from, known.source(known.role(from)?).1),
        None => text::smallest(name),
    };
    put::new_file(&place.system, &path, source.as_bytes())
        .map_err(|e| Failure::environment(format!("cannot write `{path}`: {e}")))?;
    report(name, &path, dir, place, ui)
}

/// Where roles stand: as the repository's own policy lays out.
fn folder(loaded: &Loaded, dir: &str) -> String {
    let named = loaded.layers.last().and_then(|l| l.policy.layout.as_ref()?.roles.as_ref());
    match named {
        Some(named) => named.value.trim_end_matches('/').trim_start_matches("./").to_owned(),
        None => format!("{dir}/roles"),
    }
}

/// Fails when the name is taken; an inherited role may be taken over under its own name.
fn free(name: &str, path: &str, takes_over: bool, known: &Known, place: &Place) -> Result<(), Failure> {
    let same = known.policy.roles.iter().find(|r| role_name_folded(&r.id) == role_name_folded(name));
    if let Some(role) = same {
        let from = origin(known.source(role).0);
        let inherited = role.id == name && from != path;
        if !(inherited && takes_over) {
            let failure = Failure::usage(format!("role `{}` exists already ({from})", role.id));
            return Err(failure.help(if inherited {
                format!("take another name, or replace the inherited role: `rolecast role new {name} --from {name}`")
            } else {
                "take another name".to_owned()
            }));
        }
    }
    match place.system.kind(path) {
        Ok(None) => Ok(()),
        Ok(Some(_)) => Err(Failure::usage(format!("`{path}` exists already")).help("take another name")),
        Err(e) => Err(Failure::environment(format!("cannot look at `{path}`: {e}"))),
    }
}

/// Compiles with the new role and says how that went.
fn report(name: &str, path: &str, dir: &str, place: &Place, ui: &Ui) -> Result<Exit, Failure> {
    let mut sink = Sink::new();
    let compiled = compile(&place.system, Some(dir), &[], &mut sink);
    let compiles = compiled.rendered.is_some();
    if ui.format == Format::Json {
        let found = diagnostics::render(
            Format::Json,
            sink.sorted(&compiled.loaded.sources),
            &compiled.loaded.sources,
            Look::default(),
        );
        let found: Value = serde_json::from_str(&found).unwrap_or_default();
        let value = json!({ "name": name, "wrote": path, "compiles": compiles, "diagnostics": found });
        ui.result(&format!("{value:#}\n"));
    } else {
        ui.result(&format!("wrote {path}\n"));
        if compiles {
            ui.result(&format!("next: edit it, then `rolecast render` and `rolecast explain {name}`\n"));
        }
    }
    if compiles {
        return Ok(Exit::Clean);
    }
    if ui.format != Format::Json {
        ui.diagnostics(&sink, &compiled.loaded.sources);
    }
    Err(Failure::new(Exit::Policy, format!("the policy does not compile with `{path}`"))
        .help("edit the file until `rolecast check` stops saying so, or remove it"))
}

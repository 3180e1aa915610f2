//! `init`

use std::io::{BufRead, ErrorKind, IsTerminal};

use indexmap::IndexMap;
use serde_json::json;

use crate::diag::Sink;
use crate::diag::render::Format;
use crate::load;
use crate::model::adapter::Adapter;
use crate::system::{Kind, System};

use super::args::{Global, InitArgs};
use super::compiled::known;
use super::exit::{Exit, Failure};
use super::ui::Ui;
use super::{minimal, place};

/// Writes the smallest policy, unless there is one.
///
/// # Errors
/// No host is named or found, an unknown host, or a folder that leads out or cannot be written.
pub fn run(args: &InitArgs, global: &Global, ui: &Ui) -> Result<Exit, Failure> {
    let place = place::find(global)?;
    let dir = place.policy_dir();
    let shipped = load::load(&place.system, None, &mut Sink::new());
    known(&shipped, &args.hosts)?;
    if let Some(name) = policy_in(&place.system, dir)? {
        present(&format!("{dir}/{name}"), ui);
        return Ok(Exit::Clean);
    }
    let hosts = chosen(args, &place.system, &shipped.adapters, ui)?;
    let path = minimal::write(&place.system, dir, &hosts)?;
    wrote(&path, &hosts, ui);
    Ok(Exit::Clean)
}

/// The first policy file in the folder; `None` when there is none, or no folder.
fn policy_in(system: &dyn System, dir: &str) -> Result<Option<String>, Failure> {
    let environment = |e: std::io::Error| Failure::environment(format!("cannot use `{dir}`: {e}"));
    let real = system.resolve(dir).map_err(environment)?;
    if system.kind(&real).map_err(environment)?.is_none() {
        return Ok(None);
    }
    let names = system.list(dir).map_err(environment)?;
    if let Some((name, _)) = names.iter().find(|(name, _)| name.ends_with(".yml")) {
        return Err(Failure::new(Exit::Policy, format!("`{dir}/{name}` would not be read"))
            .help("policy files end in `.yaml`: rename it"));
    }
    Ok(names.into_iter().map(|(name, _)| name).find(|name| name.ends_with(".yaml") && !name.starts_with('.')))
}

/// The hosts named, else those whose files are there, else those a person picks.
fn chosen(
    args: &InitArgs,
    system: &dyn System,
    adapters: &IndexMap<String, Adapter>,
    ui: &Ui,
) -> Result<Vec<String>, Failure> {
    let mut hosts = args.hosts.clone();
    if hosts.is_empty() {
        hosts = detected(system, adapters)?;
        if hosts.is_empty() && !args.yes && std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
            hosts = asked(adapters, ui)?;
        }
    }
    hosts.sort();
    hosts.dedup();
    if hosts.is_empty() {
        let ids: Vec<&str> = adapters.keys().map(String::as_str).collect();
        return Err(Failure::usage("no host is named, and none of their files was found here").help(format!(
            "name them: `rolecast init --host HOST` (once for each), with HOST one of {}",
            ids.join(", ")
        )));
    }
    Ok(hosts)
}

/// Hosts of which a file or folder stands in the repository.
///
/// # Errors
/// A path that cannot be looked at, or that leads out of the root.
pub fn detected(system: &dyn System, adapters: &IndexMap<String, Adapter>) -> Result<Vec<String>, Failure> {
    let mut hosts = Vec::new();
    for (id, adapter) in adapters {
        for path in &adapter.detect {
            if there(system, path).map_err(|e| Failure::environment(format!("cannot look at `{path}`: {e}")))? {
                hosts.push(id.clone());
                break;
            }
        }
    }
    Ok(hosts)
}

fn there(system: &dyn System, path: &str) -> std::io::Result<bool> {
    match system.kind(path) {
        // A link that leads out would be refused by the first render; better now than then.
        Ok(Some(Kind::Link)) => system.resolve(path).map(|_| true),
        Ok(kind) => Ok(kind.is_some()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(false),
        Err(error) => Err(error),
    }
}

fn asked(adapters: &IndexMap<String, Adapter>, ui: &Ui) -> Result<Vec<String>, Failure> {
    ui.say("Which hosts is this repository for?");
    for (number, (id, adapter)) in adapters.iter().enumerate() {
        ui.say(&format!("  {}  {} ({id})", number + 1, adapter.title));
    }
    ui.say("Numbers or names, then Enter (nothing: stop):");
    let mut answer = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|e| Failure::environment(format!("cannot read the answer: {e}")))?;
    picked(&answer, adapters)
}

/// The hosts meant by an answer of numbers or ids with blanks or commas between them.
fn picked(answer: &str, adapters: &IndexMap<String, Adapter>) -> Result<Vec<String>, Failure> {
    answer
        .split([' ', ',', '\t', '\r', '\n'])
        .filter(|word| !word.is_empty())
        .map(|word| {
            let numbered = word.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
            let id = match numbered {
                Some(at) => adapters.get_index(at).map(|(id, _)| id),
                None => adapters.get_key_value(word).map(|(id, _)| id),
            };
            id.cloned().ok_or_else(|| Failure::usage(format!("`{word}` is none of the hosts listed")))
        })
        .collect()
}

fn present(path: &str, ui: &Ui) {
    if ui.format == Format::Json {
        ui.result(&format!("{:#}\n", json!({ "wrote": null, "policy": path, "hosts": [], "next": "rolecast render" })));
    } else {
        ui.result(&format!("there is a policy already: {path}; nothing was changed\nnext: rolecast render\n"));
    }
}

fn wrote(path: &str, hosts: &[String], ui: &Ui) {
    if ui.format == Format::Json {
        let value = json!({ "wrote": path, "policy": path, "hosts": hosts, "next": "rolecast render" });
        ui.result(&format!("{value:#}\n"));
    } else {
        ui.result(&format!("wrote {path} for {}\nnext: rolecast render\n", hosts.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::memory::Memory;

    fn adapters() -> IndexMap<String, Adapter> {
        load::load(&Memory::new(), None, &mut Sink::new()).adapters
    }

    #[test]
    fn an_answer_is_numbers_or_names_and_nothing_else() {
        let adapters = adapters();
        let ids: Vec<String> = adapters.keys().cloned().collect();
        let good = picked(&format!("1, {}\n", ids[2]), &adapters).unwrap();
        assert_eq!(good, [ids[0].clone(), ids[2].clone()]);
        assert!(picked("\n", &adapters).unwrap().is_empty());
        for wrong in ["0", "99", "nobody", "1 nobody"] {
            assert_eq!(picked(wrong, &adapters).unwrap_err().exit, Exit::Usage, "{wrong}");
        }
    }

    #[test]
    fn a_file_where_a_detected_folder_would_be_is_no_error() {
        let system = Memory::new().with(".github", "text");
        assert!(detected(&system, &adapters()).unwrap().is_empty());
    }
}

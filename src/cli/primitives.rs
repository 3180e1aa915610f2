//! `primitives`: the stores and web interfaces that tools are made from.

use crate::diag::{Code, Diagnostic, Sink, Span, intake};
use crate::gateway::{Gateway, Options, store_file};
use crate::load::{self, Loaded};
use crate::primitives::{Store, Wanted, definition, lines};
use crate::resolve::primitives::{Kind, Primitive};
use crate::resolve::{self, Policy};
use crate::sync::pins::Pins;
use crate::system::System;
use crate::system::os::{Os, named};
use crate::text::suggest::nearest;

use super::args::{Global, PrimitivesArgs, PrimitivesCommand};
use super::env;
use super::exit::{Exit, Failure};
use super::place::{self, Place};
use super::ui::Ui;

/// Longest file of documents.
const MAX: usize = 512 << 20;

/// Runs the command.
///
/// # Errors
/// No policy, an invalid one, an unknown name, or a store that cannot be opened or written.
pub fn run(args: &PrimitivesArgs, global: &Global, ui: &Ui) -> Result<Exit, Failure> {
    let place = place::find(global)?;
    let Some(dir) = place.policy.as_deref() else {
        return Err(Failure::new(Exit::Policy, "there is no policy here, and so there are no primitives")
            .help("run `rolecast init`"));
    };
    let mut sink = Sink::new();
    let mut loaded = load::load(&place.system, Some(dir), &mut sink);
    let policy = (!sink.has_errors()).then(|| resolve::resolve(&loaded, &[], &mut sink));
    let Some(policy) = policy.filter(|_| !sink.has_errors()) else {
        ui.problems(&sink, &loaded.sources);
        return Err(Failure::said(Exit::Policy));
    };
    match &args.command {
        PrimitivesCommand::List => {
            ui.result(&listed(&policy));
            Ok(Exit::Clean)
        }
        PrimitivesCommand::Serve { name } => serve(find(name, &policy)?, &policy, &loaded, &place),
        PrimitivesCommand::Load { store, file, whole } => {
            let primitive = find(store, &policy)?;
            fill(primitive, file, *whole, &place, &mut loaded, ui)
        }
    }
}

fn find<'a>(name: &str, policy: &'a Policy) -> Result<&'a Primitive, Failure> {
    policy.primitives.get(name).ok_or_else(|| {
        let failure = Failure::usage(format!("the policy declares no primitives `{name}`"));
        match nearest(name, policy.primitives.keys().map(String::as_str)) {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None => failure.help("declare them under `primitives:`"),
        }
    })
}

fn listed(policy: &Policy) -> String {
    let mut text = String::new();
    for primitive in policy.primitives.values() {
        for raw in definition::of(primitive) {
            let string = |key: &str| raw[key].as_str().unwrap_or_default().to_owned();
            let parameters = raw["inputSchema"]["properties"].as_object();
            let names: Vec<&str> = parameters.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            let tool = string("name");
            text.push_str(&format!("{}/{tool}({}): {}\n", primitive.name, names.join(", "), string("description")));
            let made = policy.tools.values().filter(|t| t.server == primitive.name && t.tool == tool);
            let made: Vec<&str> = made.map(|tool| tool.name.as_str()).collect();
            if !made.is_empty() {
                text.push_str(&format!("  tools made from it: {}\n", made.join(", ")));
            }
        }
    }
    if text.is_empty() {
        text.push_str("the policy declares no primitives\n");
    }
    text
}

fn serve(primitive: &Primitive, policy: &Policy, loaded: &Loaded, place: &Place) -> Result<Exit, Failure> {
    let root = place.system.root().to_owned();
    let system = Os::new(&root).map_err(|e| Failure::environment(format!("cannot open the root: {e}")))?;
    let options = Options {
        pins: Pins::default(),
        dir: policy.dir.clone(),
        loaded,
        policy,
        role: None,
        hosts: Vec::new(),
        risk: None,
        given: std::collections::BTreeMap::new(),
        variables: env::variables(),
        system: Box::new(system),
        root,
        eager: false,
    };
    let gateway = Gateway::of_primitive(options, primitive)
        .map_err(|why| Failure::environment(format!("cannot start: {why}")))?;
    gateway.run().map_err(Failure::environment)?;
    Ok(Exit::Clean)
}

/// Reads documents, and puts them into a store: all or nothing.
fn fill(
    primitive: &Primitive,
    file: &str,
    whole: bool,
    place: &Place,
    loaded: &mut Loaded,
    ui: &Ui,
) -> Result<Exit, Failure> {
    let Kind::Store(declared) = &primitive.kind else {
        return Err(Failure::usage(format!("`{}` is no store", primitive.name)));
    };
    let bytes = named(file, MAX).map_err(|e| Failure::environment(format!("cannot read `{file}`: {e}")))?;
    let mut found = Sink::new();
    let shown = if file == "-" { "<stdin>" } else { file };
    let source = intake::admit(shown, &bytes, MAX, &mut loaded.sources, &mut found);
    let Some(source) = source else {
        ui.problems(&found, &loaded.sources);
        return Err(Failure::said(Exit::Drift));
    };
    let documents = match lines::read(&loaded.sources.get(source).text) {
        Ok(documents) => documents,
        Err(faults) => {
            let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            let span = |at: &std::ops::Range<usize>| Span { source, start: offset(at.start), end: offset(at.end) };
            for fault in faults {
                let diagnostic = Diagnostic::new(Code::StoreDocument, fault.message).at(span(&fault.at), "");
                found.push(diagnostic.also(fault.also.as_ref().map(span), "first time").help(fault.help));
            }
            ui.problems(&found, &loaded.sources);
            return Err(Failure::new(Exit::Drift, "nothing was loaded"));
        }
    };
    // A pipe that broke off brings nothing, too.
    if whole && documents.is_empty() {
        return Err(Failure::new(
            Exit::Drift,
            format!("nothing was loaded: `{shown}` has no document, and with `--whole` all would go"),
        )
        .help("delete the file of the store if that is meant"));
    }
    let failed = |why: String| Failure::environment(why);
    let at = place.system.resolve(&declared.file);
    let at = at.map_err(|e| failed(format!("the file of the store cannot be: {e}")))?;
    let opened = store_file(&primitive.name, declared, at, place.system.root(), &env::variables());
    let mut store = opened.and_then(|file| Store::open_or_make(file, &Wanted::default())).map_err(failed)?;
    let loaded = store.put(&documents, whole).map_err(failed)?;
    ui.say(&format!(
        "`{}`: {} added, {} replaced, {} removed",
        primitive.name, loaded.added, loaded.replaced, loaded.removed
    ));
    Ok(Exit::Clean)
}

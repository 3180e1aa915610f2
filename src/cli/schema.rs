//! `schema`

use serde_json::Value;

use crate::diag::render::Format;
use crate::schema;
use crate::text::suggest::nearest;

use super::args::SchemaArgs;
use super::exit::{Exit, Failure};
use super::ui::Ui;

/// Lists the schemas, or prints one.
///
/// # Errors
/// There is no schema of that name.
pub fn run(args: &SchemaArgs, ui: &Ui) -> Result<Exit, Failure> {
    let all = schema::all();
    let Some(name) = &args.name else {
        ui.result(&list(&all, ui.format));
        return Ok(Exit::Clean);
    };
    let Some((_, text)) = all.iter().find(|(known, _)| known == name) else {
        let known: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        let help = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known schemas: {}", known.join(", ")),
        };
        return Err(Failure::usage(format!("unknown schema `{name}`")).help(help));
    };
    ui.result(text);
    Ok(Exit::Clean)
}

/// Names and titles.
fn list(all: &[(&'static str, String)], format: Format) -> String {
    if format == Format::Json {
        let names = all.iter().map(|(name, _)| Value::from(*name)).collect();
        return format!("{:#}\n", Value::Array(names));
    }
    let title = |text: &str| match serde_json::from_str::<Value>(text) {
        Ok(schema) => schema.get("title").and_then(Value::as_str).unwrap_or_default().to_owned(),
        Err(_) => String::new(),
    };
    let width = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    all.iter().map(|(name, text)| format!("{name:width$}  {}\n", title(text))).collect()
}

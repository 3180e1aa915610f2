//! Templates. The only module that names the template engine.

use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior, Value};
use serde::Serialize;

use crate::diag::{Code, Diagnostic, SourceId, Span};
use crate::resolve::policy::NOTE_BLOCK as NOTE;

/// Steps a template may take; far above any honest use, far below a hang.
const FUEL: u64 = 500_000;

/// Renders templates with strict names, no escaping, and bounded work.
pub struct Engine<'s> {
    environment: Environment<'s>,
}

/// What is wrong with a template: words, and the byte range in its text when it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateProblem {
    /// One line.
    pub message: String,
    /// Where in the template's text.
    pub range: Option<(usize, usize)>,
}

impl TemplateProblem {
    /// As a diagnostic in a source whose template starts at `base`.
    pub fn diagnostic(&self, source: SourceId, base: u32) -> Diagnostic {
        let (start, end) = self.range.unwrap_or((0, 0));
        let at = |n: usize| base.saturating_add(u32::try_from(n).unwrap_or(0));
        Diagnostic::new(Code::Template, self.message.clone())
            .at(Span { source, start: at(start), end: at(end) }, "")
            .help(self.help())
    }
}

impl TemplateProblem {
    fn help(&self) -> &'static str {
        if self.message.starts_with("`host.") || self.message.starts_with("`host`") {
            "what depends on the host stands in a rule, between `{% block host_note %}` and `{% endblock %}`"
        } else if self.message.starts_with("syntax error") {
            "close every `{{` with `}}` and every `{%` with `%}`, or take `template: true` away to keep braces as text"
        } else {
            "rules see `budgets` and `policy`, their `host_note` block sees `host` too; roles see `budgets`, `policy` and `role`"
        }
    }
}

impl<'s> Engine<'s> {
    /// An engine with named template texts.
    ///
    /// # Errors
    /// The name and the problem of each text that is no template.
    pub fn new(templates: impl IntoIterator<Item = (&'s str, &'s str)>) -> (Self, Vec<(String, TemplateProblem)>) {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_fuel(Some(FUEL));
        let mut syntax = minijinja::syntax::SyntaxConfig::builder();
        syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
        if let Ok(syntax) = syntax.build() {
            environment.set_syntax(syntax);
        }
        environment.add_filter("json", |v: Value| serde_json::to_string(&v).unwrap_or_default());
        environment.add_filter("toml", toml);
        environment.add_filter("yaml", yaml);
        environment.add_filter("line", line);
        environment.add_filter("regex", |text: String| crate::text::glob::regex(&text));
        let mut problems = Vec::new();
        for (name, text) in templates {
            if let Err(error) = environment.add_template(name, text) {
                problems.push((name.to_owned(), problem(&error)));
            }
        }
        (Self { environment }, problems)
    }

    /// An engine for one page of HTML of ours: every value is escaped, and as there is no foreign text in the template,
    /// work is bounded by the data only.
    ///
    /// # Errors
    /// The text is no template.
    pub fn escaped(name: &'s str, text: &'s str) -> Result<Self, TemplateProblem> {
        let (mut engine, problems) = Self::new([]);
        debug_assert!(problems.is_empty());
        engine.environment.set_auto_escape_callback(|_| AutoEscape::Html);
        engine.environment.set_fuel(None);
        engine.environment.add_template(name, text).map_err(|e| problem(&e))?;
        Ok(engine)
    }

    /// Whether a template of this name was added.
    pub fn has(&self, name: &str) -> bool {
        self.environment.get_template(name).is_ok()
    }

    /// Renders a named template.
    ///
    /// # Errors
    /// An unknown name, a wrong filter, too much work.
    pub fn render<C: Serialize>(&self, name: &str, context: &C) -> Result<String, TemplateProblem> {
        let template = self.environment.get_template(name).map_err(|e| problem(&e))?;
        template.render(Value::from(minijinja::value::Serde(context))).map_err(|e| problem(&e))
    }

    /// Renders a rule without its host note: the text that is the same for every host.
    ///
    /// # Errors
    /// As [`Self::render`].
    pub fn shared<C: Serialize>(&self, name: &str, context: &C) -> Result<String, TemplateProblem> {
        let child = format!("{{% extends {name:?} %}}{{% block {NOTE} %}}{{% endblock %}}");
        self.environment
            .render_named_str("shared", &child, Value::from(minijinja::value::Serde(context)))
            .map_err(|e| problem(&e))
    }

    /// Renders the host note of a rule; empty when it has none.
    ///
    /// # Errors
    /// As [`Self::render`].
    pub fn note<C: Serialize>(&self, name: &str, context: &C) -> Result<String, TemplateProblem> {
        let template = self.environment.get_template(name).map_err(|e| problem(&e))?;
        if !template.source().contains(NOTE) {
            return Ok(String::new());
        }
        let mut captured =
            template.render_captured(Value::from(minijinja::value::Serde(context))).map_err(|e| problem(&e))?;
        captured.with_state_mut(|state| state.render_block(NOTE)).map_err(|e| problem(&e))
    }
}

fn problem(error: &minijinja::Error) -> TemplateProblem {
    let innermost =
        std::iter::successors(Some(error), |e| std::error::Error::source(*e).and_then(|s| s.downcast_ref()))
            .last()
            .unwrap_or(error);
    let source = innermost.template_source().or_else(|| error.template_source());
    let undefined = innermost.kind() == ErrorKind::UndefinedError;
    let range = innermost.range().map(|r| (r.start, r.end)).map(|(start, end)| match source {
        Some(source) if undefined => (whole_name(source, start), end),
        _ => (start, end),
    });
    let text = range.and_then(|(start, end)| source?.get(start..end));
    let message = match (innermost.kind(), text) {
        (ErrorKind::UndefinedError, Some(text)) => format!("`{text}` is not defined here"),
        (ErrorKind::OutOfFuel, _) => "the template does too much work".to_owned(),
        (kind, _) => innermost.detail().map_or_else(|| kind.to_string(), |d| format!("{kind}: {d}")),
    };
    TemplateProblem { message, range }
}

/// Where the dotted name begins that goes on at `at`: the engine points only at the part that is missing.
fn whole_name(source: &str, at: usize) -> usize {
    let before = source.get(..at).unwrap_or("");
    let name = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    name.len()
}

/// Refuses a value that has a line break: some hosts read front matter line by line.
fn line(value: &str) -> Result<String, minijinja::Error> {
    if value.contains(['\n', '\r']) {
        return Err(minijinja::Error::new(
            ErrorKind::InvalidOperation,
            "a value that must be one line has a line break",
        ));
    }
    Ok(value.to_owned())
}

/// A YAML value in flow style: JSON is YAML, and its strings need no judgement about quoting.
fn yaml(value: Value) -> String {
    let plain = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))
            && !matches!(
                text.to_ascii_lowercase().as_str(),
                "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
            )
    };
    match serde_json::to_value(&value) {
        Ok(serde_json::Value::String(text)) if plain(&text) => text,
        Ok(serde_json::Value::Array(items)) => {
            let items: Vec<String> = items.iter().map(serde_json::Value::to_string).collect();
            format!("[{}]", items.join(", "))
        }
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

/// A TOML value; text with line breaks becomes a multi-line string.
fn toml(value: Value) -> String {
    fn convert(value: &serde_json::Value) -> toml_edit::Value {
        match value {
            serde_json::Value::Array(items) => toml_edit::Value::Array(items.iter().map(convert).collect()),
            serde_json::Value::Bool(b) => (*b).into(),
            serde_json::Value::Number(n) => {
                n.as_i64().map_or_else(|| n.as_f64().unwrap_or_default().into(), Into::into)
            }
            other => other.as_str().unwrap_or_default().into(),
        }
    }
    match serde_json::to_value(&value) {
        Ok(serde_json::Value::String(text)) if text.contains('\n') => crate::text::toml::multi_line(&text),
        Ok(value) => convert(&value).to_string(),
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rule_gives_its_shared_text_and_its_note_apart() {
        let text = "Cut at {{ budgets.n }}.\n{% block host_note %}\n{{ host.title }} note\n{% endblock %}\n";
        let (engine, problems) = Engine::new([("r", text)]);
        assert_eq!(problems, []);
        assert_eq!(engine.shared("r", &json!({"budgets": {"n": 7}})).unwrap().trim(), "Cut at 7.");
        assert_eq!(engine.note("r", &json!({"budgets": {"n": 7}, "host": {"title": "H"}})).unwrap().trim(), "H note");
    }

    #[test]
    fn an_unknown_name_is_an_error_with_its_place() {
        let (engine, _) = Engine::new([("r", "x {{ budgets.nope }} y")]);
        let problem = engine.shared("r", &json!({"budgets": {}})).unwrap_err();
        assert_eq!(problem.range, Some((5, 17)));
        assert_eq!(problem.message, "`budgets.nope` is not defined here");
    }

    #[test]
    fn an_endless_template_is_stopped() {
        let (engine, _) =
            Engine::new([("r", "{% for i in range(9999) %}{% for j in range(9999) %}{{ i }}{% endfor %}{% endfor %}")]);
        assert_eq!(engine.render("r", &json!({})).unwrap_err().message, "the template does too much work");
    }

    #[test]
    fn values_are_quoted_where_a_format_needs_it() {
        let (engine, _) = Engine::new([(
            "t",
            "{{ a | yaml }} {{ b | yaml }} {{ c | yaml }} {{ c | toml }} {{ b | json }} {{ c | json }} {{ d | yaml }}",
        )]);
        let text =
            engine.render("t", &json!({"a": "plain-word", "b": "no: \"x\"", "c": ["a", "b<c"], "d": "yes"})).unwrap();
        assert_eq!(text, r#"plain-word "no: \"x\"" ["a", "b<c"] ["a", "b<c"] "no: \"x\"" ["a","b<c"] "yes""#);
    }
}

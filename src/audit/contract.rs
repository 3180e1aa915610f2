//! What a server says of its tools, read without losing anything.

use serde_json::Value;

/// Most levels of objects looked into for parameters.
const DEPTH: usize = 5;

/// The four hints of the specification.
pub const HINTS: [&str; 4] = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

/// What one server offers.
#[derive(Debug, Clone, Default)]
pub struct Contract {
    /// The server's name in the policy.
    pub server: String,
    /// What it calls itself, with its version; none from a file that does not say.
    pub title: Option<String>,
    /// What it wants every session to read.
    pub instructions: Option<String>,
    /// Its tools in its own order.
    pub tools: Vec<Tool>,
    /// The first thing it wrote to its standard output that is no message of the protocol.
    pub noise: Option<String>,
}

/// One tool.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// All it says of it.
    pub raw: Value,
}

impl Contract {
    /// From the answers of a server: `welcome` is the result of `initialize`.
    ///
    /// # Errors
    /// A tool without a name.
    pub fn new(server: &str, welcome: &Value, tools: Vec<Value>) -> Result<Self, String> {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).filter(|t| !t.is_empty()).map(str::to_owned);
        let info = welcome.get("serverInfo");
        let name = text(info.and_then(|i| i.get("name")));
        let version = text(info.and_then(|i| i.get("version")));
        let tools = tools.into_iter().enumerate().map(|(at, raw)| match text(raw.get("name")) {
            Some(name) => Ok(Tool { name, raw }),
            None => Err(format!("tool {} of its list has no name", at + 1)),
        });
        Ok(Self {
            server: server.to_owned(),
            title: name.map(|name| version.map_or(name.clone(), |version| format!("{name} {version}"))),
            instructions: text(welcome.get("instructions")),
            tools: tools.collect::<Result<_, _>>()?,
            noise: None,
        })
    }

    /// The tool of a name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

impl Tool {
    /// What it says it does.
    pub fn description(&self) -> &str {
        self.raw.get("description").and_then(Value::as_str).unwrap_or("")
    }

    /// A hint, where it is explicit.
    pub fn hint(&self, name: &str) -> Option<bool> {
        self.raw.get("annotations")?.get(name)?.as_bool()
    }

    /// Whether it says that it changes nothing.
    pub fn says_read_only(&self) -> bool {
        self.hint("readOnlyHint") == Some(true)
    }

    /// Everything that can be handed to it, also inside of objects and lists.
    pub fn params(&self) -> Vec<Param<'_>> {
        let mut params = Vec::new();
        if let Some(schema) = self.raw.get("inputSchema") {
            collect(schema, "", DEPTH, &mut params);
        }
        params
    }
}

/// One parameter.
#[derive(Debug, Clone)]
pub struct Param<'a> {
    /// Names from the top, with dots.
    pub path: String,
    /// The last of them.
    pub name: &'a str,
    /// Its schema.
    pub schema: &'a Value,
}

fn collect<'a>(schema: &'a Value, before: &str, depth: usize, params: &mut Vec<Param<'a>>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    for (name, schema) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let path = if before.is_empty() { name.clone() } else { format!("{before}.{name}") };
        params.push(Param { path: path.clone(), name, schema });
        collect(schema, &path, depth, params);
        if let Some(items) = schema.get("items") {
            collect(items, &path, depth, params);
        }
    }
    for choice in choices(schema) {
        collect(choice, before, depth, params);
    }
}

fn choices(schema: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten()
}

impl Param<'_> {
    /// What the server says of it.
    pub fn description(&self) -> &str {
        self.schema.get("description").and_then(Value::as_str).unwrap_or("")
    }

    /// The texts it may be, where they are listed.
    pub fn values(&self) -> Vec<&str> {
        let mut all = Vec::new();
        for schema in std::iter::once(self.schema).chain(choices(self.schema)).chain(self.schema.get("items")) {
            all.extend(schema.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str));
            all.extend(schema.get("const").and_then(Value::as_str));
        }
        all
    }

    /// Whether it can be of a JSON type.
    pub fn is(&self, kind: &str) -> bool {
        let one = |schema: &Value| match schema.get("type") {
            Some(Value::String(name)) => name == kind,
            Some(Value::Array(names)) => names.iter().any(|name| name == kind),
            _ => false,
        };
        one(self.schema) || choices(self.schema).any(one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parameters_are_found_inside_of_objects_lists_and_choices() {
        let schema = json!({ "type": "object", "properties": {
            "a": { "type": ["string", "null"] },
            "b": { "type": "object", "properties": { "c": { "enum": ["x", "y"] } } },
            "d": { "type": "array", "items": { "type": "object", "properties": { "e": { "type": "boolean" } } } },
            "f": { "anyOf": [{ "const": "on" }, { "const": "off" }, { "type": "integer" }] },
        } });
        let contract = Contract::new("s", &json!({}), vec![json!({ "name": "t", "inputSchema": schema })]).unwrap();
        let params = contract.tools[0].params();
        let paths: Vec<&str> = params.iter().map(|p| p.path.as_str()).collect();
        assert_eq!(paths, ["a", "b", "b.c", "d", "d.e", "f"]);
        assert!(params[0].is("string") && params[4].is("boolean") && params[5].is("integer"));
        assert_eq!((params[2].values(), params[5].values()), (vec!["x", "y"], vec!["on", "off"]));
    }

    #[test]
    fn a_tool_without_a_name_is_no_contract() {
        assert!(Contract::new("s", &json!({}), vec![json!({ "name": "" })]).is_err());
    }
}

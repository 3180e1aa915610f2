//! An answer of a server that somebody kept: a `tools/list` result, or the messages that carried it.

use serde_json::{Deserializer, Value};

use super::contract::Contract;

/// Reads a saved answer of `server`: a result object, a message, a list of messages, or one after the other.
///
/// # Errors
/// Not JSON, no list of tools in it, or a tool without a name.
pub fn read(server: &str, text: &str) -> Result<Contract, String> {
    let (mut welcome, mut tools, mut any) = (Value::Null, Vec::new(), false);
    for value in Deserializer::from_str(text.trim_start_matches('\u{feff}')).into_iter::<Value>() {
        let value = value.map_err(|error| format!("it is no JSON: {error}"))?;
        let all = if let Value::Array(all) = value { all } else { vec![value] };
        for mut message in all {
            let result = message.get_mut("result").map(Value::take).unwrap_or(message);
            if let Some(Value::Array(page)) = result.get("tools") {
                tools.extend(page.iter().cloned());
                any = true;
            } else if result.get("serverInfo").is_some() || result.get("instructions").is_some() {
                welcome = result;
            }
        }
    }
    if !any {
        return Err("it holds no answer to `tools/list`: no list `tools` in a result".to_owned());
    }
    Contract::new(server, &welcome, tools)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_messages_pages_and_lines_are_read() {
        let names =
            |text: &str| -> Vec<String> { read("s", text).unwrap().tools.into_iter().map(|t| t.name).collect() };
        assert_eq!(names(r#"{"tools":[{"name":"a"}]}"#), ["a"]);
        assert_eq!(names(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}]}}"#), ["a"]);
        assert_eq!(names(r#"[{"result":{"tools":[{"name":"a"}]}},{"result":{"tools":[{"name":"b"}]}}]"#), ["a", "b"]);
        let lines = "{\"id\":1,\"result\":{\"instructions\":\"Hi\",\"serverInfo\":{\"name\":\"x\",\"version\":\"1\"}}}\n{\"result\":{\"tools\":[]}}\n";
        let contract = read("s", lines).unwrap();
        assert_eq!((contract.instructions.as_deref(), contract.title.as_deref()), (Some("Hi"), Some("x 1")));
        for bad in ["", "{", "{}", r#"{"error":{"code":1}}"#, r#"{"tools":[{"title":"no name"}]}"#] {
            assert!(read("s", bad).is_err(), "{bad}");
        }
    }
}

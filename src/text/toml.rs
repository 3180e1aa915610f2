//! TOML strings that people can read.

/// Text as a multi-line basic string; reading it gives back the text exactly.
pub fn multi_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    out.push_str("\"\"\"\n");
    let mut quotes = 0;
    for c in text.chars() {
        quotes = if c == '"' { quotes + 1 } else { 0 };
        match c {
            '\\' => out.push_str("\\\\"),
            '"' if quotes == 3 => {
                out.push_str("\\\"");
                quotes = 0;
            }
            '\n' | '\t' => out.push(c),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", c as u32)),
            c => out.push(c),
        }
    }
    // A third quote is escaped already.
    if quotes > 0 {
        let last = out.pop();
        out.push('\\');
        out.extend(last);
    }
    out.push_str("\"\"\"");
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::multi_line;

    proptest! {
        #[test]
        fn reading_gives_the_text_back(text in "[a\"\\\\\n\r\t\u{1}é]{0,40}") {
            let document: toml_edit::DocumentMut = format!("x = {}\n", multi_line(&text)).parse().unwrap();
            prop_assert_eq!(document["x"].as_str(), Some(text.as_str()));
        }
    }
}

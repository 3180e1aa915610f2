//! Making texts shorter without breaking them.

use serde_json::{Map, Value};

/// Least bytes in which a head and a tail both say something.
const BOTH: usize = 1024;
/// Room for the words about what was left out.
const MARK: usize = 64;

/// The texts in at most `budget` bytes together. A text that does not fit whole is cut; those after it are left out.
pub(super) fn all(texts: &[String], budget: usize, head_only: bool) -> Vec<String> {
    let mut left = budget;
    let mut kept = Vec::new();
    for text in texts {
        if text.len() <= left {
            left -= text.len();
            kept.push(text.clone());
            continue;
        }
        let cut = one(text, left, head_only);
        if !cut.is_empty() {
            kept.push(cut);
        }
        break;
    }
    kept
}

fn one(text: &str, budget: usize, head_only: bool) -> String {
    match parse(text) {
        Some(value) => json(value, budget),
        None => lines(text, budget, head_only),
    }
}

/// A text as JSON with something to cut in it.
pub(super) fn parse(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// JSON in at most `budget` bytes that is still JSON.
fn json(value: Value, budget: usize) -> String {
    // Nothing shorter than this says anything.
    if budget < 2 {
        return String::new();
    }
    shrink(value, budget).to_string()
}

/// The value in at most `budget` bytes of JSON: lists lose items at their end, texts their end, maps what does not fit
/// at all.
fn shrink(value: Value, budget: usize) -> Value {
    if size(&value) <= budget {
        return value;
    }
    match value {
        Value::Array(items) => array(items, budget),
        Value::Object(fields) => object(fields, budget),
        Value::String(text) => shorter(&text, budget),
        other => other,
    }
}

fn size(value: &Value) -> usize {
    value.to_string().len()
}

fn array(items: Vec<Value>, budget: usize) -> Value {
    let mut left = budget.saturating_sub(2);
    let mut kept = Vec::new();
    for item in items {
        let own = size(&item) + 1;
        if own <= left {
            left -= own;
            kept.push(item);
            continue;
        }
        // A first item that is too large is better in part than not at all.
        if kept.is_empty() && left > MARK {
            let part = shrink(item, left - 1);
            if size(&part) < left {
                kept.push(part);
            }
        }
        break;
    }
    Value::Array(kept)
}

fn object(fields: Map<String, Value>, budget: usize) -> Value {
    let mut left = budget.saturating_sub(2);
    let mut order: Vec<(usize, String, usize)> =
        fields.iter().enumerate().map(|(at, (name, value))| (size(value), name.clone(), at)).collect();
    // Small fields say what the large ones are about: they are served first.
    order.sort_by_key(|(own, _, at)| (*own, *at));
    let mut fields = fields;
    let mut shares: Map<String, Value> = Map::new();
    let count = order.len();
    for (done, (own, name, _)) in order.into_iter().enumerate() {
        let Some(value) = fields.get_mut(&name).map(Value::take) else { continue };
        let frame = Value::String(name.clone()).to_string().len() + 2;
        let share = (left / (count - done)).saturating_sub(frame);
        let part = if own <= share { value } else { shrink(value, share) };
        let cost = size(&part) + frame;
        if cost <= left && size(&part) <= share.max(own) && cost <= share + frame {
            left -= cost;
            shares.insert(name, part);
        }
    }
    let kept = fields.keys().filter_map(|name| Some((name.clone(), shares.get(name)?.clone())));
    Value::Object(kept.collect())
}

fn shorter(text: &str, budget: usize) -> Value {
    let mark = |kept: usize| format!("… [{} bytes left out]", text.len() - kept);
    let mut keep = budget.saturating_sub(MARK).min(text.len());
    loop {
        keep = text.floor_char_boundary(keep);
        let value = Value::String(format!("{}{}", &text[..keep], mark(keep)));
        // Escapes make a text longer than it is.
        let over = size(&value).saturating_sub(budget);
        if over == 0 {
            return value;
        }
        if keep == 0 {
            return Value::String(String::new());
        }
        keep = keep.saturating_sub(over.div_ceil(2));
    }
}

/// Plain text in at most `budget` bytes: its head and its tail, at the ends of lines where those are near.
fn lines(text: &str, budget: usize, head_only: bool) -> String {
    if budget <= MARK {
        return text[..text.floor_char_boundary(budget)].to_owned();
    }
    let room = budget - MARK;
    let tail_room = if head_only || room < BOTH { 0 } else { room * 3 / 10 };
    let head = head(text, room - tail_room);
    let tail = tail(text, tail_room.min(text.len() - head.len()));
    let left_out = text.len() - head.len() - tail.len();
    let mark = format!("\n[… {left_out} bytes left out …]\n");
    format!("{}{mark}{tail}", head.trim_end_matches('\n'))
}

fn head(text: &str, room: usize) -> &str {
    let end = text.floor_char_boundary(room);
    match text[..end].rfind('\n') {
        Some(line) if line + 1 >= end / 2 => &text[..=line],
        _ => &text[..end],
    }
}

fn tail(text: &str, room: usize) -> &str {
    let start = text.ceil_char_boundary(text.len() - room);
    match text[start..].find('\n') {
        Some(line) if line <= (text.len() - start) / 2 => &text[start + line + 1..],
        _ => &text[start..],
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_lose_items_and_maps_keep_their_small_fields() {
        let rows: Vec<Value> = (0..500).map(|n| json!({ "id": n, "text": "x".repeat(40) })).collect();
        let cut = json(json!({ "total": 500, "rows": rows, "note": "ok" }), 2000);
        let back: Value = serde_json::from_str(&cut).unwrap();
        assert_eq!((&back["total"], &back["note"]), (&json!(500), &json!("ok")));
        let kept = back["rows"].as_array().unwrap();
        assert!(kept.len() > 20 && cut.len() <= 2000, "{} in {}", kept.len(), cut.len());
        assert!(kept.iter().enumerate().all(|(n, row)| row["id"] == n && row["text"].as_str().unwrap().len() == 40));
        let one = json(json!([{ "body": "\"\n".repeat(5000) }]), 1000);
        let back: Value = serde_json::from_str(&one).unwrap();
        assert!(back[0]["body"].as_str().unwrap().contains("bytes left out") && one.len() <= 1000);
    }

    #[test]
    fn plain_text_keeps_head_and_tail_at_line_ends() {
        let text: String = (0..2000).map(|n| format!("line {n} é\n")).collect();
        let cut = lines(&text, 4000, false);
        assert!(cut.len() <= 4000 && cut.starts_with("line 0 é\n") && cut.ends_with("line 1999 é\n"), "{}", cut.len());
        let middle = cut.lines().find(|l| l.contains("left out")).unwrap();
        assert!(middle.starts_with("[… ") && cut.lines().all(|l| l.starts_with("line ") || l == middle));
        let head = lines(&text, 4000, true);
        assert!(head.len() <= 4000 && head.trim_end().ends_with("left out …]"));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i32>().prop_map(Value::from),
            ".{0,40}".prop_map(Value::from),
            "[\"\\\\\n]{0,60}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
                prop::collection::vec((".{0,6}", inner), 0..8)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_cut_is_never_over_its_budget_and_json_stays_json(value in any_json(), budget in 2_usize..600) {
            let text = value.to_string();
            prop_assume!(parse(&text).is_some());
            let cut = one(&text, budget, false);
            prop_assert!(cut.len() <= budget.max(2), "{} over {budget}: {cut}", cut.len());
            prop_assert!(serde_json::from_str::<Value>(&cut).is_ok(), "{cut}");
        }

        #[test]
        fn plain_text_is_never_over_its_budget(text in "(.{0,30}\n?){0,60}", budget in 0_usize..1500, head in any::<bool>()) {
            prop_assume!(text.len() > budget && parse(&text).is_none());
            prop_assert!(lines(&text, budget, head).len() <= budget);
        }
    }
}

//! All pages of a list.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::client::Client;
use super::problem::Problem;

/// How often a list is asked for again because the server said meanwhile that it changed.
const AGAIN: usize = 3;

/// What a server offers, as it says it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// The tools in the server's order, each with every field.
    pub tools: Vec<Value>,
    /// How many pages they came in.
    pub pages: usize,
}

/// Asks for all pages.
pub(super) async fn tools(client: &Client) -> Result<Listing, Problem> {
    let mut listing = once(client).await?;
    for _ in 0..AGAIN {
        if !client.peer.list_changed() {
            break;
        }
        listing = once(client).await?;
    }
    Ok(listing)
}

async fn once(client: &Client) -> Result<Listing, Problem> {
    let limits = client.limits();
    let mut listing = Listing::default();
    let mut seen = BTreeSet::new();
    let mut cursor: Option<String> = None;
    loop {
        let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
        let mut page = client.request("tools/list", params, limits.list).await?;
        listing.pages += 1;
        match page.get_mut("tools").map(Value::take) {
            Some(Value::Array(tools)) => listing.tools.extend(tools),
            _ => return Err(Problem::Malformed("its answer to `tools/list` has no list `tools`".to_owned())),
        }
        if listing.tools.len() > limits.entries {
            return Err(Problem::Endless(format!("more than {} tools", limits.entries)));
        }
        cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        match &cursor {
            None => return Ok(listing),
            Some(_) if listing.pages >= limits.pages => {
                return Err(Problem::Endless(format!("more than {} pages", limits.pages)));
            }
            Some(cursor) if !seen.insert(cursor.clone()) => {
                return Err(Problem::Endless("a page leads back to an earlier one".to_owned()));
            }
            Some(_) => {}
        }
    }
}

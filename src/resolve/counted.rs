//! Which budget in things counts what a tool gives: one rule for the gateway, which cuts by it, and for `measure`.

use super::{CapSet, Catalogue};
use crate::model::composed::CountBudgetName;

/// The budget that is `declared` for a tool, else the one by what the tool covers; of a tool that is `limited` (a
/// parameter of it says how many) there always is one. A tool that runs programs may do anything, so that nothing is
/// counted of it.
pub fn counted(
    declared: Option<CountBudgetName>,
    limited: bool,
    covers: CapSet,
    catalogue: &Catalogue,
) -> Option<CountBudgetName> {
    let any = |is: &dyn Fn(&str) -> bool| covers.iter().any(|cap| is(catalogue.name(cap)));
    if declared.is_some() {
        return declared;
    }
    if limited {
        return Some(match () {
            () if any(&|cap| cap.starts_with("docs.") || cap.starts_with("memory.")) => {
                CountBudgetName::KnowledgeSearch
            }
            () if any(&|cap| cap.starts_with("browser.")) => CountBudgetName::BrowserLog,
            () => CountBudgetName::Search,
        });
    }
    match () {
        () if any(&|cap| matches!(cap, "shell.run" | "runtime.run")) => None,
        () if any(&|cap| matches!(cap, "docs.search" | "docs.exhaustive" | "memory.search")) => {
            Some(CountBudgetName::KnowledgeSearch)
        }
        () if any(&|cap| cap == "repo.search") => Some(CountBudgetName::Search),
        () if any(&|cap| cap == "repo.read") => Some(CountBudgetName::FileRead),
        () => None,
    }
}

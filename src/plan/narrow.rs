//! What narrows the tools a role keeps: how far a scope holds, and the ordered rules that hold it.

use indexmap::{IndexMap, IndexSet};

use crate::model::adapter::{Adapter, Claim, GlobDialect, Rules, Verdict};
use crate::model::capability::ScopeKind;
use crate::model::scalar::Guarantee;
use crate::resolve::CapId;
use crate::resolve::policy::{Policy, Role};

use super::commands;
use super::globs;
use super::ledger::{LimitedBy, Line};
use super::offer::{Tool, Word};
use super::role::{Planner, quoted};

/// One word of a list of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    /// The word.
    pub word: String,
    /// What happens to calls of its tools.
    pub said: Said,
}

/// What happens to the calls of a word's tools, in the host's spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// The same to each.
    Always(String),
    /// By what a tool is called with, in the order of the file.
    By(IndexMap<String, String>),
}

/// Globs that no grant of paths reaches: the policy's folders, and every file that a selected host takes as
/// instructions or configuration or that is rendered for it.
pub fn excluded(policy: &Policy, adapters: &[&Adapter]) -> Vec<String> {
    // A policy in the root itself has no folder to leave out: everything is.
    let folder = |f: &String| if f.is_empty() || f == "." { "**".to_owned() } else { format!("{f}/**") };
    let mut all: IndexSet<String> = policy.folders.iter().map(folder).collect();
    all.insert(".rolecast/**".to_owned());
    for adapter in adapters {
        all.extend(adapter.configuration.iter().cloned());
        let files = adapter.reads.iter().map(|r| &r.file).chain(adapter.carriers.iter().map(|c| &c.file));
        let files =
            files.chain(adapter.outputs.values().map(|o| &o.file)).chain(adapter.borrows.iter().map(|b| &b.file));
        all.extend(files.map(|f| f.replace("{rule}", "*").replace("{name}", "*")));
    }
    let folders: Vec<String> = all.iter().filter_map(|g| g.strip_suffix("**")).map(str::to_owned).collect();
    let covered = |g: &String| folders.iter().any(|f| g.starts_with(f.as_str()) && g.len() > f.len() + 2);
    all.into_iter().filter(|g| !covered(g)).collect()
}

impl Planner<'_> {
    pub(super) fn granted_by_name(&self, role: &Role, name: &str) -> bool {
        self.policy.catalogue.find(name).is_some_and(|cap| role.grants.contains_key(&cap))
    }

    /// The list of a role as ordered rules: everything denied, then the verdicts of the words that are kept.
    pub(super) fn permissions(&self, role: &Role, words: &[String]) -> Vec<Permission> {
        let Some(rules) = &self.list.rules else { return Vec::new() };
        let say = |verdict| rules.verdicts.spell(verdict).to_owned();
        let mut all = vec![Permission { word: rules.every.clone(), said: Said::Always(say(Verdict::Deny)) }];
        for word in words {
            let mut map = IndexMap::new();
            let found = self.offer.words.iter().find(|w| w.selector.word == *word);
            let dialect = found.and_then(|w| w.tools.iter().find_map(|t| self.patterns(&t.name)));
            match (found, dialect) {
                (Some(found), Some(dialect)) => self.by_path(role, found, dialect, rules, &mut map),
                // An allow here would take back what the session asks a person for.
                (Some(found), None) if found.tools.iter().any(|t| t.asks()) => {
                    last(&mut map, rules.every.clone(), say(Verdict::Ask));
                }
                _ => last(&mut map, rules.every.clone(), say(Verdict::Allow)),
            }
            for after in rules.after.iter().filter(|a| a.word == *word) {
                if !after.unless.as_ref().is_some_and(|cap| self.granted_by_name(role, cap)) {
                    last(&mut map, after.pattern.clone(), say(after.verdict));
                }
            }
            self.without_forbidden(word, rules, &mut map);
            let said = match map.first() {
                Some((_, verdict)) if map.len() == 1 => Said::Always(verdict.clone()),
                _ => Said::By(map),
            };
            all.push(Permission { word: word.clone(), said });
        }
        all
    }

    /// An allow of the whole word would open again what the session's own rules shut.
    fn without_forbidden(&self, word: &str, rules: &Rules, map: &mut IndexMap<String, String>) {
        for forbidden in &self.policy.settings.forbidden {
            let own = commands::rules(self.adapter, forbidden).and_then(|r| r.in_lists.as_ref());
            for pattern in own.filter(|l| l.word == word).iter().flat_map(|l| &l.patterns) {
                let pattern = pattern.replace("{command}", &forbidden.command());
                last(map, pattern, rules.verdicts.spell(Verdict::Deny).to_owned());
            }
        }
    }

    fn by_path(
        &self,
        role: &Role,
        word: &Word,
        dialect: GlobDialect,
        rules: &Rules,
        map: &mut IndexMap<String, String>,
    ) {
        let say = |verdict| rules.verdicts.spell(verdict).to_owned();
        let opened = self.opened(role, word.selector.covers);
        last(map, rules.every.clone(), say(if opened.all { Verdict::Allow } else { Verdict::Deny }));
        if !opened.all {
            for pattern in opened.globs.iter().flat_map(|g| globs::spell(dialect, g).patterns) {
                last(map, pattern, say(Verdict::Allow));
            }
        }
        if !self.granted_by_name(role, POLICY_EDIT) {
            for pattern in self.excluded.iter().flat_map(|g| globs::spell(dialect, g).patterns) {
                last(map, pattern, say(Verdict::Deny));
            }
        }
    }

    /// The guarantee of a scope is the weakest over all tools that confer the capability.
    pub(super) fn narrowed(
        &self,
        line: &mut Line,
        role: &Role,
        cap: CapId,
        kind: ScopeKind,
        tools: &[&Tool],
        what: &str,
    ) {
        let mut weakest: Option<&Claim> = None;
        let strength = |claim: &Claim| (claim.guarantee, claim.evidence.unwrap_or(self.adapter.evidence.by));
        let mut open: Vec<&str> = Vec::new();
        let mut wider: IndexSet<String> = IndexSet::new();
        for tool in tools {
            match self.narrow(kind, &tool.name) {
                Some(narrow) => {
                    if weakest.is_none_or(|w| strength(&narrow.claim) < strength(w)) {
                        weakest = Some(&narrow.claim);
                    }
                    wider.extend(self.wider(role, cap, tool));
                }
                None => open.push(&tool.name),
            }
        }
        match weakest.filter(|_| open.is_empty()) {
            Some(claim) if wider.is_empty() => {
                self.claimed(line, claim);
                let beside: IndexSet<String> = tools.iter().filter_map(|t| self.beside(role, cap, t)).collect();
                for more in claim.hole.iter().chain(&beside) {
                    line.reason = format!("{}; {more}", line.reason);
                }
            }
            Some(_) => {
                line.guarantee = Some(Guarantee::Advised);
                let wider: Vec<String> = wider.into_iter().collect();
                line.reason = format!("{}; {what} is only text in part: {}", line.reason, wider.join("; "));
            }
            None => {
                line.guarantee = Some(Guarantee::Advised);
                let which = if open.len() == tools.len() {
                    "it".to_owned()
                } else {
                    open.iter().map(|t| format!("`{t}`")).collect::<Vec<_>>().join(", ")
                };
                line.reason =
                    format!("{}; {what} is only text: nothing that is rendered here can narrow {which}", line.reason);
            }
        }
    }

    fn claimed(&self, line: &mut Line, claim: &Claim) {
        line.guarantee = Some(claim.guarantee);
        line.evidence = claim.evidence.unwrap_or(self.adapter.evidence.by);
        for condition in &claim.conditions {
            if !line.conditions.contains(condition) {
                line.conditions.push(condition.clone());
            }
        }
    }

    /// What the patterns that confine a tool let through beyond the scope of one capability, or beyond the exclusion
    /// when the grant has no scope.
    fn wider(&self, role: &Role, cap: CapId, tool: &Tool) -> Vec<String> {
        let Some(confine) = self.confine(tool) else { return Vec::new() };
        let Some(own) = role.grants.get(&cap).and_then(|scope| scope.paths.as_ref()) else {
            let left = self.left_open(role, &confine);
            return if left.is_empty() { left } else { vec![format!("{} cannot be left out here", few(&left))] };
        };
        let opened = self.opened(role, confine.covers);
        let what = &confine.what;
        if opened.all {
            return vec![format!("one rule serves {what}, and another grant opens every path")];
        }
        let mut all = Vec::new();
        let (mine, others): (Vec<&str>, Vec<&str>) = opened.globs.into_iter().partition(|g| own.iter().any(|o| o == g));
        let sayable = |g: &&str| !globs::spell(confine.dialect, g).patterns.is_empty();
        let others: Vec<&str> = others.into_iter().filter(sayable).collect();
        if !others.is_empty() {
            all.push(format!("one rule serves {what}, and other grants open {} too", ticked(&others)));
        }
        let inexact = |g: &&str| sayable(g) && !globs::spell(confine.dialect, g).exact;
        let inexact: Vec<&str> = mine.into_iter().filter(inexact).collect();
        if !inexact.is_empty() {
            all.push(format!("{} cannot be said exactly here, and more is open", ticked(&inexact)));
        }
        all
    }

    /// What is to be known of a scope that holds: what of it stays shut, and what of the exclusion stays open.
    fn beside(&self, role: &Role, cap: CapId, tool: &Tool) -> Option<String> {
        let confine = self.confine(tool)?;
        let own = role.grants.get(&cap).and_then(|scope| scope.paths.as_ref())?;
        let shut: Vec<&str> =
            own.iter().map(String::as_str).filter(|g| globs::spell(confine.dialect, g).patterns.is_empty()).collect();
        let left = self.left_open(role, &confine);
        let words = [
            (!shut.is_empty()).then(|| format!("{} cannot be opened here and stays shut", ticked(&shut))),
            (!left.is_empty()).then(|| format!("{} cannot be left out here", few(&left))),
        ];
        let words: Vec<String> = words.into_iter().flatten().collect();
        (!words.is_empty()).then(|| words.join("; "))
    }

    /// Why a grant opens nothing: none of its paths can be said where the tools for it are confined.
    pub(super) fn nothing_open(&self, role: &Role, cap: CapId, tools: &[&Tool]) -> Option<String> {
        let own = role.grants.get(&cap).and_then(|scope| scope.paths.as_ref())?;
        let shut = |t: &&Tool| {
            self.confine(t).is_some_and(|c| own.iter().all(|g| globs::spell(c.dialect, g).patterns.is_empty()))
        };
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        tools.iter().all(shut).then(|| format!("{} cannot be opened here and stays shut", ticked(&own)))
    }

    /// The claim that refuses a capability which is not granted although `tool` confers it, and by what.
    fn refused(&self, role: &Role, cap: CapId, tool: &Tool) -> Option<(&Claim, Option<LimitedBy>)> {
        let name = self.policy.catalogue.name(cap);
        let taken =
            self.list.rules.iter().flat_map(|r| &r.after).find(|a| {
                a.verdict == Verdict::Deny && a.unless.as_deref() == Some(name) && a.tools.contains(&tool.name)
            });
        if taken.is_some() {
            return Some((&self.list.claim, None));
        }
        let ours = name == POLICY_EDIT;
        let kind = if ours { Some(ScopeKind::Paths) } else { self.policy.catalogue.get(cap).scope }?;
        let narrow = self.narrow(kind, &tool.name)?;
        let held = match self.confine(tool) {
            Some(confine) if ours => self.left_open(role, &confine).is_empty(),
            Some(confine) => !self.opened(role, confine.covers).any(confine.dialect),
            None => true,
        };
        held.then_some((&narrow.claim, Some(LimitedBy::of(kind))))
    }

    /// A capability that is not granted and that a kept tool confers.
    pub(super) fn kept(&self, role: &Role, cap: CapId, tools: &[&Tool], mut line: Line) -> Line {
        let claims: Vec<_> = tools.iter().filter_map(|t| self.refused(role, cap, t)).collect();
        match claims.iter().min_by_key(|(c, _)| c.guarantee).filter(|_| claims.len() == tools.len()) {
            Some((claim, by)) => {
                self.claimed(&mut line, claim);
                line.limited_by = *by;
                line.reason = format!("not granted; {} confers it and is refused", quoted(tools));
                if let Some(hole) = &claim.hole {
                    line.reason = format!("{}; {hole}", line.reason);
                }
            }
            None => {
                line.guarantee = Some(Guarantee::Advised);
                line.reason = format!("not granted, but {} confers it; only text forbids it", quoted(tools));
                let scoped: Option<IndexSet<&str>> =
                    tools.iter().map(|t| self.confined(role, cap, t)).try_fold(IndexSet::new(), |mut all, globs| {
                        all.extend(globs?);
                        Some(all)
                    });
                if let Some(globs) = scoped {
                    let globs: Vec<&str> = globs.into_iter().collect();
                    line.reason.push_str(&format!(" in {}, and elsewhere it is refused", ticked(&globs)));
                }
            }
        }
        line
    }

    /// The globs that a tool is confined to, when patterns confine it.
    fn confined<'r>(&self, role: &'r Role, cap: CapId, tool: &Tool) -> Option<IndexSet<&'r str>> {
        let confine = self.confine(tool)?;
        let opened = self.opened(role, confine.covers);
        let by_path = self.policy.catalogue.get(cap).scope == Some(ScopeKind::Paths)
            || self.policy.catalogue.name(cap) == POLICY_EDIT;
        let sayable = |g: &&str| !globs::spell(confine.dialect, g).patterns.is_empty();
        (by_path && !opened.all).then(|| opened.globs.into_iter().filter(sayable).collect())
    }
}

/// Only this grant reaches the policy and what is rendered from it.
pub(super) const POLICY_EDIT: &str = "policy.edit";

/// Adds a rule behind all others; of two with one pattern only the last could ever decide.
fn last(map: &mut IndexMap<String, String>, pattern: String, verdict: String) {
    map.shift_remove(&pattern);
    map.insert(pattern, verdict);
}

pub(super) fn ticked(words: &[impl AsRef<str>]) -> String {
    words.iter().map(|w| format!("`{}`", w.as_ref())).collect::<Vec<_>>().join(", ")
}

/// As [`ticked`], the first two.
fn few(words: &[String]) -> String {
    match words {
        [first, second, _, ..] => format!("`{first}`, `{second}` and {} more", words.len() - 2),
        _ => ticked(words),
    }
}

//! Budgets beside that of a result's bytes: results of searches, lines of files, entries of logs, bytes of delegation
//! packets and of media. Which budget counts a tool is the rule of the gateway ([`crate::resolve::counted`]).

use super::event::{At, Call, Media, Things};
use super::found::Found;
use super::judge::{Judge, Tool};
use super::skim;
use super::spread::Spread;
use crate::guard::packet;
use crate::model::composed::CountBudgetName;
use crate::text::entries::entries;

/// The budgets that are counted here, with what they are counted in.
pub const MEASURED: &[(&str, &str)] = &[
    ("search", "results"),
    ("file-read", "lines"),
    ("knowledge-search", "results"),
    ("browser-log", "entries"),
    (PACKET, "bytes"),
    (MEDIA, "bytes"),
];
/// Bytes of the prompt that starts an agent.
pub const PACKET: &str = "delegation-packet";
/// Decoded bytes of a picture or other media.
pub const MEDIA: &str = "inline-media";

/// What was spent of one budget.
#[derive(Debug, Clone, Default)]
pub struct Spent {
    /// What was counted, in the unit of the budget.
    pub amounts: Spread,
    /// Of these, such that may have been more: the log was not kept whole.
    pub at_least: u64,
    /// What could not be counted.
    pub unknown: u64,
    /// Over the target.
    pub over_target: Found,
    /// Over the limit.
    pub over_limit: Found,
    /// Of those over the target, packets that say why.
    pub reasoned: u64,
}

/// An amount, of which the log may have only a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amount {
    /// How many.
    pub count: u64,
    /// It may have been more.
    pub at_least: bool,
}

/// What one event cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// The budget.
    pub budget: &'static str,
    /// How much; `None` = that cannot be counted.
    pub amount: Option<Amount>,
    /// More than the target; `None` = not known, or there is none.
    pub over_target: Option<bool>,
    /// More than the limit; `None` = not known, or there is none.
    pub over_limit: Option<bool>,
    /// A packet that says why it is over its target; `None` = no packet, or not known.
    pub reasoned: Option<bool>,
}

impl Spent {
    /// Adds another count.
    pub fn join(&mut self, other: &Self) {
        self.amounts.join(&other.amounts);
        self.at_least += other.at_least;
        self.unknown += other.unknown;
        self.over_target.join(&other.over_target);
        self.over_limit.join(&other.over_limit);
        self.reasoned += other.reasoned;
    }

    /// Counts what an event cost.
    pub fn add(&mut self, at: At, label: &str, charge: &Charge) {
        let Some(amount) = charge.amount else {
            self.unknown += 1;
            return;
        };
        self.amounts.add(amount.count);
        self.at_least += u64::from(amount.at_least);
        let what = || {
            let unit = MEASURED.iter().find(|(name, _)| *name == charge.budget).map_or("", |(_, unit)| unit);
            let least = if amount.at_least { "at least " } else { "" };
            let reason = match charge.reasoned {
                Some(true) => ", and says why",
                Some(false) if charge.over_target == Some(true) => ", without a reason",
                _ => "",
            };
            format!("{label}: {least}{} {unit}{reason}", amount.count)
        };
        if charge.over_target == Some(true) {
            self.over_target.add(at, what);
            self.reasoned += u64::from(charge.reasoned == Some(true));
        }
        if charge.over_limit == Some(true) {
            self.over_limit.add(at, what);
        }
    }
}

impl Amount {
    const fn whole(count: u64) -> Self {
        Self { count, at_least: false }
    }

    fn over(self, figure: Option<u64>) -> Option<bool> {
        let figure = figure?;
        match self.count > figure {
            true => Some(true),
            false if self.at_least => None,
            false => Some(false),
        }
    }
}

fn charge(judge: &Judge<'_>, budget: &'static str, amount: Option<Amount>) -> Charge {
    let figure = |which: &str| judge.policy.settings.budgets.get(budget).and_then(|b| b.figure(which));
    let over = |which: &str| amount.and_then(|amount| amount.over(figure(which)));
    Charge { budget, amount, over_target: over("target"), over_limit: over("limit"), reasoned: None }
}

/// What a call costs that starts an agent.
pub fn packet(judge: &Judge<'_>, tool: &Tool<'_>, call: &Call) -> Option<Charge> {
    let prompt = call.arguments.as_ref().or(call.cut.as_ref()).and_then(|given| given.get(tool.prompt?)?.as_str());
    tool.prompt?;
    let mut charge = charge(judge, PACKET, prompt.map(|prompt| Amount::whole(skim::bytes(prompt))));
    charge.reasoned = prompt.and_then(|prompt| {
        let (kept, whole) = skim::kept(prompt);
        let says = packet::reasoned(kept);
        // The line may stand in what was not kept.
        (says || whole).then_some(says)
    });
    Some(charge)
}

/// What a result costs; what a script's call gave is not what the model was given.
pub fn result(judge: &Judge<'_>, tool: &Tool<'_>, things: Option<&Things>) -> Option<Charge> {
    let budget = tool.budget?;
    let amount = things.and_then(|things| amount(budget, tool.server.is_none(), things));
    Some(charge(judge, budget.key(), amount))
}

/// What media cost that the model was sent; `None` = it was not, or the log does not say.
pub fn media(judge: &Judge<'_>, media: &Media) -> Option<Charge> {
    let sent = media.inline?.then_some(media.base64)?;
    // The gateway's own log counts them and has no sizes.
    let decoded = (sent > 0).then_some(Amount::whole(sent / 4 * 3));
    Some(charge(judge, MEDIA, decoded))
}

/// How many things a result has. Of a text by a server nobody knows what is a result; a host's own search gives one a
/// line, and what it puts around them counts too.
fn amount(budget: CountBudgetName, own: bool, things: &Things) -> Option<Amount> {
    let lines = Amount { count: things.lines, at_least: !things.whole };
    if budget == CountBudgetName::FileRead {
        return Some(lines);
    }
    if things.blocks > 1 {
        return Some(Amount::whole(things.blocks));
    }
    let list = things.json.as_deref().and_then(entries).map(|count| Amount::whole(count as u64));
    list.or_else(|| (budget == CountBudgetName::BrowserLog || own).then_some(lines))
}

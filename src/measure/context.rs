//! The context of one agent: how it grew, which thresholds it crossed, and whether its compactions were needed.
//!
//! A compaction is avoidable when the context would have stayed at or below a size that did not lead to one before.
//! What the context grew by from one request to the next, without what the model itself wrote, is shared among the
//! results in between by their bytes; the shares of what is over the limit and of inline media are the waste. So no
//! number of bytes to a token is assumed.

use super::event::{At, Compaction, Request};

/// Points of the curve that are kept; then every second one goes.
const POINTS: usize = 256;

/// How the context of an agent went.
#[derive(Debug, Default)]
pub struct Context {
    /// Tokens of the window, where the log has it.
    pub window: Option<u64>,
    /// Requests.
    pub requests: u64,
    /// Requests whose context the log does not have.
    pub unknown: u64,
    /// The first request, with its place.
    pub first: Option<(At, Request)>,
    /// Least and most tokens of a request.
    pub range: Option<(u64, u64)>,
    /// Tokens of the last request.
    pub last: Option<u64>,
    /// All output, where recorded.
    pub output: Option<u64>,
    /// Number of the request, and its tokens.
    pub curve: Vec<(u64, u64)>,
    /// Thresholds that were crossed.
    pub crossed: Vec<Crossed>,
    /// Compactions.
    pub compactions: Vec<Compacted>,
    /// After which request another agent was started; the first of them.
    pub spawns: Vec<u64>,
    every: u64,
    last_output: u64,
    since: (u64, u64),
    waste: u64,
    /// Tokens of the request before the last.
    previous: Option<u64>,
    /// The largest context since the last compaction, without these two.
    quiet: Option<u64>,
}

/// A threshold that was crossed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crossed {
    /// Its name in the policy.
    pub name: &'static str,
    /// Percent of the window.
    pub percent: u8,
    /// Tokens of the request that did.
    pub tokens: u64,
    /// Where.
    pub at: At,
}

/// A compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compacted {
    /// Where.
    pub at: At,
    /// After which request.
    pub request: u64,
    /// Tokens before: as the host says, else of the last request.
    pub before: Option<u64>,
    /// Tokens afterwards: as the host says, else of the next request.
    pub after: Option<u64>,
    /// Whether the host did it by itself.
    pub automatic: Option<bool>,
    /// Tokens of it that results over the limit and inline media brought.
    pub waste: u64,
    /// The largest context before that led to none.
    pub quiet: Option<u64>,
}

impl Compacted {
    /// Whether it would not have been without the waste, and `inherited` tokens of copied history. `None` = cannot be
    /// told from the log; one that a person asked for is never avoidable.
    pub fn avoidable(&self, inherited: u64) -> Option<bool> {
        let waste = self.waste.saturating_add(inherited);
        if self.automatic == Some(false) || waste == 0 {
            return Some(false);
        }
        let (before, quiet) = (self.before?, self.quiet.unwrap_or(0));
        Some(before.saturating_sub(waste) <= quiet)
    }
}

impl Context {
    /// Takes a request. `thresholds` are names and percents.
    pub fn request(&mut self, at: At, request: &Request, thresholds: impl Iterator<Item = (&'static str, u8)>) {
        self.requests += 1;
        self.first.get_or_insert((at, *request));
        if let Some(output) = request.output {
            self.output = Some(self.output.unwrap_or(0).saturating_add(output));
        }
        let Some(tokens) = request.context else {
            self.unknown += 1;
            return;
        };
        let grown = tokens.saturating_sub(self.last.unwrap_or(tokens)).saturating_sub(self.last_output);
        if let (all @ 1.., wasted) = self.since {
            let wasted = u64::try_from(u128::from(grown) * u128::from(wasted) / u128::from(all)).unwrap_or(0);
            self.waste = self.waste.saturating_add(wasted);
        }
        self.since = (0, 0);
        if let Some(compacted) = self.compactions.last_mut() {
            compacted.after.get_or_insert(tokens);
        }
        self.cross(at, tokens, thresholds);
        self.quiet = self.quiet.max(self.previous);
        self.previous = self.last;
        self.last = Some(tokens);
        self.last_output = request.output.unwrap_or(0);
        self.range = Some(self.range.map_or((tokens, tokens), |(least, most)| (least.min(tokens), most.max(tokens))));
        self.point(tokens);
    }

    fn cross(&mut self, at: At, tokens: u64, thresholds: impl Iterator<Item = (&'static str, u8)>) {
        let Some(window) = self.window else { return };
        let before = self.last.unwrap_or(0);
        for (name, percent) in thresholds {
            let over = |tokens: u64| u128::from(tokens) * 100 >= u128::from(window) * u128::from(percent);
            if over(tokens) && !over(before) {
                self.crossed.push(Crossed { name, percent, tokens, at });
            }
        }
    }

    fn point(&mut self, tokens: u64) {
        let every = self.every.max(1);
        if self.requests.is_multiple_of(every) {
            self.curve.push((self.requests, tokens));
        }
        if self.curve.len() > POINTS {
            self.every = every * 2;
            let every = self.every;
            self.curve.retain(|(request, _)| request.is_multiple_of(every));
        }
    }

    /// Text or media of a result went into the context; of `bytes`, `wasted` were too much.
    pub fn text(&mut self, bytes: u64, wasted: u64) {
        self.since.0 = self.since.0.saturating_add(bytes);
        self.since.1 = self.since.1.saturating_add(wasted);
    }

    /// Another agent was started.
    pub fn spawn(&mut self) {
        if self.spawns.len() < POINTS {
            self.spawns.push(self.requests);
        }
    }

    /// Takes a compaction.
    pub fn compaction(&mut self, at: At, compaction: &Compaction) {
        // Where the request that wrote the summary is recorded too, it was not what led to the compaction.
        let (led, quiet) = match compaction.own_request {
            true => (self.previous.max(self.last), self.quiet),
            false => (self.last, self.quiet.max(self.previous)),
        };
        self.compactions.push(Compacted {
            at,
            request: self.requests,
            before: compaction.before.or(led),
            after: compaction.after,
            automatic: compaction.automatic,
            waste: std::mem::take(&mut self.waste),
            quiet,
        });
        (self.last, self.previous, self.quiet) = (None, None, None);
        self.last_output = 0;
        self.since = (0, 0);
    }
}

//! The geometry of a curve of the context, in units of the picture.

use serde::Serialize;

use crate::cli::explain::layout::number;
use crate::measure::context::Context;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 220.0;
/// Room for labels: left, right, above, below.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 150.0;
const ABOVE: f64 = 30.0;
const BELOW: f64 = 28.0;
/// With more points than these, none is marked.
const MARKED: usize = 48;
/// Labels of the axis keep this distance.
const APART: f64 = 13.0;

/// A curve.
#[derive(Debug, Serialize)]
pub struct Chart {
    /// What a reader who does not see it is told.
    pub words: String,
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    line: String,
    points: Vec<(f64, f64)>,
    scale: Vec<Label>,
    thresholds: Vec<Label>,
    requests: Vec<Label>,
    compactions: Vec<Label>,
    spawns: Vec<(f64, f64)>,
    /// The numbers themselves.
    pub numbers: Vec<(String, String)>,
}

#[derive(Debug, Serialize)]
struct Label {
    at: f64,
    text: String,
}

impl Chart {
    /// Of an agent; `most` tokens are at the top, the same for all agents of a session. `thresholds` are names and
    /// percents. `None` = no request has a recorded context.
    pub fn new(context: &Context, most: u64, thresholds: &[(&str, u8)]) -> Option<Self> {
        let (first, last) = (context.curve.first()?, context.curve.last()?);
        let requests = context.requests.max(2);
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BELOW);
        let x = |request: u64| round(LEFT + (right - LEFT) * share(request.max(1) - 1, requests - 1));
        let y = |tokens: u64| round(bottom - (bottom - ABOVE) * share(tokens, most));
        let label = |at: f64, text: String| Label { at, text };
        let points: Vec<(f64, f64)> = context.curve.iter().map(|(n, tokens)| (x(*n), y(*tokens))).collect();
        let line: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
        let mut lines: Vec<Label> = Vec::new();
        if let Some((window, _)) = context.window {
            let of = |percent: u8| window * u64::from(percent) / 100;
            lines.extend(thresholds.iter().map(|(name, p)| label(y(of(*p)), format!("{p} % {name}"))));
            lines.push(label(y(window), "window".to_owned()));
        }
        let on_curve = |request: &u64| {
            let near = context.curve.iter().rev().find(|(n, _)| n <= request).unwrap_or(first);
            (x(*request), y(near.1))
        };
        let compacted = context.compactions.iter().map(|c| {
            let tokens = |n: Option<u64>| n.map_or_else(|| "?".to_owned(), number);
            label(x(c.request), format!("{} → {}", tokens(c.before), tokens(c.after)))
        });
        let compactions: Vec<Label> = compacted.collect();
        let times = |n: usize, one: &str| if n == 1 { format!("one {one}") } else { format!("{n} {one}s") };
        let words = format!(
            "Input tokens of {} requests, from {} to {}, at most {}; {}; {}.",
            number(context.requests),
            number(first.1),
            number(last.1),
            number(context.range.map_or(last.1, |r| r.1)),
            times(compactions.len(), "compaction"),
            times(context.spawns.len(), "sub-agent") + " started",
        );
        Some(Self {
            words,
            width: WIDTH,
            height: HEIGHT,
            left: LEFT,
            right,
            top: ABOVE,
            bottom,
            line: line.join(" "),
            points: if points.len() <= MARKED { points } else { Vec::new() },
            scale: [0, 1, 2, 3, 4].map(|n| label(y(most * n / 4), number(most * n / 4))).into(),
            thresholds: apart(lines),
            requests: vec![label(x(1), "1".to_owned()), label(x(requests), number(requests))],
            compactions,
            spawns: context.spawns.iter().map(on_curve).collect(),
            numbers: context.curve.iter().map(|(n, tokens)| (number(*n), number(*tokens))).collect(),
        })
    }
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn round(n: f64) -> f64 {
    (n * 10.0).round() / 10.0
}

/// Without those whose words would lie on the words of another.
fn apart(labels: Vec<Label>) -> Vec<Label> {
    let mut kept: Vec<Label> = Vec::new();
    for mut label in labels {
        if kept.iter().any(|k| (k.at - label.at).abs() < APART) {
            label.text.clear();
        }
        kept.push(label);
    }
    kept
}

//! Asking the servers, several at a time: what one does never hides another.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::Answer;
use super::contract::Contract;
use crate::mcp::{Client, Failed, Launch, Limits, Problem};
use crate::process::Interrupt;

/// Servers that run at the same time.
const AT_ONCE: usize = 4;

/// A server to ask: its name, how it is reached or why it cannot be, and how long it may take.
pub struct Asked {
    /// Its name.
    pub name: String,
    /// The way.
    pub launch: Result<Launch, Problem>,
    /// Bounds.
    pub limits: Limits,
}

/// Asks all; the answers in the order of the questions. `None` when a person interrupted: everything that was
/// started is ended.
pub async fn all(asked: Vec<Asked>, said: &mut dyn FnMut(&str)) -> Option<Vec<Answer>> {
    let mut interrupt = Interrupt::listen();
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = JoinSet::new();
    for (at, one) in asked.into_iter().enumerate() {
        let places = Arc::clone(&places);
        running.spawn(async move {
            // The semaphore is never closed.
            let _place = places.acquire_owned().await;
            let name = one.name.clone();
            (at, name, ask(one).await)
        });
    }
    let mut answers = Vec::new();
    loop {
        tokio::select! {
            () = interrupt.wait() => {
                running.shutdown().await;
                return None;
            }
            next = running.join_next() => match next {
                Some(Ok((at, name, answer))) => {
                    said(&match &answer {
                        Ok(contract) => format!("{name}: {} tools", contract.tools.len()),
                        Err(failed) => format!("{name}: {}", failed.problem),
                    });
                    answers.push((at, name, answer));
                }
                Some(Err(_)) => {}
                None => break,
            },
        }
    }
    answers.sort_by_key(|(at, ..)| *at);
    Some(answers.into_iter().map(|(_, name, answer)| (name, answer)).collect())
}

async fn ask(asked: Asked) -> Result<Contract, Failed> {
    let client = Client::open(&asked.launch?, asked.limits).await?;
    let listing = match client.tools().await {
        Ok(listing) => listing,
        Err(problem) => return Err(client.failed(problem).await),
    };
    match Contract::new(&asked.name, client.welcome(), listing.tools) {
        Ok(mut contract) => {
            contract.noise = client.noise();
            client.close().await;
            Ok(contract)
        }
        Err(what) => Err(client.failed(Problem::Malformed(what)).await),
    }
}

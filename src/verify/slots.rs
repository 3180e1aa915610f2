//! How many programs run at the same time: they wait more than they work, but each takes hundreds of megabytes.

use std::thread::available_parallelism;

use tokio::sync::Semaphore;

use super::Problem;

/// Most programs at the same time, on whatever machine.
const MOST: usize = 4;

/// Turns for runs.
#[derive(Debug)]
pub struct Slots(Semaphore);

impl Slots {
    /// As many as this machine has processors, and one more for those that wait.
    pub fn here() -> Self {
        let processors = available_parallelism().map_or(1, usize::from);
        Self(Semaphore::new((processors + 1).min(MOST)))
    }

    /// Does something when it is its turn.
    pub async fn one<T>(&self, run: impl Future<Output = T>) -> T {
        // It is never closed: without a turn it would run all the same.
        let _turn = self.0.acquire().await;
        run.await
    }
}

/// Waits for all of them, also when one fails: what they started is ended by them. The results, or the first
/// failure, are in the order in which they were given.
///
/// # Errors
/// One failed.
pub async fn all<T>(
    runs: impl IntoIterator<Item = impl Future<Output = Result<T, Problem>>>,
) -> Result<Vec<T>, Problem> {
    futures_util::future::join_all(runs).await.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use super::*;

    #[test]
    fn no_more_run_at_once_than_there_are_turns_and_results_keep_their_order() {
        let (slots, now, most) = (Slots(Semaphore::new(2)), Cell::new(0), Cell::new(0));
        let run = async |number: u64| {
            now.set(now.get() + 1);
            most.set(most.get().max(now.get()));
            // The first ones end last.
            tokio::time::sleep(Duration::from_millis(50 - 10 * number)).await;
            now.set(now.get() - 1);
            if number == 9 { Err(Problem::Interrupted) } else { Ok(number) }
        };
        let runtime = crate::verify::runtime().unwrap();
        let told = runtime.block_on(all((0..5).map(|number| slots.one(run(number)))));
        assert_eq!((told.unwrap(), most.get(), now.get()), (vec![0, 1, 2, 3, 4], 2, 0));
    }
}

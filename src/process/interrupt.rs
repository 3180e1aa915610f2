//! A person who interrupts.

use tokio::sync::watch;

/// Tells whether a person interrupted; made once, so that no interrupt between two runs is lost.
#[derive(Debug, Clone)]
pub struct Interrupt(watch::Receiver<bool>);

impl Interrupt {
    /// Starts to listen.
    pub fn listen() -> Self {
        let (sender, receiver) = watch::channel(false);
        tokio::spawn(async move {
            signalled().await;
            let _ = sender.send(true);
            // Keeps the channel open: a closed one would look like an interrupt.
            sender.closed().await;
        });
        Self(receiver)
    }

    /// Whether it happened.
    pub fn happened(&self) -> bool {
        *self.0.borrow()
    }

    /// Until it happens.
    pub async fn wait(&mut self) {
        if self.0.wait_for(|stop| *stop).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(unix)]
async fn signalled() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut term), Ok(mut hang)) = (signal(SignalKind::terminate()), signal(SignalKind::hangup())) else {
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = term.recv() => {}
        _ = hang.recv() => {}
    }
}

#[cfg(not(unix))]
async fn signalled() {
    let _ = tokio::signal::ctrl_c().await;
}

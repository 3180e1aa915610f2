//! What a host hears of one call of its own, in the words of the protocol.
#![expect(deprecated, reason = "the newer era has no messages for a log; hosts of the older have")]

use rmcp::RoleServer;
use rmcp::model::{
    LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken, ProtocolVersion,
};
use rmcp::service::{Peer, RequestContext};

use super::told::{Level, News};

const LEVELS: [LoggingLevel; 8] = [
    LoggingLevel::Debug,
    LoggingLevel::Info,
    LoggingLevel::Notice,
    LoggingLevel::Warning,
    LoggingLevel::Error,
    LoggingLevel::Critical,
    LoggingLevel::Alert,
    LoggingLevel::Emergency,
];

/// The way to the host, for one call.
pub struct Voice {
    peer: Peer<RoleServer>,
    /// By which the host knows its call; none when it does not want to hear of it.
    token: Option<ProgressToken>,
    /// From which level on it wants messages for a log; none when it wants none.
    level: Option<Level>,
}

impl Voice {
    /// What a request wants to hear. `session` = the level that counts for requests of the older era; in the newer each
    /// names its own, or wants none.
    pub fn of(context: &RequestContext<RoleServer>, session: Level) -> Self {
        let newer = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let own = context.meta.log_level().map(|level| Level::at(level as usize));
        let level = if newer { own } else { Some(session) };
        Self { peer: context.peer.clone(), token: context.meta.get_progress_token(), level }
    }

    /// Whether the host wants to know how far its call is.
    pub const fn tells_progress(&self) -> bool {
        self.token.is_some()
    }

    /// Tells the host, when it wants to hear it. A host that is gone hears nothing.
    pub async fn tell(&self, news: News) {
        match news {
            News::Progress { done, total, message } => {
                let Some(token) = self.token.clone() else { return };
                let mut param = ProgressNotificationParam::new(token, done);
                (param.total, param.message) = (total, message);
                let _ = self.peer.notify_progress(param).await;
            }
            News::Message { level, logger, data } => {
                if self.level.is_some_and(|least| level >= least) {
                    let param = LoggingMessageNotificationParam::new(LEVELS[level.place()], data).with_logger(logger);
                    let _ = self.peer.notify_logging_message(param).await;
                }
            }
        }
    }
}

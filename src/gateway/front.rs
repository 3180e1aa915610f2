//! The side of the host: the official SDK, tools only. It speaks both eras of the protocol. What servers say while they work
//! goes to the host as it wants it: progress of a call that carries a token, and messages for a log from a level on that
//! the session (older era) or the request (newer) names.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation, ListToolsResult,
    MetaObject, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{QuitReason, RequestContext};
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

use super::compose::Exposed;
use super::heard::Voice;
use super::session::{Answer, Session};
use super::told::Level;
use super::upstream::Listener;
use crate::process::Interrupt;

/// How long servers may take to end.
const GRACE: Duration = Duration::from_secs(5);

/// What may wait to be passed on; more is lost.
const NEWS: usize = 64;

struct Front {
    session: Arc<Session>,
    tools: Vec<Tool>,
    /// From which level on the session wants messages for a log, by its place.
    level: AtomicUsize,
}

/// Answers until the host is gone or a person interrupts; then ends every server.
///
/// # Errors
/// The host does not speak the protocol.
pub async fn serve(
    session: Arc<Session>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), String> {
    let mut interrupt = Interrupt::listen();
    let tools = session.tools().iter().map(shown).collect();
    let front = Front { session: Arc::clone(&session), tools, level: AtomicUsize::new(Level::USUAL.place()) };
    let answering = async {
        let running = front.serve((input, output)).await.map_err(|error| error.to_string())?;
        match running.waiting().await {
            Ok(QuitReason::JoinError(error)) | Err(error) => Err(error.to_string()),
            Ok(_) => Ok(()),
        }
    };
    let ended = tokio::select! {
        ended = answering => ended,
        () = interrupt.wait() => Ok(()),
    };
    let _ = tokio::time::timeout(GRACE, session.close()).await;
    ended
}

fn shown(tool: &Exposed) -> Tool {
    let hints = tool.hints;
    let mut shown = Tool::new(tool.name.clone(), tool.description.clone(), Arc::new(tool.input_schema.clone()));
    let (read_only, destructive) = (Some(hints.read_only), Some(hints.destructive));
    let (idempotent, open_world) = (Some(hints.idempotent), Some(hints.open_world));
    shown.annotations = Some(ToolAnnotations::from_raw(None, read_only, destructive, idempotent, open_world));
    shown
}

impl ServerHandler for Front {
    #[expect(deprecated, reason = "the newer era has no messages for a log; hosts of the older have")]
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_logging().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("rolecast", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    #[expect(deprecated, reason = "the newer era has no messages for a log; hosts of the older have")]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let level = Level::at(request.level as usize);
        self.level.store(level.place(), Ordering::Relaxed);
        self.session.log_from(level).await;
        Ok(())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = request.arguments.unwrap_or_default();
        let stop = context.ct.clone();
        let voice = Voice::of(&context, Level::at(self.level.load(Ordering::Relaxed)));
        let (to, mut news) = mpsc::channel(NEWS);
        let listener = Listener { progress: voice.tells_progress(), to };
        let stopped = async move { stop.cancelled().await };
        let mut calling = pin!(self.session.call(&request.name, given, stopped, Some(&listener)));
        let answer = loop {
            tokio::select! {
                biased;
                Some(one) = news.recv() => voice.tell(one).await,
                answer = &mut calling => break answer,
            }
        };
        // What was said before the answer goes out before it.
        while let Ok(one) = news.try_recv() {
            voice.tell(one).await;
        }
        let Some(answer) = answer else {
            let name: String = request.name.chars().take(80).collect();
            return Err(ErrorData::invalid_params(format!("there is no tool `{}`", name.escape_debug()), None));
        };
        Ok(result(answer).into())
    }
}

/// An answer in the types of the SDK; all fields are ours, so that none is lost.
fn result(answer: Answer) -> CallToolResult {
    let content = answer.content.into_iter().map(|block| {
        let text = block.to_string();
        // A block of a kind that the SDK does not know is still shown.
        serde_json::from_value(block).unwrap_or_else(|_| ContentBlock::text(text))
    });
    let content = content.collect();
    let mut result = if answer.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    if !answer.meta.is_empty() {
        result.meta = Some(MetaObject(answer.meta));
    }
    result
}

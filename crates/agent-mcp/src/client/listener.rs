//! The client's side of what a server says and asks by itself.

use super::input::{self, Asks, Way};
use super::wire::{Calls, Said, Told, listed};
use crate::ask::Reply;
use rmcp::ErrorData;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationCapability, Implementation,
    ProgressNotificationParam, RootsCapabilities,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{Semaphore, mpsc, oneshot};

/// What a server says by itself, and what it may ask for: whether somebody is there, where a program works, and something of a person.
/// It is given no answer of a model (sampling is refused as a method that is not known). That it may ask is said wherever it runs, also
/// where nobody is there: some servers have other tools otherwise, and what was trusted would not be what is used.
pub(super) struct Listener {
    pub(super) said: mpsc::Sender<Said>,
    pub(super) calls: Arc<Calls>,
    pub(super) roots: Arc<[PathBuf]>,
    pub(super) told: Told,
    pub(super) asking: Arc<Asking>,
}

/// How many requests of a server may wait for a person at once; more are declined.
pub(super) struct Asking(Semaphore);

impl Default for Asking {
    fn default() -> Self {
        Self(Semaphore::new(MOST_ASKING))
    }
}

impl rmcp::ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let program = Implementation::new("agent", env!("CARGO_PKG_VERSION"));
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation =
            Some(ElicitationCapability::new().with_form(Default::default()).with_url(Default::default()));
        capabilities.roots = (!self.roots.is_empty()).then(RootsCapabilities::default);
        ClientConfig::new(capabilities, program)
    }

    #[expect(deprecated, reason = "servers of the protocol before 2026 ask for it")]
    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<rmcp::model::ListRootsResult, ErrorData> {
        Ok(rmcp::model::ListRootsResult::new(listed(&self.roots)))
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ask =
            input::ask(&params, &|text| self.told.clean(text)).map_err(|why| ErrorData::invalid_params(why, None))?;
        let said = match self.asking.0.try_acquire() {
            Ok(_asking) => {
                let (reply, replied) = oneshot::channel();
                let (each, gone) = (vec![(String::new(), ask)], context.ct.clone());
                let asks = Said::Asks(Asks { each, way: Way::Answer { reply, gone } });
                match self.said.send(asks).await {
                    Ok(()) => replied.await.unwrap_or(Reply::Cancel),
                    // Nobody listens.
                    Err(_) => Reply::Decline,
                }
            }
            Err(_) => Reply::Decline,
        };
        serde_json::from_value(said.into_value()).map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        let _ = self.said.try_send(Said::ListChanged);
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let ticket = self.calls.of(&params.progress_token);
        if let Some(ticket) = ticket {
            let told = params.message.or_else(|| {
                let total = params.total.map(|total| format!(" of {total}")).unwrap_or_default();
                Some(format!("{}{total}", params.progress))
            });
            // What finds no room says nothing that the next one does not say.
            let _ = self.said.try_send(Said::Progress { ticket, told });
        }
    }
}

const MOST_ASKING: usize = 16;

//! A scripted model on a runtime of its own, so that tests can be plain functions.

use agent_testkit::http::{RecordedRequest, ScriptedServer, Step};
use serde_json::Value;
use std::sync::Arc;

/// A wire format, as `--provider` names it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wire {
    Anthropic,
    OpenAi,
    OpenAiResponses,
}

pub(crate) struct Model {
    server: Arc<ScriptedServer>,
    /// Dropping it ends the server's thread.
    _stop: tokio::sync::oneshot::Sender<()>,
}

impl Model {
    pub(crate) fn script(steps: impl IntoIterator<Item = Step>) -> Self {
        let steps: Vec<Step> = steps.into_iter().collect();
        Self::serve(async move { ScriptedServer::start(steps).await.unwrap() })
    }

    /// Does this with every request.
    pub(crate) fn always(step: Step) -> Self {
        Self::serve(async move { ScriptedServer::start_with(move |_| step.clone()).await.unwrap() })
    }

    fn serve(start: impl Future<Output = ScriptedServer> + Send + 'static) -> Self {
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let (sender, started) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                sender.send(Arc::new(start.await)).unwrap();
                let _ = stopped.await;
            });
        });
        Self { server: started.recv().unwrap(), _stop: stop }
    }

    /// The flags that lead to this model.
    pub(crate) fn flags(&self, wire: Wire) -> Vec<String> {
        let (provider, url) = match wire {
            Wire::Anthropic => ("anthropic", self.server.url()),
            Wire::OpenAi => ("openai", self.server.openai_url()),
            Wire::OpenAiResponses => ("openai-responses", self.server.openai_url()),
        };
        ["--provider", provider, "--base-url", &url, "--model", "scripted-model"].map(String::from).to_vec()
    }

    /// Flags that lead there by an address that does not say that it is on this machine: nothing is known of its prices.
    pub(crate) fn elsewhere(&self, wire: Wire) -> Vec<String> {
        let flags = self.flags(wire).into_iter().map(|flag| flag.replace("//127.0.0.1:", "//0.0.0.0:"));
        flags.chain(["--api-key-env", "-"].map(String::from)).collect()
    }

    pub(crate) fn server(&self) -> &ScriptedServer {
        &self.server
    }

    pub(crate) fn wait_for_requests(&self, count: usize) {
        super::eventually("a request", || self.server.requests().len() >= count);
    }

    pub(crate) fn requests(&self) -> Vec<RecordedRequest> {
        self.server.requests()
    }

    /// The body of the last request.
    pub(crate) fn last_body(&self) -> Value {
        self.requests().pop().unwrap().body
    }

    /// Nothing that the real service would have refused was sent.
    pub(crate) fn assert_valid(&self) {
        assert_eq!(self.server.violations(), Vec::<String>::new());
    }
}

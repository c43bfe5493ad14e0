//! Answers that come too late. A server that is slow to start is asked for discovery, does not answer in time, and is then asked in the
//! older way. Once it runs it answers both, and the first answer is nobody's any more.

use rmcp::model::{ClientRequest, JsonRpcMessage, RequestId};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

/// A way to a server, without the answer to a discovery that was given up.
pub(super) struct WithoutLate<T> {
    inner: T,
    asked: Option<RequestId>,
    given_up: Option<RequestId>,
}

impl<T> WithoutLate<T> {
    pub(super) const fn new(inner: T) -> Self {
        Self { inner, asked: None, given_up: None }
    }

    fn is_late(&self, message: &RxJsonRpcMessage<RoleClient>) -> bool {
        let answered = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        // Some servers answer the number as a text.
        let is_given_up =
            |id: &RequestId| self.given_up.as_ref().is_some_and(|known| known.to_string() == id.to_string());
        answered.is_some_and(is_given_up)
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for WithoutLate<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &item {
            if matches!(request.request, ClientRequest::DiscoverRequest(_)) {
                self.asked = Some(request.id.clone());
            } else if matches!(request.request, ClientRequest::InitializeRequest(_)) {
                self.given_up = self.asked.take();
            }
        }
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.inner.receive().await?;
            if !self.is_late(&message) {
                return Some(message);
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::transport::async_rw::AsyncRwTransport;
    use serde_json::{Value, json};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    fn message<T: serde::de::DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).unwrap()
    }

    /// What is left of these answers after a discovery with the id 0 and, perhaps, the older way with the id 1.
    async fn left(gives_up: bool) -> Vec<Value> {
        let (ours, mut theirs) = tokio::io::duplex(64 * 1024);
        let (read, write) = tokio::io::split(ours);
        let mut way = WithoutLate::new(AsyncRwTransport::new_client(read, write));
        let discover = json!({"jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": {}});
        way.send(message(discover)).await.unwrap();
        if gives_up {
            let client = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
            way.send(message(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client})))
                .await
                .unwrap();
        }
        let unknown = json!({"jsonrpc": "2.0", "id": 0, "error": {"code": -32601, "message": "unknown"}});
        let empty = |id: u64| json!({"jsonrpc": "2.0", "id": id, "result": {}});
        for answer in [unknown, empty(0), empty(1)] {
            theirs.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
        }
        theirs.shutdown().await.unwrap();
        let mut ids = Vec::new();
        while let Some(answer) = way.receive().await {
            ids.push(serde_json::to_value(&answer).unwrap()["id"].clone());
        }
        drop(way);
        let mut asked = String::new();
        theirs.read_to_string(&mut asked).await.unwrap();
        assert_eq!(asked.lines().count(), if gives_up { 2 } else { 1 }, "{asked}");
        ids
    }

    #[tokio::test]
    async fn only_the_answer_to_a_discovery_that_was_given_up_is_left_out() {
        assert_eq!(left(true).await, [json!(1)]);
        assert_eq!(left(false).await, [json!(0), json!(0), json!(1)], "the control");
    }
}

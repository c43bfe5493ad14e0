//! Lists of models: both formats have the same shape.

use crate::client::Client;
use agent_types::llm::LlmError;
use serde::Deserialize;

#[derive(Deserialize)]
struct Models {
    data: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
}

/// The ids that the document at this path names, in its order.
pub(crate) async fn list(client: &Client, path: &str) -> Result<Vec<String>, LlmError> {
    let (attempted, body) = client.get(path).await?;
    match serde_json::from_slice::<Models>(&body) {
        Ok(models) => Ok(models.data.into_iter().map(|model| model.id).collect()),
        Err(error) => {
            let found = format!("expected a list of models ({error})");
            Err(client.protocol_error(&attempted, &found))
        }
    }
}

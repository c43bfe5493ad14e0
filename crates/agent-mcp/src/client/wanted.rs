//! What is asked of a server besides its list of tools: a call of a tool, a resource, a prompt.

use super::input::Again;
use super::wire::{Talking, part};
use crate::content::{Answer, Part};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, GetPromptRequest, GetPromptRequestParams,
    GetPromptResult, PaginatedRequestParams, ReadResourceRequest, ReadResourceRequestParams, ReadResourceResult,
    ResourceContents, Role,
};
use serde_json::{Map, Value};

/// What a call asks for.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    Tool { name: String, arguments: Map<String, Value> },
    Resource { uri: String },
    Prompt { name: String, arguments: Map<String, Value> },
}

impl Wanted {
    /// As it is sent: the first time with nothing, and then with what the server asked for.
    pub(super) fn into_request(self, again: Again) -> ClientRequest {
        let responses = (!again.responses.is_empty()).then_some(again.responses);
        match self {
            Self::Tool { name, arguments } => {
                let mut params = CallToolRequestParams::new(name).with_arguments(arguments);
                (params.input_responses, params.request_state) = (responses, again.state);
                ClientRequest::CallToolRequest(CallToolRequest::new(params))
            }
            Self::Resource { uri } => {
                let mut params = ReadResourceRequestParams::new(uri);
                (params.input_responses, params.request_state) = (responses, again.state);
                ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
            }
            Self::Prompt { name, arguments } => {
                let mut params = GetPromptRequestParams::new(name);
                params.arguments = (!arguments.is_empty()).then_some(arguments);
                (params.input_responses, params.request_state) = (responses, again.state);
                ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
            }
        }
    }
}

pub(super) fn of_tool(result: CallToolResult) -> Answer {
    let parts = result.content.into_iter().map(part).collect();
    Answer { is_error: result.is_error.unwrap_or(false), parts, structured: result.structured_content }
}

pub(super) fn of_resource(result: ReadResourceResult) -> Answer {
    let parts = result.contents.into_iter().map(content).collect();
    Answer { is_error: false, parts, structured: None }
}

/// What is to be said to the model. Words that the prompt has the model say are told as such.
pub(super) fn of_prompt(result: GetPromptResult) -> Answer {
    let told = result.messages.into_iter().map(|message| match (message.role, part(message.content)) {
        (Role::Assistant, Part::Text(text)) => Part::Text(format!("[The assistant says:]\n{text}")),
        (_, part) => part,
    });
    Answer { is_error: false, parts: told.collect(), structured: None }
}

pub(super) fn content(contents: ResourceContents) -> Part {
    match contents {
        ResourceContents::TextResourceContents { text, .. } => Part::Text(text),
        ResourceContents::BlobResourceContents { mime_type, blob, .. } => match mime_type {
            Some(media_type) if media_type.starts_with("image/") => Part::Picture { data: blob, media_type },
            _ => Part::Other(format!("{} bytes that are no text", blob.len() / 4 * 3)),
        },
        _ => Part::Other("a resource of a kind that is not known here".into()),
    }
}

/// What a server offers to a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// Its name in the configuration.
    pub server: String,
    /// What it has to read, each with its URI as the name.
    pub resources: Vec<Offer>,
    /// Texts for the model that it has ready.
    pub prompts: Vec<Offer>,
}

/// Something that a server offers. The server chose the words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// By which it is asked for.
    pub name: String,
    /// What it is, as the server says; may be empty.
    pub description: String,
    /// The names of what a prompt is to be given, those that it needs first, and whether it needs them.
    pub arguments: Vec<(String, bool)>,
}

impl Talking {
    /// What it offers of what it says that it has; each list is bounded. One that cannot be had is empty.
    pub(super) async fn offers(&self, server: &str) -> Offers {
        let capabilities = self.peer.peer_info().map(|info| info.capabilities.clone()).unwrap_or_default();
        let mut offers = Offers { server: server.to_owned(), ..Offers::default() };
        if capabilities.resources.is_some() {
            offers.resources = self.resources().await;
        }
        if capabilities.prompts.is_some() {
            offers.prompts = self.prompts().await;
        }
        offers
    }

    async fn resources(&self) -> Vec<Offer> {
        let (mut found, mut cursor) = (Vec::new(), None);
        for _ in 0..MAX_PAGES {
            let Ok(page) = self.peer.list_resources(Some(next(cursor))).await else { break };
            found.extend(page.resources.into_iter().map(|resource| Offer {
                description: self.shown(&resource.description.or(resource.title).unwrap_or(resource.name)),
                name: self.shown(&resource.uri),
                arguments: Vec::new(),
            }));
            cursor = page.next_cursor;
            if cursor.is_none() || found.len() >= MAX_OFFERS {
                break;
            }
        }
        found.truncate(MAX_OFFERS);
        found
    }

    async fn prompts(&self) -> Vec<Offer> {
        let (mut found, mut cursor) = (Vec::new(), None);
        for _ in 0..MAX_PAGES {
            let Ok(page) = self.peer.list_prompts(Some(next(cursor))).await else { break };
            found.extend(page.prompts.into_iter().map(|prompt| {
                let arguments = prompt.arguments.into_iter().flatten().take(MAX_ARGUMENTS);
                let mut arguments: Vec<(String, bool)> = arguments
                    .map(|argument| (self.shown(&argument.name), argument.required.unwrap_or(false)))
                    .collect();
                arguments.sort_by_key(|(_, is_needed)| !is_needed);
                Offer {
                    name: self.shown(&prompt.name),
                    description: self.shown(&prompt.description.or(prompt.title).unwrap_or_default()),
                    arguments,
                }
            }));
            cursor = page.next_cursor;
            if cursor.is_none() || found.len() >= MAX_OFFERS {
                break;
            }
        }
        found.truncate(MAX_OFFERS);
        found
    }

    fn shown(&self, text: &str) -> String {
        let text = self.far.as_ref().map_or_else(|| text.to_owned(), |far| far.without_tokens(text));
        crate::text::beginning(&text, MAX_WORDS_BYTES)
    }
}

fn next(cursor: Option<String>) -> PaginatedRequestParams {
    let mut params = PaginatedRequestParams::default();
    params.cursor = cursor;
    params
}

/// Of one kind, of one server.
const MAX_OFFERS: usize = 1_000;
const MAX_PAGES: usize = 20;
const MAX_ARGUMENTS: usize = 32;
/// Of a name or a description.
const MAX_WORDS_BYTES: usize = 2_000;

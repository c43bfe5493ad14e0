//! What is secret in the configuration of servers: a server may repeat what it was sent, in a result, an error, or its own description.

use crate::mcp::launch::account;
use crate::model::secrets;
use agent_mcp::{Reach, ServerConfig};
use std::path::Path;

/// The secrets that servers are sent or started with, their variables put in.
/// `root` is the root of the repository.
pub(crate) fn of_servers(servers: &[ServerConfig], root: &Path) -> Vec<String> {
    servers.iter().flat_map(|server| of_server(server, root)).collect()
}

fn of_server(server: &ServerConfig, root: &Path) -> Vec<String> {
    // One that cannot be started has what stands in the file.
    let launched = server.launch(&|name| std::env::var(name).ok());
    match launched.as_ref().unwrap_or(&server.reach) {
        Reach::Program(program) => {
            let mut found = secrets::of_given(program.env.clone());
            found.extend(secrets::of_arguments(&program.args));
            found
        }
        Reach::Url(endpoint) => {
            let mut found = secrets::of_headers(&endpoint.headers);
            found.extend(secrets::of_url(&endpoint.url));
            found.extend(secrets::of_parameters(&endpoint.url));
            found.extend(endpoint.login.client_secret.clone());
            let login = account(server, endpoint, root).and_then(|account| account.login());
            found.extend(login.into_iter().flat_map(|login| login.secrets()));
            found
        }
    }
}

//! Rules about tools of MCP servers.
//!
//! 1. A deny rule that names a server, or a tool of one, as the server's file does holds for what they are called here: shortened, and in
//!    letters that providers take.
//! 2. What a user allows in every directory is about the user's own servers. A server of a repository may have the same name; what is
//!    allowed of it is said for that directory, on the command line or as an answer.

use crate::config::rule_patterns::is_of_server;
use agent_core::permission::{Permissions, Rule};
use agent_mcp::{ServerConfig, Source, tool_name};

/// Puts the names by which servers and their tools are called here into deny rules, and tells each server what rules name of it.
pub(crate) fn settle(permissions: &mut Permissions, servers: &mut [ServerConfig]) {
    if servers.is_empty() {
        return;
    }
    permissions.deny = permissions.deny.iter().flat_map(|rule| in_names_here(rule, servers)).collect();
    for server in servers {
        let rules = permissions.deny.iter().chain(&permissions.allow);
        let named = rules.map(Rule::tool).filter(|tool| is_of(tool, server) && *tool != server.family);
        server.named_tools = named.map(str::to_owned).collect();
    }
}

/// The server of the repository that an allow rule names.
pub(crate) fn of_repository<'a>(rule: &Rule, servers: &'a [ServerConfig]) -> Option<&'a ServerConfig> {
    servers.iter().find(|server| server.source == Source::Repository && is_of(rule.tool(), server))
}

/// Whether a name is that of all tools of a server, or of one.
pub(crate) fn is_of(name: &str, server: &ServerConfig) -> bool {
    name.strip_prefix(&*server.family).is_some_and(|end| end.is_empty() || end.starts_with("__"))
}

/// The rule itself, or one for each server that it may be about.
fn in_names_here(rule: &Rule, servers: &[ServerConfig]) -> Vec<Rule> {
    if !is_of_server(rule.tool()) || rule.has_pattern() || !rule.doors().is_empty() {
        return vec![rule.clone()];
    }
    let mut found: Vec<Rule> = Vec::new();
    for name in servers.iter().filter_map(|server| name_here(rule.tool(), server)) {
        let Ok(named) = name.parse::<Rule>() else { continue };
        let named = named.said_by(rule.source());
        if !found.contains(&named) {
            found.push(named);
        }
    }
    if found.is_empty() { vec![rule.clone()] } else { found }
}

/// What a name of a rule means here, if it is about this server.
fn name_here(name: &str, server: &ServerConfig) -> Option<String> {
    let rest = name.strip_prefix(PREFIX)?;
    let tool = |own: &str| match rest.strip_prefix(own)? {
        "" => Some(None),
        end => end.strip_prefix("__").map(Some),
    };
    match tool(&server.name).or_else(|| tool(server.family.strip_prefix(PREFIX)?))? {
        None => Some(server.family.clone()),
        Some(tool) => tool_name(&server.family, tool),
    }
}

/// The family that a name means but for letter case and the signs between letters.
pub(crate) fn meant<'a>(name: &str, families: impl IntoIterator<Item = &'a String>) -> Option<&'a String> {
    let squashed = |server: &str| -> String {
        server.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let server =
        |name: &str| name.strip_prefix(PREFIX).map(|rest| squashed(rest.split("__").next().unwrap_or_default()));
    let wanted = server(name)?;
    families.into_iter().find(|family| server(family).is_some_and(|own| own == wanted))
}

const PREFIX: &str = "mcp__";

#[cfg(test)]
mod tests {
    use super::*;
    use agent_core::permission::RuleSource;

    fn servers(source: Source) -> Vec<ServerConfig> {
        let entry = r#"{"command": "x"}"#;
        let names = ["my-very-long-server-name-for-github", "Git.Hub", "a", "a__b"];
        let entries: Vec<String> = names.iter().map(|name| format!("\"{name}\": {entry}")).collect();
        let (servers, faults) =
            agent_mcp::parse(&format!("{{\"mcpServers\": {{{}}}}}", entries.join(",")), source).unwrap();
        assert!(faults.is_empty(), "{faults:?}");
        servers
    }

    #[test]
    fn a_deny_rule_means_a_server_by_the_name_in_its_file() {
        for (rule, here) in [
            ("mcp__my-very-long-server-name-for-github", &["mcp__my-very-long-server-name"][..]),
            ("mcp__my-very-long-server-name-for-github__leak.it", &["mcp__my-very-long-server-name__leak_it"]),
            ("mcp__my-very-long-server-name", &["mcp__my-very-long-server-name"]),
            ("mcp__Git.Hub", &["mcp__Git_Hub"]),
            ("mcp__Git_Hub__same.name", &["mcp__Git_Hub__same_name"]),
            // A tool of one, and another one's name.
            ("mcp__a__b", &["mcp__a__b", "mcp__a_b"]),
            ("mcp__other", &["mcp__other"]),
            ("mcp__ab", &["mcp__ab"]),
            ("bash(rm:*)", &["bash(rm:*)"]),
        ] {
            let rule: Rule = rule.parse::<Rule>().unwrap().said_by(RuleSource::Repository);
            let mut permissions =
                Permissions { deny: vec![rule.clone()], allow: vec![rule.clone()], ..Permissions::default() };
            settle(&mut permissions, &mut servers(Source::User));
            let names: Vec<String> = permissions.deny.iter().map(ToString::to_string).collect();
            assert_eq!(names, here, "{rule}");
            assert!(permissions.deny.iter().all(|rule| rule.source() == RuleSource::Repository));
            assert_eq!(permissions.allow, [rule], "what is allowed is no more than was written");
        }
    }

    #[test]
    fn a_long_name_of_a_tool_is_the_shortened_one() {
        let long = format!("mcp__a__{}", "x".repeat(80));
        let mut permissions = Permissions { deny: vec![long.parse().unwrap()], ..Permissions::default() };
        let mut servers = servers(Source::User);
        settle(&mut permissions, &mut servers);
        let name = tool_name("mcp__a", &"x".repeat(80)).unwrap();
        assert_eq!(permissions.deny[0].tool(), name);
        assert_eq!(servers[2].named_tools, [name]);
    }

    #[test]
    fn an_odd_spelling_is_of_the_server_that_it_looks_like() {
        let families = ["mcp__Git_Hub".to_owned(), "mcp__a".to_owned()];
        for (name, family) in [
            ("mcp__github", Some("mcp__Git_Hub")),
            ("mcp__git-hub__x", Some("mcp__Git_Hub")),
            ("mcp__A", Some("mcp__a")),
            ("mcp__ab", None),
        ] {
            assert_eq!(meant(name, &families).map(String::as_str), family, "{name}");
        }
    }

    #[test]
    fn an_allow_rule_of_every_directory_is_about_no_repositorys_server() {
        let rule = |text: &str| text.parse::<Rule>().unwrap();
        for (text, is_about) in [("mcp__a", true), ("mcp__a__x", true), ("mcp__aa", false), ("bash", false)] {
            assert_eq!(of_repository(&rule(text), &servers(Source::Repository)).is_some(), is_about, "{text}");
            assert!(of_repository(&rule(text), &servers(Source::User)).is_none(), "{text}");
        }
    }
}

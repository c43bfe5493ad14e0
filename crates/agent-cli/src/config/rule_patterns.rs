//! Rules that would silently cover nothing: a deny rule whose pattern does not mean what it says, and a rule for a tool that does not
//! exist.

use crate::config::file::UserConfig;
use crate::config::server_rules;
use crate::failure::Failure;
use crate::screen::terminal::{inline, say};
use agent_core::permission::{Permissions, Rule, RuleSource};
use agent_exec::Processes;
use agent_tools::{Workspace, signal_tool, standard_tools, tool_families};
use std::path::Path;
use std::sync::Arc;

/// Fails at the first rule that must not be passed over: what it was meant to forbid would run. An allow rule of a file that names no tool
/// only leaves a question to be asked, and is said.
pub(crate) fn check(permissions: &Permissions, user: &UserConfig, tool_names: &[String]) -> Result<(), Failure> {
    for (is_deny, rule) in all(permissions) {
        match fault(rule, is_deny, user, tool_names) {
            Some(fault) if is_deny || rule.source() == RuleSource::CommandLine => return Err(Failure::config(fault)),
            Some(fault) => say(&format!("agent: {}", inline(&fault))),
            None => {}
        }
    }
    Ok(())
}

/// What is wrong with rules, each with the place where it stands.
pub(crate) fn faults(permissions: &Permissions, user: &UserConfig, tool_names: &[String]) -> Vec<String> {
    all(permissions).filter_map(|(is_deny, rule)| fault(rule, is_deny, user, tool_names)).collect()
}

fn all(permissions: &Permissions) -> impl Iterator<Item = (bool, &Rule)> {
    let deny = permissions.deny.iter().map(|rule| (true, rule));
    deny.chain(permissions.allow.iter().map(|rule| (false, rule)))
}

/// What is wrong with a rule. Patterns over commands are text; a pattern of an allow rule that was answered for a file may have any sign in
/// it.
pub(crate) fn fault(rule: &Rule, is_deny: bool, user: &UserConfig, tool_names: &[String]) -> Option<String> {
    let key = if is_deny { "deny" } else { "allow" };
    let place = place(rule, is_deny, user);
    if let Some(why) = unknown(rule, tool_names) {
        return Some(format!("cannot use the {key} rule `{rule}`{place}: it names no tool; {why}"));
    }
    if is_of_server(rule.tool()) && rule.has_pattern() {
        return Some(format!("cannot use the {key} rule `{rule}`{place}: tools of MCP servers have no pattern"));
    }
    if !rule.doors().is_empty() && rule.tool() != "bash" {
        let tool = rule.tool();
        return Some(format!("cannot use the {key} rule `{rule}`{place}: `{tool}` opens nothing; only `bash` does"));
    }
    if !is_deny && rule.doors().iter().any(|door| door == "write") {
        return Some(format!(
            "cannot use the allow rule `{rule}`{place}: it names no path; add the directory to `sandbox_writable` instead"
        ));
    }
    let flaw = rule.flaw_over_files().filter(|_| is_deny && rule.tool() != "bash")?;
    Some(format!("cannot use the deny rule `{rule}`{place}: {flaw}"))
}

/// Who said it, and where.
fn place(rule: &Rule, is_deny: bool, user: &UserConfig) -> String {
    let (key, rules) = if is_deny { ("deny", &user.deny) } else { ("allow", &user.allow) };
    let same = |known: &Rule| known.clone().said_by(RuleSource::User) == *rule;
    match rules.iter().position(same) {
        Some(index) => format!(", {},", user.places.rule(key, index)),
        None => rule.source().phrase().to_owned(),
    }
}

/// What to write instead of a name that no tool has.
fn unknown(rule: &Rule, tool_names: &[String]) -> Option<String> {
    // A tool that some sessions have and this one lacks is none that does not exist.
    let signal = signal_tool();
    let name = rule.tool();
    if is_of_server(name) {
        // A file may name servers that are configured elsewhere; what is typed for this session is for its servers.
        let is_here =
            |family: &String| name == family || name.strip_prefix(&**family).is_some_and(|end| end.starts_with("__"));
        if tool_names.iter().any(is_here) {
            return None;
        }
        let is_family = |name: &&String| name.strip_prefix("mcp__").is_some_and(|rest| !rest.contains("__"));
        let families = tool_names.iter().filter(is_family);
        if let Some(family) = server_rules::meant(name, families) {
            return Some(format!("no MCP server is called so here; did you mean `{family}`?"));
        }
        let is_typed = rule.source() == RuleSource::CommandLine;
        return is_typed.then(|| "no MCP server is called so here; `agent mcp list` lists them".to_owned());
    }
    let is_known = |name: &str| {
        *signal.spec().name == *name || tool_families().contains(&name) || tool_names.iter().any(|known| known == name)
    };
    if is_known(name) {
        return None;
    }
    let text = rule.to_string();
    let pattern = text.strip_prefix(name).unwrap_or_default();
    let small = name.to_ascii_lowercase();
    let elsewhere = ELSEWHERE.iter().find(|(other, _)| *other == name).map(|(_, own)| (*own).to_owned());
    if let Some(own) = elsewhere.or_else(|| is_known(&small).then_some(small)) {
        return Some(format!("write `{own}{}`", translated(&own, pattern)));
    }
    let (tools, families) = (tool_names.join(", "), tool_families().join(", "));
    Some(format!("the tools are {tools}, their families {families}"))
}

/// Whether it names tools of a server: `mcp__server` or `mcp__server__tool`.
pub(crate) fn is_of_server(name: &str) -> bool {
    name.strip_prefix("mcp__").is_some_and(|rest| !rest.is_empty())
}

/// A pattern as it is written here: paths begin below the directory.
fn translated(own: &str, pattern: &str) -> String {
    match pattern.strip_prefix("(./") {
        Some(rest) if own != "bash" => format!("({rest}"),
        _ => pattern.to_owned(),
    }
}

/// The names of the tools of a session that does not begin.
pub(crate) fn tool_names(directory: &Path) -> Result<Vec<String>, Failure> {
    let workspace = Workspace::open(directory).map_err(Failure::input)?;
    let tools = standard_tools(&Arc::new(workspace), Processes::new());
    Ok(tools.iter().map(|tool| tool.spec().name.to_string()).collect())
}

/// Names of Claude Code's tools, and what does the same here.
const ELSEWHERE: [(&str, &str); 9] = [
    ("Bash", "bash"),
    ("Read", "read"),
    ("Edit", "edit"),
    ("MultiEdit", "edit"),
    ("NotebookEdit", "edit"),
    ("Write", "edit"),
    ("Grep", "grep"),
    ("Glob", "glob"),
    ("LS", "list_files"),
];

//! Changes the user's file of servers: the rest of it stays, in its order.

use crate::commands::mcp::args::Add;
use crate::config::file::read_capped;
use crate::config::kept_rules::replace;
use crate::failure::Failure;
use crate::screen::terminal::{inline, shown_path};
use agent_mcp::Source;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Map, Value, json};
use std::fmt;
use std::path::Path;

/// The text of the file with the server in it.
pub(super) fn added(path: &Path, add: &Add) -> Result<String, Failure> {
    let mut file = read(path)?;
    let servers = servers(path, &mut file)?;
    if servers.iter().any(|(name, _)| *name == add.name) {
        let name = inline(&add.name);
        return Err(Failure::input(format!(
            "there is an MCP server called `{name}` already; `agent mcp remove {name}` removes it"
        )));
    }
    let mut entry = match &add.url {
        Some(url) => at_url(url, &add.header)?,
        None => of_command(add)?,
    };
    if add.required {
        entry.insert("required".to_owned(), true.into());
    }
    servers.push((add.name.clone(), Field::Other(Value::Object(entry))));
    Ok(text(&file))
}

fn of_command(add: &Add) -> Result<Map<String, Value>, Failure> {
    let mut env = Map::new();
    for variable in &add.env {
        let (name, value) = variable
            .split_once('=')
            .ok_or_else(|| Failure::usage(format!("`{}` is no variable: write `NAME=VALUE`", inline(variable))))?;
        env.insert(name.to_owned(), value.into());
    }
    let (command, args) = add.command.split_first().ok_or_else(|| Failure::usage("a server needs a command"))?;
    let mut policy = Map::new();
    if add.network {
        policy.insert("network".to_owned(), true.into());
    }
    if add.write_workspace {
        policy.insert("workspace".to_owned(), "write".into());
    }
    if !add.write.is_empty() {
        policy.insert("write".to_owned(), json!(add.write));
    }
    let more = [("env", env), ("policy", policy)].into_iter().filter(|(_, fields)| !fields.is_empty());
    let more = more.map(|(name, fields)| (name.to_owned(), Value::Object(fields)));
    let own = [("command".to_owned(), json!(command)), ("args".to_owned(), json!(args))];
    Ok(own.into_iter().chain(more).collect())
}

fn at_url(url: &str, headers: &[String]) -> Result<Map<String, Value>, Failure> {
    let mut sent = Map::new();
    for header in headers {
        // What stands behind the name may be a secret, and is not repeated.
        let (name, value) =
            header.split_once(':').ok_or_else(|| Failure::usage("a header is written `NAME: VALUE`"))?;
        sent.insert(name.trim().to_owned(), value.trim().into());
    }
    let more = (!sent.is_empty()).then(|| ("headers".to_owned(), Value::Object(sent)));
    Ok([("url".to_owned(), json!(url))].into_iter().chain(more).collect())
}

/// The text of the file without the server.
pub(super) fn removed(path: &Path, name: &str) -> Result<String, Failure> {
    let mut file = read(path)?;
    let servers = servers(path, &mut file)?;
    let before = servers.len();
    servers.retain(|(own, _)| own != name);
    if servers.len() == before {
        return Err(Failure::input(format!(
            "there is no MCP server called `{}` in {}",
            inline(name),
            shown_path(path)
        )));
    }
    Ok(text(&file))
}

/// Replaces the file in one step. It may have secrets in it: a new one is nobody else's.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    replace(path, text).map_err(|error| Failure::config(format!("cannot write {}: {error}", shown_path(path))))
}

fn read(path: &Path) -> Result<Fields, Failure> {
    let failed = |error: &dyn fmt::Display| {
        Failure::config(format!("cannot read the MCP servers of {}: {error}", shown_path(path)))
    };
    let text = read_capped(path).map_err(|error| failed(&error))?;
    let Some(text) = text else {
        return Ok(Fields(vec![("mcpServers".to_owned(), Field::Servers(Fields::default()))]));
    };
    // Of a key that is there twice, one would be lost.
    agent_mcp::parse(&text, Source::User).map_err(|error| failed(&error))?;
    serde_json::from_str(&text).map_err(|error| failed(&error))
}

fn servers<'a>(path: &Path, file: &'a mut Fields) -> Result<&'a mut Vec<(String, Field)>, Failure> {
    let servers = file.0.iter_mut().find_map(|(_, field)| match field {
        Field::Servers(servers) => Some(&mut servers.0),
        Field::Other(_) => None,
    });
    servers.ok_or_else(|| Failure::config(format!("{} has no `mcpServers`", shown_path(path))))
}

fn text(file: &Fields) -> String {
    serde_json::to_string_pretty(file).unwrap_or_default() + "\n"
}

/// An object with its fields in their order: the order of servers is the order of their tools.
#[derive(Default)]
struct Fields(Vec<(String, Field)>);

/// A field of the file, or of `mcpServers`.
enum Field {
    Servers(Fields),
    Other(Value),
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, field) in &self.0 {
            match field {
                Field::Servers(servers) => map.serialize_entry(name, servers)?,
                Field::Other(value) => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    let field = match name.as_str() {
                        "mcpServers" => Field::Servers(map.next_value()?),
                        _ => Field::Other(map.next_value()?),
                    };
                    fields.push((name, field));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

#[cfg(test)]
mod tests {
    use super::{added, removed};
    use crate::commands::mcp::args::Add;

    fn add(name: &str) -> Add {
        Add {
            name: name.into(),
            env: vec!["A=b=c".into()],
            network: true,
            write_workspace: false,
            write: vec!["/x".into()],
            required: true,
            no_test: true,
            directory: None,
            url: None,
            header: Vec::new(),
            command: vec!["npx".into(), "-y".into(), "x".into()],
        }
    }

    #[test]
    fn the_rest_of_the_file_stays_in_its_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.json");
        let first = added(&path, &add("z")).unwrap();
        std::fs::write(&path, first.replacen('{', "{\n  \"own\": 1,", 1)).unwrap();
        let second = added(&path, &add("a")).unwrap();
        assert!(second.find("\"own\"").unwrap() < second.find("\"z\"").unwrap());
        assert!(second.find("\"z\"").unwrap() < second.find("\"a\"").unwrap(), "{second}");
        let (servers, faults) = agent_mcp::parse(&second, agent_mcp::Source::User).unwrap();
        assert!(servers.len() == 2 && faults.is_empty() && servers[1].is_required && servers[1].policy.network);
        let agent_mcp::Reach::Program(program) = &servers[1].reach else { panic!("{servers:?}") };
        assert_eq!(program.env["A"], "b=c");
        std::fs::write(&path, second).unwrap();
        assert!(added(&path, &add("a")).unwrap_err().message.contains("already"));
        let left = removed(&path, "z").unwrap();
        assert!(left.contains("\"own\"") && !left.contains("\"z\""));
        assert!(removed(&path, "q").unwrap_err().message.contains("no MCP server called `q`"));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.json");
        for broken in ["{", "[]", "{\"mcpServers\": []}"] {
            std::fs::write(&path, broken).unwrap();
            assert!(added(&path, &add("a")).is_err(), "{broken}");
        }
    }
}

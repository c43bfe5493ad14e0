//! What a client says in a prompt: text, links, texts of resources, pictures.

use crate::wire::RpcError;
use agent_core::unseen::is_unclear;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// What a person says to the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The words. A link stands in them as `@` and its path, as at the program's own prompt.
    pub text: String,
    /// Texts that go with them, each with its name.
    pub files: Vec<(String, String)>,
    /// Pictures that go with them, each with its name; not looked at yet.
    pub pictures: Vec<(String, Vec<u8>)>,
}

impl Prompt {
    /// Reads the blocks of a prompt.
    pub(crate) fn of(blocks: &[Value]) -> Result<Self, RpcError> {
        let mut prompt = Self::default();
        for (at, block) in blocks.iter().enumerate() {
            let wrong = |found: String| RpcError::params(format!("block {} of the prompt {found}", at + 1));
            prompt.add(block, at).map_err(wrong)?;
        }
        let is_blank = prompt.text.trim().is_empty() && prompt.files.is_empty() && prompt.pictures.is_empty();
        if is_blank { Err(RpcError::params("the prompt says nothing")) } else { Ok(prompt) }
    }

    fn add(&mut self, block: &Value, at: usize) -> Result<(), String> {
        let text = |value: &Value, key: &str| {
            value.get(key).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| format!("has no `{key}`"))
        };
        match block.get("type").and_then(Value::as_str) {
            Some("text") => self.text.push_str(&text(block, "text")?),
            Some("resource_link") => {
                let name = name_of(&text(block, "uri")?);
                self.mention(&name);
            }
            Some("resource") => {
                let resource = block.get("resource").ok_or("has no `resource`")?;
                let name = name_of(&text(resource, "uri")?);
                let kind = resource.get("mimeType").and_then(Value::as_str).unwrap_or_default();
                match (resource.get("text").and_then(Value::as_str), resource.get("blob").and_then(Value::as_str)) {
                    (Some(content), _) => {
                        self.mention(&name);
                        self.files.push((name, content.to_owned()));
                    }
                    (None, Some(blob)) if kind.starts_with("image/") => self.pictures.push((name, decoded(blob)?)),
                    (None, Some(_)) => {
                        return Err(format!("is a resource of the type `{kind}`: only texts and pictures are taken"));
                    }
                    (None, None) => return Err(String::from("is a resource without `text` and `blob`")),
                }
            }
            Some("image") => {
                let uri = block.get("uri").and_then(Value::as_str);
                let name = uri.map_or_else(|| format!("picture {}", at + 1), name_of);
                self.pictures.push((name, decoded(&text(block, "data")?)?));
            }
            Some(other) => return Err(format!("is of the type `{other}`, which is not taken")),
            None => return Err(String::from("has no `type`")),
        }
        Ok(())
    }

    /// A name in the text as the program's own prompt reads it.
    fn mention(&mut self, name: &str) {
        let is_plain = !name.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\'));
        if self.text.chars().next_back().is_some_and(|last| !last.is_whitespace() && !"([,".contains(last)) {
            self.text.push(' ');
        }
        match name {
            name if name.contains("://") => self.text.push_str(name),
            name if is_plain => self.text.push_str(&format!("@{name}")),
            name if name.contains('"') => self.text.push_str(&format!("@'{name}'")),
            name => self.text.push_str(&format!("@\"{name}\"")),
        }
    }
}

fn decoded(data: &str) -> Result<Vec<u8>, String> {
    STANDARD.decode(data).map_err(|error| format!("is no base64: {error}"))
}

/// The path of a file's URI. Where it could pass for more than a name, and of everything else that is no file, the URI as one word.
fn name_of(uri: &str) -> String {
    let Some(path) = uri.strip_prefix("file://") else {
        return if is_name(uri) && !uri.contains("://") { uri.to_owned() } else { one_word(uri) };
    };
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let path = path.split(['#', '?']).next().unwrap_or(path);
    percent_decoded(path).filter(|path| is_name(path)).unwrap_or_else(|| one_word(uri))
}

/// Whether a name can stand in the person's text, in quotes, and nothing of it passes for words of the person.
fn is_name(name: &str) -> bool {
    let has_both_quotes = name.contains('"') && name.contains('\'');
    !name.contains(is_unclear) && !has_both_quotes
}

/// A URI in which everything is percent-encoded that would end a word, or cannot be seen.
fn one_word(uri: &str) -> String {
    let mut out = String::with_capacity(uri.len());
    for c in uri.chars() {
        if c.is_whitespace() || is_unclear(c) || matches!(c, '"' | '\'') {
            c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| out.push_str(&format!("%{byte:02X}")));
        } else {
            out.push(c);
        }
    }
    out
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = after;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn links_stand_in_the_text_and_texts_go_with_it() {
        let prompt = Prompt::of(&[
            json!({ "type": "text", "text": "Compare" }),
            json!({ "type": "resource_link", "name": "a", "uri": "file:///w/a%20b.rs#L3" }),
            json!({ "type": "text", "text": " with (" }),
            json!({ "type": "resource", "resource": { "uri": "file:///w/c.rs", "text": "fn c() {}" } }),
            json!({ "type": "text", "text": ")" }),
            json!({ "type": "resource_link", "name": "b", "uri": "https://example.org/x y" }),
        ])
        .unwrap();
        assert_eq!(prompt.text, "Compare @\"/w/a b.rs\" with (@/w/c.rs) https://example.org/x%20y");
        assert_eq!(prompt.files, [("/w/c.rs".to_owned(), "fn c() {}".to_owned())]);
    }

    #[test]
    fn a_name_does_not_become_words_of_the_person() {
        for (uri, text) in [
            ("file:///w/n%0A%0APlease%20run", "file:///w/n%0A%0APlease%20run"),
            ("file:///w/n\n\nPlease run", "file:///w/n%0A%0APlease%20run"),
            ("file:///w/x%00%1b[31m%e2%80%ae", "file:///w/x%00%1b[31m%e2%80%ae"),
            ("file:///w/\u{202e}x", "file:///w/%E2%80%AEx"),
            ("file:///w/%E2%80%A8x", "file:///w/%E2%80%A8x"),
            ("file:///w/a'%20Please%20run%20%22", "file:///w/a%27%20Please%20run%20%22"),
            ("file:///w/%ff Please run", "file:///w/%ff%20Please%20run"),
            ("https://x/\n\nPlease run", "https://x/%0A%0APlease%20run"),
            ("zed:n\nPlease run", "@zed:n%0APlease%20run"),
            // Names that only need quotes keep their letters.
            ("file:///w/it's%20%C3%B6", "@\"/w/it's ö\""),
            ("file:///w/a%20%22b%22", "@'/w/a \"b\"'"),
            ("n m.txt", "@\"n m.txt\""),
        ] {
            let link = json!({ "type": "resource_link", "name": "n", "uri": uri });
            assert_eq!(Prompt::of(&[link]).unwrap().text, text, "{uri:?}");
            let embedded =
                Prompt::of(&[json!({ "type": "resource", "resource": { "uri": uri, "text": "t" } })]).unwrap();
            assert_eq!(embedded.text, text, "{uri:?}");
            let picture = Prompt::of(&[json!({ "type": "image", "data": "AA==", "uri": uri })]).unwrap();
            for name in [&embedded.files[0].0, &picture.pictures[0].0] {
                assert!(!name.contains(is_unclear) && text.contains(name.as_str()), "{name:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_used_is_said_with_its_place() {
        for (block, found) in [
            (json!({ "type": "audio", "data": "", "mimeType": "x" }), "`audio`"),
            (json!({ "type": "image", "data": "%", "mimeType": "image/png" }), "base64"),
            (json!({ "type": "image" }), "`data`"),
            (json!({ "type": "text" }), "`text`"),
            (json!({ "type": "resource", "resource": { "uri": "x", "blob": "AA==" } }), "texts and pictures"),
            (json!({ "type": "resource", "resource": { "uri": "x" } }), "without"),
            (json!({}), "no `type`"),
            (json!(7), "no `type`"),
        ] {
            let error = Prompt::of(&[json!({ "type": "text", "text": "x" }), block.clone()]).unwrap_err();
            assert!(error.message.contains("block 2") && error.message.contains(found), "{block}: {error}");
        }
        for blank in [&[][..], &[json!({ "type": "text", "text": " \n" })]] {
            assert_eq!(Prompt::of(blank).unwrap_err().code, -32_602);
        }
    }
}

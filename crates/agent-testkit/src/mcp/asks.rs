//! A server that asks a person something in the middle of a call.

use super::{QUESTION, Server, answer, exit, say, sleep, tell};
use serde_json::{Value, json};
use std::time::Duration;

impl Server {
    /// The tool `ask`: by its text it asks a `form` (also `twice`, or in a `loop`), a `secret`, an `odd` form, for a `visit` of an
    /// address; it takes its question back at once or later (`back`, `later`), or ends behind it (`crash`); without a text it asks where
    /// the client works, in a loop. What it is answered is what the call says.
    pub(super) fn ask(&mut self, id: &Value, params: &Value) {
        let what = params["arguments"]["text"].as_str().unwrap_or_default();
        if what.is_empty() {
            let asked = json!({"a": {"method": "roots/list"}});
            return answer(id, &json!({"resultType": "input_required", "inputRequests": asked, "requestState": "x"}));
        }
        if !self.has("modern") {
            self.waiting = Some(id.clone());
            what.clone_into(&mut self.asking);
            return self.ask_by_request(what);
        }
        let round = params["requestState"].as_str().and_then(|state| state.strip_prefix("round ")?.parse().ok());
        let round: u64 = round.unwrap_or(0);
        let last = match what {
            "loop" => u64::MAX,
            "twice" => 2,
            _ => 1,
        };
        if round >= last {
            return tell(id, &params["inputResponses"].to_string());
        }
        let requests = match what {
            "several" => json!({"a": asked("form"), "b": asked("visit"), "c": {"method": "roots/list"}}),
            what => json!({"a": asked(what)}),
        };
        let state = format!("round {}", round + 1);
        answer(id, &json!({"resultType": "input_required", "inputRequests": requests, "requestState": state}));
    }

    /// What the client says to the question.
    pub(super) fn answered(&mut self, call: &Value, said: &str) {
        match &*std::mem::take(&mut self.asking) {
            again @ ("loop" | "twice") => {
                (self.waiting, self.asking) =
                    (Some(call.clone()), if again == "loop" { "loop" } else { "form" }.to_owned());
                self.ask_by_request("form");
            }
            _ => tell(call, said),
        }
    }

    fn ask_by_request(&mut self, what: &str) {
        let request = asked(what);
        say(&json!({"jsonrpc": "2.0", "id": QUESTION, "method": request["method"], "params": request["params"]}));
        match what {
            "back" | "later" => {
                sleep(Duration::from_millis(if what == "back" { 300 } else { 3_000 }));
                say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": QUESTION}}));
                if let Some(call) = self.waiting.take() {
                    tell(&call, "never mind");
                }
            }
            "crash" => {
                sleep(Duration::from_millis(300));
                exit(9);
            }
            _ => {}
        }
    }
}

fn asked(what: &str) -> Value {
    let properties = match what {
        "visit" => {
            let params = json!({"mode": "url", "message": "Log in, please.", "url": "https://example.com/log-in?at=1", "elicitationId": "1"});
            return json!({"method": "elicitation/create", "params": params});
        }
        "secret" => json!({"password": {"type": "string"}}),
        "odd" => json!({"a": {"type": "string", "enum": []}}),
        _ => json!({
            "name": {"type": "string", "title": "Your name", "description": "As \u{1b}[31mothers write it", "maxLength": 20},
            "age": {"type": "integer", "minimum": 0, "maximum": 150},
            "colour": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}], "default": "g"},
        }),
    };
    let needed: Vec<&str> = if properties.get("name").is_some() { vec!["name"] } else { Vec::new() };
    let schema = json!({"type": "object", "properties": properties, "required": needed});
    json!({"method": "elicitation/create", "params": {"message": "Who are you?\u{202e}\u{1b}[2J", "requestedSchema": schema}})
}

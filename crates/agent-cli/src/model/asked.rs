//! The models of a session with what is known about them: the user's configuration before what is built in.

use crate::config::file::ModelEntry;
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::model::effort::{self, Reach, Wish};
use agent_core::budget::{Limits, Price};
use agent_core::llm::Effort;
use agent_core::session::ModelConfig;
use agent_llm::{Asked, KnownModel};

/// Makes the models of a session.
#[derive(Clone, Copy)]
pub(crate) struct Models<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) reach: Reach,
    /// What was said of the first model's effort, in this session.
    pub(crate) wish: Option<Wish>,
    /// Whether it is an error if the first model does not know it: it was said of that model.
    pub(crate) is_strict: bool,
}

impl<'a> Models<'a> {
    /// For a session that begins.
    pub(crate) const fn new(settings: &'a Settings, reach: Reach) -> Self {
        Self { settings, reach, wish: settings.effort, is_strict: true }
    }

    /// The same, where the model's name in the configuration says something of the effort.
    pub(crate) fn or_wish(self, wish: Option<Wish>) -> Self {
        Self { wish: self.wish.or(wish), ..self }
    }

    /// The model, and those that take over from it.
    pub(crate) fn all(
        self,
        first: &str,
        others: impl Iterator<Item = &'a String>,
    ) -> Result<Vec<ModelConfig>, Failure> {
        let mut models = vec![self.one(first, self.is_strict)?];
        for other in others {
            models.push(self.one(other, false)?);
        }
        Ok(models)
    }

    fn one(self, id: &str, is_strict: bool) -> Result<ModelConfig, Failure> {
        let user = &self.settings.user;
        let entry = user.models.get(id);
        let mut model = known_model(id);
        if let Some(entry) = entry {
            let wrong = |what| Failure::config(format!("cannot read the price of the model {id}: {what}"));
            model.price = entry.price().map_err(wrong)?.or(model.price);
            model.context_window_tokens = entry.context_window_tokens.or(model.context_window_tokens);
        }
        if self.reach.is_local && model.price.is_none() {
            model.price = Some(FREE);
        }
        let limits = &self.settings.limits;
        if limits.max_cost_nano_usd.is_some() && model.price.is_none() {
            return Err(Failure::config(format!(
                "cannot keep the cost limit: the price of the model {id} is unknown; set `models.\"{id}\".input_usd` and `output_usd` \
                 (US dollars per million tokens) in the configuration"
            )));
        }
        let configured = entry.and_then(|entry| entry.max_output_tokens).or(user.max_output_tokens);
        model.max_output_tokens = match configured {
            Some(tokens) => tokens.get(),
            None => affordable(model.max_output_tokens, model.price.as_ref(), limits),
        };
        model.effort = self.effort(&model, entry, is_strict)?;
        Ok(model)
    }

    fn effort(
        self,
        model: &ModelConfig,
        entry: Option<&ModelEntry>,
        is_strict: bool,
    ) -> Result<Option<Effort>, Failure> {
        let (id, limit) = (&*model.id, model.max_output_tokens);
        let of_model = entry.and_then(|entry| entry.effort);
        let wrong = |unknown: effort::Unknown| Failure::config(unknown.to_string());
        match (self.wish, of_model, self.reach.said.or(self.settings.user.effort)) {
            (Some(wish), _, _) if is_strict => effort::strict(wish, id, self.reach, limit).map_err(wrong),
            (None, Some(wish), _) => effort::strict(wish, id, self.reach, limit).map_err(wrong),
            (Some(wish), _, _) | (None, None, Some(wish)) => Ok(effort::nearest(wish, id, self.reach, limit)),
            (None, None, None) => Ok(effort::usual(id, self.reach)),
        }
    }
}

/// A recorded model is asked as it was.
pub(crate) fn as_recorded(model: &mut ModelConfig, asked: Asked, wish: Option<Wish>) {
    model.max_output_tokens = asked.max_output_tokens;
    model.effort = wish.map_or(asked.effort, Wish::effort);
}

/// A model with what is built in.
pub(crate) fn known_model(id: &str) -> ModelConfig {
    let mut model = ModelConfig::new(id);
    model.price = agent_core::budget::prices::lookup(id);
    if let Some(known) = KnownModel::of(id) {
        model.max_output_tokens = known.output_tokens();
        model.context_window_tokens = known.window_tokens();
    }
    model
}

/// The longest answer of a model, where money is limited: a call sets aside what it would cost, and must leave most of the limit to others.
fn affordable(known: u32, price: Option<&Price>, limits: &Limits) -> u32 {
    let (Some(price), Some(limit)) = (price, limits.max_cost_nano_usd) else { return known };
    let tokens = (limit / SHARE).checked_div(price.output_nano_usd).unwrap_or(u64::MAX);
    let safe = ModelConfig::new("").max_output_tokens;
    u32::try_from(tokens).unwrap_or(u32::MAX).clamp(safe.min(known), known)
}

/// A server on this machine costs nothing.
const FREE: Price = Price { input_nano_usd: 0, output_nano_usd: 0, cache_read_nano_usd: 0, cache_write_nano_usd: 0 };
/// An answer sets aside at most the limit through this.
const SHARE: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_on_money_shortens_the_answer_and_never_below_the_safe_length() {
        let price = agent_core::budget::prices::lookup("claude-opus-4-8");
        let within = |usd: u64| {
            let limits = Limits { max_cost_nano_usd: Some(usd * 1_000_000_000), ..Limits::default() };
            affordable(64_000, price.as_ref(), &limits)
        };
        assert_eq!([within(0), within(1), within(5), within(1_000)], [8_192, 8_192, 20_000, 64_000]);
        assert_eq!(
            affordable(4_096, price.as_ref(), &Limits { max_cost_nano_usd: Some(1), ..Limits::default() }),
            4_096
        );
        assert_eq!(affordable(64_000, price.as_ref(), &Limits::default()), 64_000);
    }

    #[test]
    fn known_models_have_their_own_limit_and_unknown_ones_the_safe_one() {
        assert_eq!(known_model("gpt-4o").max_output_tokens, 16_384);
        assert_eq!(known_model("qwen3:4b").max_output_tokens, 8_192);
    }
}

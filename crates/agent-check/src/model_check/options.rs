//! What the command is asked: which bounds, which models, and whether the figures are kept.

use super::agent::{SETUPS, Setup};
use super::explore::Reach;
use super::trees::{GROVES, Grove};
use super::world::{Bounds, WORLDS, World};

/// What a run is to explore.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    is_smoke: bool,
    /// Whether the figures go into `docs/figures`.
    pub keep: bool,
    /// Names of bounds and what they are instead.
    bounds: Vec<(String, usize)>,
    /// Names of models; none for all.
    only: Vec<String>,
}

impl Options {
    /// Reads `[--smoke] [--bounds NAME=N,…] [--only NAME,…] [--keep]`.
    ///
    /// # Errors
    /// Names the word that is not understood.
    pub fn read(words: &[&str]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--smoke" => options.is_smoke = true,
                "--keep" => options.keep = true,
                "--bounds" => {
                    let list = words.next().ok_or("--bounds needs NAME=N,…")?;
                    options.bounds = list.split(',').map(bound).collect::<Result<_, _>>()?;
                }
                "--only" => {
                    let list = words.next().ok_or("--only needs NAME,…")?;
                    options.only = list.split(',').map(known).collect::<Result<_, _>>()?;
                }
                other => return Err(format!("`{other}` is not known. {USAGE}")),
            }
        }
        if options.keep && (options.is_smoke || !options.bounds.is_empty() || !options.only.is_empty()) {
            return Err("--keep is for the full run".to_owned());
        }
        Ok(options)
    }

    pub(crate) fn is_wanted(&self, name: &str) -> bool {
        let is_agent = SETUPS.iter().any(|setup| setup.name == name);
        let is_tree = GROVES.iter().any(|grove| grove.name == name);
        let is_of = |only: &String| only == name || only == AGENTS && is_agent || only == TREES && is_tree;
        self.only.is_empty() || self.only.iter().any(is_of)
    }

    /// A world within the bounds that are asked for.
    pub(crate) fn world(&self, world: &World) -> World {
        let mut bounds = if self.is_smoke { world.smoke } else { world.bounds };
        for (name, value) in &self.bounds {
            if let Some(bound) = field(&mut bounds, name) {
                *bound = u8::try_from(*value).unwrap_or(u8::MAX);
            }
        }
        World { bounds, ..*world }
    }

    /// A set-up of an agent within the bounds that are asked for.
    pub(crate) fn setup(&self, setup: &Setup) -> Setup {
        let mut left = if self.is_smoke { setup.smoke } else { setup.left };
        for (name, value) in &self.bounds {
            if let Some(bound) = left.field(name) {
                *bound = u8::try_from(*value).unwrap_or(u8::MAX);
            }
        }
        Setup { left, ..*setup }
    }

    /// A tree of agents within its bounds.
    pub(crate) fn grove(&self, grove: &Grove) -> Grove {
        if self.is_smoke { Grove { left: grove.smoke, ..*grove } } else { *grove }
    }

    pub(crate) fn reach(&self, threads: usize) -> Reach {
        let states = self.bounds.iter().find(|(name, _)| name == STATES).map(|(_, value)| *value);
        Reach { threads, max_states: states.unwrap_or(MAX_STATES) }
    }
}

fn bound(word: &str) -> Result<(String, usize), String> {
    let wrong = || format!("read the bound `{word}`: NAME=N with one of states, {}", NAMES.join(", "));
    let (name, value) = word.split_once('=').ok_or_else(wrong)?;
    let is_known = name == STATES || NAMES.contains(&name);
    let value = value.parse().ok().filter(|_| is_known).ok_or_else(wrong)?;
    Ok((name.to_owned(), value))
}

fn known(name: &str) -> Result<String, String> {
    let worlds = WORLDS.iter().map(|world| world.name);
    let agents = SETUPS.iter().map(|setup| setup.name).chain(GROVES.iter().map(|grove| grove.name));
    let names: Vec<&str> = worlds.chain(agents).chain([AGENTS, TREES]).collect();
    if names.contains(&name) { Ok(name.to_owned()) } else { Err(format!("`{name}` is none of {}", names.join(", "))) }
}

fn field<'a>(bounds: &'a mut Bounds, name: &str) -> Option<&'a mut u8> {
    Some(match name {
        "inputs" => &mut bounds.inputs,
        "rounds" => &mut bounds.rounds,
        "calls" => &mut bounds.calls,
        "mixed" => &mut bounds.mixed,
        "pauses" => &mut bounds.pauses,
        "raises" => &mut bounds.raises,
        "changes" => &mut bounds.changes,
        "summaries" => &mut bounds.summaries,
        "deaths" => &mut bounds.deaths,
        _ => return None,
    })
}

const USAGE: &str = "usage: cargo xtask model-check [--smoke] [--bounds NAME=N,…] [--only NAME,…] [--keep]";
/// Bounds of worlds, of set-ups, or of both.
const NAMES: &[&str] = &[
    "inputs",
    "rounds",
    "calls",
    "mixed",
    "pauses",
    "raises",
    "changes",
    "summaries",
    "deaths",
    "messages",
    "commitments",
    "cancels",
    "ends",
    "binds",
];
/// Stands for the set-ups of agents.
const AGENTS: &str = "agents";
/// Stands for the trees of agents.
const TREES: &str = "trees";
const STATES: &str = "states";
/// States of one model: some four gigabytes at worst.
const MAX_STATES: usize = 8_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_refused() {
        let read = |words: &[&str]| Options::read(words);
        let options = read(&["--smoke", "--bounds", "calls=4,states=10", "--only", "tools"]).unwrap();
        let tools = options.world(&WORLDS[0]);
        assert_eq!(tools.bounds, Bounds { calls: 4, ..WORLDS[0].smoke });
        assert_eq!(options.reach(1).max_states, 10);
        assert!(options.is_wanted("tools") && !options.is_wanted("money"));
        for wrong in [&["--fast"][..], &["--bounds"], &["--bounds", "calls"], &["--bounds", "call=1"], &["--only", "x"]]
        {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
        assert!(read(&["--smoke", "--keep"]).is_err(), "figures of a smoke run are no figures");
    }

    #[test]
    fn every_bound_has_a_field() {
        let (mut bounds, mut left) = (WORLDS[0].bounds, SETUPS[0].left);
        assert!(NAMES.iter().all(|name| field(&mut bounds, name).is_some() || left.field(name).is_some()));
    }
}

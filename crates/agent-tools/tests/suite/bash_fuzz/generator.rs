//! Shell commands at random: mostly such as a model writes, bent towards the corners of the grammar, and sometimes broken.

mod words;

use words::*;

/// A small generator of numbers (SplitMix64): the same seed gives the same commands on every machine.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    /// Whether something happens that happens in so many of a hundred cases.
    fn happens(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len())]
    }
}

/// The next command.
pub(super) fn command(dice: &mut Dice) -> String {
    // How far it departs from what is plain: most commands in one or two points, some not at all, some everywhere.
    let oddness = [0, 1, 1, 3, 3, 8, 25][dice.below(7)];
    let mut text = String::new();
    if dice.happens(oddness) {
        text.push_str(dice.pick(ODD));
    }
    let commands = 1 + dice.below(6);
    for number in 0..commands {
        if number > 0 {
            let odd = dice.happens(oddness);
            text.push_str(dice.pick(if odd { ODD } else { BETWEEN_COMMANDS }));
        }
        simple_command(dice, oddness, &mut text);
    }
    if dice.happens(20) {
        text.push_str(dice.pick(AT_THE_END));
    }
    if dice.happens(oddness * 2) {
        damage(dice, &mut text);
    }
    text
}

fn simple_command(dice: &mut Dice, oddness: usize, text: &mut String) {
    if dice.happens(oddness) {
        text.push_str(dice.pick(IN_FRONT));
    }
    if dice.happens(4) {
        text.push_str(dice.pick(REDIRECTS).trim_start());
        text.push_str(blank(dice, oddness));
    }
    text.push_str(dice.pick(PROGRAMS));
    for _ in 0..dice.below(4) {
        text.push_str(blank(dice, oddness));
        let odd = dice.happens(oddness);
        text.push_str(dice.pick(if odd { ODD } else { WORDS }));
        if dice.happens(10) {
            text.push_str(dice.pick(WORDS));
        }
    }
    while dice.happens(25) {
        let odd = dice.happens(oddness * 3);
        text.push_str(dice.pick(if odd { ODD_REDIRECTS } else { REDIRECTS }));
    }
}

fn blank(dice: &mut Dice, oddness: usize) -> &'static str {
    let odd = dice.happens(oddness);
    dice.pick(if odd { ODD_BLANKS } else { BLANKS })
}

/// Drops, doubles, moves or changes a character.
fn damage(dice: &mut Dice, text: &mut String) {
    let mut chars: Vec<char> = text.chars().collect();
    if chars.is_empty() {
        return;
    }
    let at = dice.below(chars.len());
    match dice.below(4) {
        0 => drop(chars.remove(at)),
        1 => chars.insert(at, chars[at]),
        2 => {
            let other = dice.below(chars.len());
            chars.swap(at, other);
        }
        _ => {
            let odd: Vec<char> = dice.pick(ODD).chars().collect();
            chars.splice(at..at, odd);
        }
    }
    *text = chars.into_iter().collect();
}

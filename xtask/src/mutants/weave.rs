//! All mutants of a file compiled in at once, one chosen at run time: a function's body becomes a `match` over the number of the chosen
//! mutant, with the changed bodies as its arms and the real one as the last. One build serves them all.
//!
//! Left out are mutants of functions that return `impl Trait`, whose bodies would differ in type, of functions that are called at compile
//! time, where nothing can be chosen, and those outside of functions.

use super::list::Mutant;
use proc_macro2::Span;
use quote::ToTokens as _;
use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};
use syn::spanned::Spanned as _;
use syn::{ImplItem, Item, ReturnType, Signature, TraitItem};

/// A file's text with mutants in it.
pub(super) struct Woven {
    pub(super) text: String,
    /// Which lines of the text are which mutant's.
    pub(super) arms: Vec<(RangeInclusive<usize>, usize)>,
}

/// Weaves numbered mutants into the text of their file. Functions of these names stay as they are: they are called at compile time.
///
/// # Errors
/// When the text is not Rust.
pub(super) fn weave(
    text: &str,
    mutants: &[(usize, &Mutant)],
    compile_time: &BTreeSet<String>,
) -> Result<Woven, String> {
    let file = syn::parse_file(text).map_err(|error| error.to_string())?;
    let mut functions = Vec::new();
    collect(&file.items, &mut functions);
    functions.retain(|function| !compile_time.contains(&function.name));
    let (mut woven, mut at) = (Woven { text: String::new(), arms: Vec::new() }, 0);
    for function in &functions {
        if let Some(constness) = &function.constness {
            woven.text.push_str(&text[at..constness.start]);
            at = constness.end;
        }
        woven.text.push_str(&text[at..function.body.start]);
        woven.add_body(text, function, mutants);
        at = function.body.end;
    }
    woven.text.push_str(&text[at..]);
    Ok(woven)
}

impl Woven {
    fn add_body(&mut self, text: &str, function: &Function, mutants: &[(usize, &Mutant)]) {
        let body = &text[function.body.clone()];
        let inside = |(number, mutant): &(usize, &Mutant)| {
            let bytes = mutant.bytes(text)?;
            let is_inside = function.body.start <= bytes.start && bytes.end <= function.body.end;
            is_inside.then(|| (*number, &text[function.body.start..bytes.start], mutant.replacement.clone(), bytes.end))
        };
        let changed: Vec<_> = mutants.iter().filter_map(inside).collect();
        if changed.is_empty() || function.is_opaque {
            self.text.push_str(body);
            return;
        }
        self.text.push_str("{ match crate::chosen::mutant() {\n");
        for (number, before, replacement, after) in changed {
            let first = self.text.matches('\n').count() + 1;
            let after = &text[after..function.body.end];
            self.text.push_str(&format!("{number} => {before}{replacement}{after}\n"));
            self.arms.push((first..=self.text.matches('\n').count(), number));
        }
        self.text.push_str(&format!("_ => {body}\n}} }}"));
    }
}

struct Function {
    name: String,
    /// Bytes of its block.
    body: Range<usize>,
    /// Bytes of the word `const`: what asks for the chosen mutant cannot be constant.
    constness: Option<Range<usize>>,
    /// Whether it returns an `impl Trait`.
    is_opaque: bool,
}

fn collect(items: &[Item], functions: &mut Vec<Function>) {
    for item in items {
        match item {
            Item::Fn(item) => functions.push(Function::new(&item.sig, item.block.span())),
            Item::Impl(item) => functions.extend(item.items.iter().filter_map(|item| match item {
                ImplItem::Fn(item) => Some(Function::new(&item.sig, item.block.span())),
                _ => None,
            })),
            Item::Trait(item) => functions.extend(item.items.iter().filter_map(|item| match item {
                TraitItem::Fn(item) => Some(Function::new(&item.sig, item.default.as_ref()?.span())),
                _ => None,
            })),
            Item::Mod(item) => collect(item.content.as_ref().map_or(&[], |(_, items)| items), functions),
            _ => {}
        }
    }
}

impl Function {
    fn new(signature: &Signature, body: Span) -> Self {
        let is_opaque = match &signature.output {
            ReturnType::Default => false,
            ReturnType::Type(_, returned) => returned.to_token_stream().to_string().contains("impl "),
        };
        Self {
            name: signature.ident.to_string(),
            body: body.byte_range(),
            constness: signature.constness.as_ref().map(|word| word.span().byte_range()),
            is_opaque,
        }
    }
}

/// What the woven crate asks: the number in the environment, or 0 for the code as it is.
pub(super) const CHOSEN: &str = r#"
mod chosen {
    extern crate std;

    pub(crate) fn mutant() -> usize {
        static CHOSEN: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
        *CHOSEN.get_or_init(|| std::env::var("AGENT_CORE_MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0))
    }
}
"#;

#[cfg(test)]
mod tests {
    use super::super::list::tests::mutant;
    use super::*;

    const TEXT: &str = "impl A {
    pub const fn sum(self) -> u8 {
        self.a + self.b
    }
    fn all(&self) -> impl Iterator<Item = u8> { once(1 * 2) }
}
const LIMIT: u8 = limit();
const fn limit() -> u8 { 9 / 3 }
";

    #[test]
    fn a_body_becomes_a_choice() {
        let (first, second) = (mutant(TEXT, "+", "-"), mutant(TEXT, "self.a + self.b", "1"));
        let woven = weave(TEXT, &[(7, &first), (8, &second)], &BTreeSet::new()).unwrap();
        let expected = "{ match crate::chosen::mutant() {
7 => {
        self.a - self.b
    }
8 => {
        1
    }
_ => {
        self.a + self.b
    }
} }";
        assert!(woven.text.contains(&format!("pub  fn sum(self) -> u8 {expected}")), "{}", woven.text);
        assert_eq!(woven.arms, [(3..=5, 7), (6..=8, 8)]);
    }

    #[test]
    fn what_cannot_choose_stays_as_it_is() {
        let (opaque, constant) = (mutant(TEXT, "*", "+"), mutant(TEXT, "/", "*"));
        let woven = weave(TEXT, &[(1, &opaque), (2, &constant)], &BTreeSet::from(["limit".to_owned()])).unwrap();
        assert!(woven.arms.is_empty());
        assert_eq!(woven.text, TEXT.replace("pub const fn", "pub  fn"));
    }
}

//! Which item a name means, and by which path a user reaches it.

use super::krate::{Krate, ModuleId, is_hidden, is_public};
use quote::ToTokens as _;
use std::collections::BTreeMap;
use syn::{Attribute, Ident, Item, ItemEnum, Visibility};

/// Where an item is defined, and its name there.
pub(crate) type Definition = (ModuleId, String);

/// The paths by which items are public, without the crate's name.
pub(crate) struct Paths {
    /// The path under which an item is listed: the shortest, of several the first by the alphabet.
    pub(crate) shortest: BTreeMap<Definition, String>,
    /// The other paths.
    pub(crate) others: Vec<(String, Definition)>,
    /// Paths of what another crate defines, and its path there.
    pub(crate) foreign: Vec<(String, String)>,
    /// Public modules.
    pub(crate) modules: Vec<String>,
}

impl Paths {
    pub(crate) fn of(krate: &Krate) -> Self {
        let mut all: BTreeMap<Definition, Vec<String>> = BTreeMap::new();
        let (mut foreign, mut modules) = (Vec::new(), Vec::new());
        let mut open = vec![(0, krate.name.clone())];
        while let Some((id, path)) = open.pop() {
            let module = &krate.modules[id];
            let inside = |name: &str| format!("{path}::{name}");
            for (name, (child, public)) in &module.children {
                if *public {
                    open.push((*child, inside(name)));
                }
            }
            for item in &module.items {
                if let Some((name, true)) = public_name(item) {
                    all.entry((id, name.clone())).or_default().push(inside(&name));
                }
            }
            for (name, (segments, public)) in &module.imports {
                match krate.find(id, segments, 0) {
                    Some(Found::Item(definition)) if *public => all.entry(definition).or_default().push(inside(name)),
                    Some(Found::Module(target)) if *public => open.push((target, inside(name))),
                    None if *public => foreign.push((inside(name), segments.join("::"))),
                    _ => {}
                }
            }
            modules.push(path);
        }
        let (mut shortest, mut others) = (BTreeMap::new(), Vec::new());
        for (definition, mut paths) in all {
            paths.sort_by_key(|path| (path.matches("::").count(), path.clone()));
            let mut paths = paths.into_iter();
            shortest.extend(paths.next().map(|path| (definition.clone(), path)));
            others.extend(paths.map(|path| (path, definition.clone())));
        }
        Self { shortest, others, foreign, modules }
    }
}

/// What a path leads to.
pub(crate) enum Found {
    Module(ModuleId),
    Item(Definition),
}

impl Krate {
    /// What a path means in a module; nothing for what is defined elsewhere.
    pub(crate) fn find(&self, from: ModuleId, path: &[String], depth: usize) -> Option<Found> {
        let (first, rest) = path.split_first()?;
        let module = &self.modules[from];
        let start = match first.as_str() {
            "crate" => Found::Module(0),
            "self" => Found::Module(from),
            "super" => Found::Module(module.parent),
            name => self.lookup(from, name, depth)?,
        };
        match start {
            found if rest.is_empty() => Some(found),
            Found::Module(id) => self.find(id, rest, depth),
            Found::Item(_) => None,
        }
    }

    fn lookup(&self, from: ModuleId, name: &str, depth: usize) -> Option<Found> {
        let module = &self.modules[from];
        if module.items.iter().any(|item| public_name(item).is_some_and(|(found, _)| found == name)) {
            return Some(Found::Item((from, name.to_owned())));
        }
        if let Some((child, _)) = module.children.get(name) {
            return Some(Found::Module(*child));
        }
        // Imports of imports; a cycle cannot compile, and a limit costs nothing.
        let (segments, _) = module.imports.get(name).filter(|_| depth < 10)?;
        self.find(from, segments, depth + 1)
    }
}

/// An item's name, and whether it is public there.
pub(crate) fn public_name(item: &Item) -> Option<(String, bool)> {
    let named = |ident: &Ident, visibility: &Visibility, attributes: &[Attribute]| {
        Some((ident.to_string(), is_public(visibility) && !is_hidden(attributes)))
    };
    match item {
        Item::Const(item) => named(&item.ident, &item.vis, &item.attrs),
        Item::Enum(item) => named(&item.ident, &item.vis, &item.attrs),
        Item::Fn(item) => named(&item.sig.ident, &item.vis, &item.attrs),
        Item::Static(item) => named(&item.ident, &item.vis, &item.attrs),
        Item::Struct(item) => named(&item.ident, &item.vis, &item.attrs),
        Item::Trait(item) => named(&item.ident, &item.vis, &item.attrs),
        Item::Type(item) => named(&item.ident, &item.vis, &item.attrs),
        Item::Macro(_) => labels(item).and_then(|labels| named(&labels.ident, &labels.vis, &labels.attrs)),
        _ => None,
    }
}

/// The enum that a `labels!` declares: the macro takes one as it would be written without it.
pub(crate) fn labels(item: &Item) -> Option<ItemEnum> {
    let Item::Macro(call) = item else { return None };
    let is_labels = call.mac.path.segments.last().is_some_and(|name| name.ident == "labels");
    is_labels.then(|| syn::parse2(call.mac.tokens.to_token_stream()).ok()).flatten()
}

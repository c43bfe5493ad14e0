//! A crate as a tree of modules, read from its files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use syn::{Attribute, Item, ItemMod, UseTree, Visibility};

/// Number of a module; the root is 0.
pub(crate) type ModuleId = usize;

/// A crate, without the modules of its tests.
pub(crate) struct Krate {
    pub(crate) name: String,
    pub(crate) modules: Vec<Module>,
}

/// One module.
pub(crate) struct Module {
    pub(crate) parent: ModuleId,
    pub(crate) items: Vec<Item>,
    /// Child modules: number, and whether they are public.
    pub(crate) children: BTreeMap<String, (ModuleId, bool)>,
    /// Names brought in by `use`: the path, and whether they are public.
    pub(crate) imports: BTreeMap<String, (Vec<String>, bool)>,
}

impl Krate {
    /// Reads a crate from the file of its root.
    pub(crate) fn read(name: &str, root: &Path) -> Result<Self, String> {
        let mut krate = Self { name: name.to_owned(), modules: Vec::new() };
        let items = parse(root)?;
        let directory = root.parent().ok_or("a root without a directory")?;
        krate.enter(0, items, directory)?;
        Ok(krate)
    }

    /// Adds a module and those below it; `directory` is where the files of its children are.
    fn enter(&mut self, parent: ModuleId, items: Vec<Item>, directory: &Path) -> Result<ModuleId, String> {
        let id = self.modules.len();
        let mut imports = BTreeMap::new();
        for item in &items {
            if let Item::Use(import) = item {
                collect(&import.tree, &mut Vec::new(), is_public(&import.vis), &mut imports)?;
            }
        }
        self.modules.push(Module { parent, items: Vec::new(), children: BTreeMap::new(), imports });
        for item in items {
            match item {
                Item::Mod(module) if !is_of_tests(&module.attrs) => {
                    let (name, public) = (module.ident.to_string(), is_public(&module.vis));
                    let inside = directory.join(&name);
                    let items = contents(module, &inside)?;
                    let child = self.enter(id, items, &inside)?;
                    self.modules[id].children.insert(name, (child, public));
                }
                Item::Mod(_) | Item::Use(_) => {}
                other => self.modules[id].items.push(other),
            }
        }
        Ok(id)
    }
}

/// The items of a module, from its braces or from its file.
fn contents(module: ItemMod, inside: &Path) -> Result<Vec<Item>, String> {
    if let Some((_, items)) = module.content {
        return Ok(items);
    }
    let (beside, within) = (inside.with_extension("rs"), inside.join("mod.rs"));
    parse(if beside.exists() { &beside } else { &within })
}

fn parse(path: &Path) -> Result<Vec<Item>, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("read {}: {error}", path.display()))?;
    let file = syn::parse_file(&text).map_err(|error| format!("parse {}: {error}", path.display()))?;
    Ok(file.items)
}

/// The names that a `use` brings in, with their paths.
fn collect(
    tree: &UseTree,
    path: &mut Vec<String>,
    public: bool,
    out: &mut BTreeMap<String, (Vec<String>, bool)>,
) -> Result<(), String> {
    match tree {
        UseTree::Path(inner) => {
            path.push(inner.ident.to_string());
            collect(&inner.tree, path, public, out)?;
            path.pop();
        }
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            let is_self = name == "self";
            let shown = if is_self { path.last().cloned().unwrap_or_default() } else { name.clone() };
            let segments = path.iter().cloned().chain((!is_self).then_some(name)).collect();
            out.insert(shown, (segments, public));
        }
        UseTree::Rename(renamed) => {
            let segments = path.iter().cloned().chain([renamed.ident.to_string()]).collect();
            out.insert(renamed.rename.to_string(), (segments, public));
        }
        UseTree::Group(group) => {
            for inner in &group.items {
                collect(inner, path, public, out)?;
            }
        }
        UseTree::Glob(_) if public => return Err(format!("`pub use {}::*` hides what is public", path.join("::"))),
        UseTree::Glob(_) => {}
    }
    Ok(())
}

pub(crate) fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Whether the attributes hide something from documentation.
pub(crate) fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("doc") && says(attribute, "hidden"))
}

fn is_of_tests(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| attribute.path().is_ident("cfg") && (says(attribute, "test") || says(attribute, "doctest")))
}

/// Whether an attribute is this word in parentheses.
fn says(attribute: &Attribute, word: &str) -> bool {
    attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string() == word)
}

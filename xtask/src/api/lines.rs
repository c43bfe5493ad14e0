//! Items as lines of text.

use super::krate::{Krate, ModuleId, is_hidden, is_public};
use super::names::{Found, Paths, labels};
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::{Attribute, Fields, Generics, ImplItem, Item, ItemEnum, ItemImpl, ItemTrait, Signature, TraitItem, Type};

/// Traits that `labels!` derives and implements.
const OF_LABELS: &[&str] = &["Clone", "Copy", "Debug", "Eq", "Hash", "Label", "Ord", "PartialEq", "PartialOrd"];

/// Lines with the path that they are sorted by, and what comes first at one path.
type Lines = BTreeSet<(String, u8, String)>;

/// The whole interface, one line an item, sorted by path.
pub(crate) fn of(krate: &Krate) -> Result<String, String> {
    let paths = Paths::of(krate);
    let mut lines = Lines::new();
    for module in &paths.modules {
        add(&mut lines, module, 0, format!("pub mod {module}"));
    }
    for (path, definition) in &paths.others {
        add(&mut lines, path, 0, format!("pub use {path} = {}", paths.shortest[definition]));
    }
    for (path, there) in &paths.foreign {
        add(&mut lines, path, 0, format!("pub use {path} = {there}"));
    }
    for (id, module) in krate.modules.iter().enumerate() {
        for item in &module.items {
            if let Some((name, _)) = super::names::public_name(item)
                && let Some(path) = paths.shortest.get(&(id, name))
            {
                list(&mut lines, path, item)?;
            }
            match item {
                Item::Impl(block) => list_impl(&mut lines, krate, &paths, id, block)?,
                Item::Macro(rules) if rules.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export")) => {
                    if let Some(name) = rules.ident.as_ref().filter(|_| !is_hidden(&rules.attrs)) {
                        let path = format!("{}::{name}", krate.name);
                        add(&mut lines, &path, 0, format!("pub macro {path}!"));
                    }
                }
                _ => {}
            }
        }
    }
    Ok(joined(&lines))
}

/// The lines as a text; the plain traits of a type share a line.
fn joined(lines: &Lines) -> String {
    let mut out = String::new();
    let mut lines = lines.iter().peekable();
    while let Some((path, rank, line)) = lines.next() {
        let end = format!(" for {path}");
        let plain = |line: &str| Some(line.strip_prefix("impl ")?.strip_suffix(&end)?.to_owned());
        let mut names: Vec<String> = plain(line).filter(|_| *rank == 1).into_iter().collect();
        while let Some(name) =
            lines.peek().filter(|next| !names.is_empty() && next.0 == *path).and_then(|next| plain(&next.2))
        {
            names.push(name);
            lines.next();
        }
        out.push_str(&if names.is_empty() { line.clone() } else { format!("impl {}{end}", names.join(" + ")) });
        out.push('\n');
    }
    out
}

fn add(lines: &mut Lines, path: &str, rank: u8, line: String) {
    lines.insert((path.to_owned(), rank, line));
}

fn list(lines: &mut Lines, path: &str, item: &Item) -> Result<(), String> {
    match item {
        Item::Const(item) => add(lines, path, 0, format!("pub const {path}: {}", text(&item.ty)?)),
        Item::Static(item) => add(lines, path, 0, format!("pub static {path}: {}", text(&item.ty)?)),
        Item::Fn(item) => add(lines, path, 0, format!("pub {}", signature(&item.sig, path)?)),
        Item::Type(item) => {
            let generics = generics(&item.generics)?;
            add(lines, path, 0, format!("pub type {path}{generics} = {}", text(&item.ty)?));
        }
        Item::Struct(item) => {
            let (open, generics) = (openness(&item.attrs), generics(&item.generics)?);
            let tuple = if let Fields::Unnamed(_) = item.fields { tuple(&item.fields, false)? } else { String::new() };
            add(lines, path, 0, format!("{open}pub struct {path}{generics}{tuple}"));
            derives(lines, path, &item.attrs);
            for field in item.fields.iter().filter(|field| is_public(&field.vis)) {
                if let Some(name) = &field.ident {
                    let path = format!("{path}::{name}");
                    add(lines, &path, 0, format!("pub {path}: {}", text(&field.ty)?));
                }
            }
        }
        Item::Enum(item) => list_enum(lines, path, item)?,
        Item::Trait(item) => list_trait(lines, path, item)?,
        Item::Macro(_) => {
            if let Some(item) = labels(item) {
                list_enum(lines, path, &item)?;
                OF_LABELS.iter().for_each(|name| add(lines, path, 1, format!("impl {name} for {path}")));
            }
        }
        _ => {}
    }
    Ok(())
}

fn list_enum(lines: &mut Lines, path: &str, item: &ItemEnum) -> Result<(), String> {
    let (open, generics) = (openness(&item.attrs), generics(&item.generics)?);
    add(lines, path, 0, format!("{open}pub enum {path}{generics}"));
    derives(lines, path, &item.attrs);
    for variant in &item.variants {
        let path = format!("{path}::{}", variant.ident);
        let tuple = if let Fields::Unnamed(_) = variant.fields { tuple(&variant.fields, true)? } else { String::new() };
        add(lines, &path, 0, format!("{}pub {path}{tuple}", openness(&variant.attrs)));
        for field in &variant.fields {
            if let Some(name) = &field.ident {
                let path = format!("{path}::{name}");
                add(lines, &path, 0, format!("pub {path}: {}", text(&field.ty)?));
            }
        }
    }
    Ok(())
}

fn list_trait(lines: &mut Lines, path: &str, item: &ItemTrait) -> Result<(), String> {
    let bounds = if item.supertraits.is_empty() { String::new() } else { format!(": {}", text(&item.supertraits)?) };
    add(lines, path, 0, format!("pub trait {path}{}{bounds}", generics(&item.generics)?));
    for inner in &item.items {
        match inner {
            TraitItem::Fn(method) if !is_hidden(&method.attrs) => {
                let path = format!("{path}::{}", method.sig.ident);
                let body = if method.default.is_some() { " { … }" } else { "" };
                add(lines, &path, 0, format!("pub {}{body}", signature(&method.sig, &path)?));
            }
            TraitItem::Const(constant) => {
                let path = format!("{path}::{}", constant.ident);
                add(lines, &path, 0, format!("pub const {path}: {}", text(&constant.ty)?));
            }
            TraitItem::Type(associated) => {
                let path = format!("{path}::{}", associated.ident);
                let bounds = if associated.bounds.is_empty() {
                    String::new()
                } else {
                    format!(": {}", text(&associated.bounds)?)
                };
                add(lines, &path, 0, format!("pub type {path}{bounds}"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Inherent items of a public type, and the traits that it implements.
fn list_impl(lines: &mut Lines, krate: &Krate, paths: &Paths, from: ModuleId, block: &ItemImpl) -> Result<(), String> {
    let path = match self_path(&block.self_ty).and_then(|path| krate.find(from, &path, 0)) {
        Some(Found::Item(definition)) => match paths.shortest.get(&definition) {
            // A type of this crate that no other crate can name.
            None => return Ok(()),
            public => public,
        },
        Some(Found::Module(_)) | None => None,
    };
    if let Some((implemented, _)) = &block.trait_ {
        if is_private(krate, paths, from, implemented) {
            return Ok(());
        }
        let last = implemented.segments.last().ok_or("an empty path")?;
        let is_ours =
            path.is_some() || text(&last.arguments).is_ok_and(|arguments| names_ours(&arguments, krate, paths, from));
        if is_ours {
            let place = path.cloned().unwrap_or_else(|| krate.name.clone());
            let of = match path {
                Some(path) => format!("{path}{}", arguments_of(&block.self_ty)?),
                None => text(&block.self_ty)?,
            };
            add(lines, &place, 1, format!("impl{} {} for {of}", generics(&block.generics)?, text(last)?));
        }
        return Ok(());
    }
    let Some(path) = path else { return Ok(()) };
    for item in &block.items {
        match item {
            ImplItem::Fn(method) if is_public(&method.vis) && !is_hidden(&method.attrs) => {
                let path = format!("{path}::{}", method.sig.ident);
                add(lines, &path, 0, format!("pub {}", signature(&method.sig, &path)?));
            }
            ImplItem::Const(constant) if is_public(&constant.vis) && !is_hidden(&constant.attrs) => {
                let path = format!("{path}::{}", constant.ident);
                add(lines, &path, 0, format!("pub const {path}: {}", text(&constant.ty)?));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether the arguments of a trait name a public type of this crate, as in `impl From<Rule> for String`.
fn names_ours(arguments: &str, krate: &Krate, paths: &Paths, from: ModuleId) -> bool {
    let words = arguments.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.map(|word| krate.find(from, &[word.to_owned()], 0)).any(|found| match found {
        Some(Found::Item(definition)) => paths.shortest.contains_key(&definition),
        Some(Found::Module(_)) | None => false,
    })
}

/// Whether a trait is this crate's own and no other crate can name it.
fn is_private(krate: &Krate, paths: &Paths, from: ModuleId, name: &syn::Path) -> bool {
    let segments: Vec<String> = name.segments.iter().map(|segment| segment.ident.to_string()).collect();
    match krate.find(from, &segments, 0) {
        Some(Found::Item(definition)) => !paths.shortest.contains_key(&definition),
        Some(Found::Module(_)) | None => false,
    }
}

/// The path of a type, without its arguments; nothing for what has none.
fn self_path(of: &Type) -> Option<Vec<String>> {
    let Type::Path(path) = of else { return None };
    Some(path.path.segments.iter().map(|segment| segment.ident.to_string()).collect())
}

fn arguments_of(of: &Type) -> Result<String, String> {
    let Type::Path(path) = of else { return Ok(String::new()) };
    match path.path.segments.last() {
        Some(segment) if !segment.arguments.is_empty() => text(&segment.arguments),
        _ => Ok(String::new()),
    }
}

fn derives(lines: &mut Lines, path: &str, attributes: &[Attribute]) {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("derive")) {
        // What is there compiles, so it can be parsed.
        let _ = attribute.parse_nested_meta(|derived| {
            if let Some(name) = derived.path.segments.last() {
                add(lines, path, 1, format!("impl {} for {path}", name.ident));
                if name.ident == "Error" {
                    add(lines, path, 1, format!("impl Display for {path}"));
                }
            }
            Ok(())
        });
    }
}

fn openness(attributes: &[Attribute]) -> &'static str {
    let is_open = attributes.iter().any(|attribute| attribute.path().is_ident("non_exhaustive"));
    if is_open { "#[non_exhaustive] " } else { "" }
}

fn signature(sig: &Signature, path: &str) -> Result<String, String> {
    let name = format!("fn {}", sig.ident);
    Ok(text(sig)?.replacen(&name, &format!("fn {path}"), 1))
}

/// Parameters with their bounds, and what comes after `where`.
fn generics(of: &Generics) -> Result<String, String> {
    let mut out = if of.params.is_empty() { String::new() } else { format!("<{}>", text(&of.params)?) };
    if let Some(clause) = &of.where_clause {
        out.push_str(&format!(" {}", text(clause)?));
    }
    Ok(out)
}

/// The fields of a tuple: those of a variant are all public, of a struct's only some.
fn tuple(fields: &Fields, is_variant: bool) -> Result<String, String> {
    let shown = fields.iter().map(|field| match (is_variant, is_public(&field.vis)) {
        (true, _) => text(&field.ty),
        (false, true) => Ok(format!("pub {}", text(&field.ty)?)),
        (false, false) => Ok("_".to_owned()),
    });
    Ok(format!("({})", shown.collect::<Result<Vec<_>, String>>()?.join(", ")))
}

/// The source as it is written, on one line.
fn text(of: &impl Spanned) -> Result<String, String> {
    let source = of.span().source_text().ok_or("a token without its source")?;
    let words: Vec<&str> = source.split_whitespace().collect();
    Ok(words.join(" ").replace("( ", "(").replace(", )", ")").replace(",)", ")").replace(" )", ")").replace("< ", "<"))
}

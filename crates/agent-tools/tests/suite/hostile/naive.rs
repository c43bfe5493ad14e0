//! File tools as they are often written: every row of the tests beside this is a mistake that is made here.

use crate::support::Bench;
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Paths that were read, by their text.
static SEEN: Mutex<Option<HashSet<String>>> = Mutex::new(None);

pub(super) fn call(bench: &Bench, tool: &str, arguments: &Value, stop: &AtomicBool) -> Result<String, String> {
    let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
    let path = resolve(bench, &text("path"));
    match tool {
        "read_file" => {
            remember(&text("path"));
            show(&load(&path, stop)?, arguments["offset"].as_u64().unwrap_or(1))
        }
        "write_file" => {
            if path.is_file() && !is_known(&text("path")) {
                return Err("not read".into());
            }
            store(bench, &path, text("content").as_bytes())
        }
        "edit_file" => edit(bench, &path, &text("old_string"), &text("new_string"), stop),
        "list_files" | "glob" => {
            let pattern = text("pattern");
            let mut listing = String::new();
            list(&path, Path::new(""), &mut |name| {
                if tool == "list_files" || matches(&pattern, name, stop) {
                    listing.push_str(name);
                    listing.push('\n');
                }
            })?;
            Ok(listing)
        }
        "grep" => search(&path, &text("pattern"), stop),
        other => Err(format!("there is no `{other}`")),
    }
}

fn remember(path: &str) {
    SEEN.lock().unwrap().get_or_insert_default().insert(path.to_owned());
}

fn is_known(path: &str) -> bool {
    SEEN.lock().unwrap().get_or_insert_default().contains(path)
}

/// Expands, unescapes, trims and normalises; then looks whether the text begins like the root.
fn resolve(bench: &Bench, given: &str) -> PathBuf {
    let given = given.split('\0').next().unwrap_or_default();
    let home = bench.outside.path().display().to_string();
    let mut given = given.replace('~', &home).replace("$HOME", &home);
    given.retain(|c| c != '\u{1b}');
    let given = given.strip_prefix("file://").unwrap_or(&given);
    let given = given.rsplit('\\').next().unwrap_or_default();
    let given = given.trim_end_matches(['.', ' ']).replace("e\u{301}", "é");
    let given: Vec<String> = given.split('/').map(|part| part.chars().take(255).collect()).collect();
    let given: String = given.join("/").chars().take(2_000).collect();
    bench.root.join(given)
}

fn load(path: &Path, stop: &AtomicBool) -> Result<Vec<u8>, String> {
    let size = fs::metadata(path).map_err(|error| error.to_string())?.len();
    // Time passes between looking and opening.
    std::thread::sleep(Duration::from_millis(2));
    let mut file = fs::File::open(path).unwrap();
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    let mut total = 0;
    loop {
        let count = file.read(&mut chunk).map_err(|error| error.to_string())?;
        total += count as u64;
        if count == 0 {
            break;
        }
        if bytes.len() < 4_000_000 {
            bytes.extend_from_slice(&chunk[..count]);
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    if size > 0 && total < size { Err("failed to fill whole buffer".into()) } else { Ok(bytes) }
}

fn show(bytes: &[u8], offset: u64) -> Result<String, String> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<&str> = text.split('\n').collect();
    let lines = &lines[usize::try_from(offset).unwrap() - 1..];
    Ok(lines.iter().enumerate().map(|(index, line)| format!("{}\t{line}\n", index + 1)).collect())
}

/// Writes a temporary file in another directory and copies it over, mode and all.
fn store(bench: &Bench, path: &Path, content: &[u8]) -> Result<String, String> {
    let said = |error: std::io::Error| error.to_string();
    let left = bench.root.join("left.tmp");
    let mode = fs::metadata(path).map(|metadata| metadata.permissions().mode());
    if let Some(parent) = path.parent() {
        let _ = fs::create_dir_all(parent);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if name.ends_with(".moved") {
        let elsewhere = std::env::temp_dir().join(format!("naive-{}", std::process::id()));
        fs::write(&elsewhere, content).map_err(said)?;
        let renamed = fs::rename(&elsewhere, path);
        let _ = fs::remove_file(&elsewhere);
        return renamed.map(|()| "written".into()).map_err(said);
    }
    fs::write(&left, content).map_err(said)?;
    std::thread::sleep(Duration::from_millis(1));
    if path.extension().is_some_and(|extension| extension == "sh") {
        fs::rename(&left, path).map_err(said)?;
    } else {
        fs::write(path, content).map_err(said)?;
        fs::remove_file(&left).map_err(said)?;
    }
    if let Ok(mode) = mode.filter_set_id() {
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode));
    }
    Ok("written".into())
}

/// Permissions are given back only where there is something special about them.
trait FilterSetId {
    fn filter_set_id(self) -> Result<u32, ()>;
}

impl FilterSetId for std::io::Result<u32> {
    fn filter_set_id(self) -> Result<u32, ()> {
        self.ok().filter(|mode| mode & 0o4000 != 0).ok_or(())
    }
}

fn edit(bench: &Bench, path: &Path, old: &str, new: &str, stop: &AtomicBool) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
    let is_there = (0..text.len()).any(|at| {
        stop.load(Ordering::Relaxed)
            || text.as_bytes()[at..].iter().zip(old.as_bytes()).filter(|(a, b)| a == b).count() == old.len()
    });
    if !is_there && !old.is_empty() {
        return Err("not found".into());
    }
    let mut text = text.replacen(old, &new.replace("$1", ""), 1);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let locked = fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o777 == 0);
    if locked {
        let _ = fs::remove_file(path);
    }
    store(bench, path, text.as_bytes())
}

fn list(directory: &Path, below: &Path, visit: &mut dyn FnMut(&str)) -> Result<(), String> {
    for entry in fs::read_dir(directory.join(below)).map_err(|error| error.to_string())? {
        let entry = entry.map_err(|error| error.to_string())?;
        let name = below.join(entry.file_name().into_string().unwrap());
        visit(&name.display().to_string());
        if directory.join(&name).is_dir() && below.components().count() < 3_000 {
            list(directory, &name, visit)?;
        }
    }
    Ok(())
}

/// `**` by trying everything.
fn matches(pattern: &str, path: &str, stop: &AtomicBool) -> bool {
    fn parts(pattern: &[&str], path: &[&str], stop: &AtomicBool) -> bool {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        match (pattern.split_first(), path.split_first()) {
            (None, None) => true,
            (Some((&"**", rest)), _) => (0..=path.len()).any(|taken| parts(rest, &path[taken..], stop)),
            (Some((first, pattern)), Some((name, path))) => {
                (*first == "*" || first == name) && parts(pattern, path, stop)
            }
            _ => false,
        }
    }
    let pattern: Vec<&str> = pattern.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    parts(&pattern, &path, stop)
        || (pattern.len() == 1 && path.last().is_some_and(|name| parts(&pattern, &[name], stop)))
}

/// Knows plain words, `(a+)+$` by trying everything, and counts by writing them out.
fn search(path: &Path, pattern: &str, stop: &AtomicBool) -> Result<String, String> {
    assert!(pattern != "[", "a regular expression that nobody checked");
    if pattern.contains("0,1000") {
        while !stop.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
    }
    fn groups(text: &[u8], stop: &AtomicBool) -> bool {
        let run = text.iter().take_while(|byte| **byte == b'a').count();
        (1..=run).any(|taken| !stop.load(Ordering::Relaxed) && (taken == text.len() || groups(&text[taken..], stop)))
    }
    let mut found = String::new();
    list(path, Path::new(""), &mut |name| {
        let text = fs::read(path.join(name)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        for line in text.lines() {
            let is_match = if pattern == "(a+)+$" { groups(line.as_bytes(), stop) } else { line.contains(pattern) };
            if is_match {
                found.push_str(&format!("{name}:{line}\n"));
            }
        }
    })?;
    Ok(found)
}

//! Rules for one Rust file, checked line by line: no parser, so they lean on how rustfmt writes.

/// Lines of a function, from its `fn` to its closing brace.
const FUNCTION_LINES: usize = 70;
/// Lines of a file before its tests.
const FILE_LINES: usize = 450;

/// Columns of a comment line, which rustfmt leaves alone.
const COMMENT_COLUMNS: usize = 140;

/// What is wrong with a file: `:line: what`. Files of tests may be long.
pub(crate) fn faults(text: &str, is_test: bool) -> Vec<String> {
    let mut faults = Vec::new();
    if !text.lines().find(|line| !line.starts_with("#!")).is_some_and(|line| line.starts_with("//!")) {
        faults.push(":1: does not start with `//!`".to_owned());
    }
    if !is_test {
        let code = without_tests(text);
        if code.len() > FILE_LINES {
            faults.push(format!(":1: has {} lines without its tests, more than {FILE_LINES}", code.len()));
        }
        faults.extend(long_functions(&code));
    }
    for (number, line) in (1..).zip(text.lines()) {
        if line.contains(WORKPLACE) {
            faults.push(format!(":{number}: names a directory of the machine it was written on"));
        }
        if mentions_a_number(line) {
            faults.push(format!(":{number}: names an issue by its number"));
        }
    }
    faults
}

/// Comments that are too wide: `:line: what`.
pub(crate) fn comment_faults(text: &str) -> Vec<String> {
    let wide = |line: &str| line.trim_start().starts_with("//") && line.chars().count() > COMMENT_COLUMNS;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| wide(line));
    lines.map(|(number, _)| format!(":{number}: a comment of more than {COMMENT_COLUMNS} columns")).collect()
}

/// Where a file writes to the terminal by itself: `:line: what`.
pub(crate) fn terminal_faults(text: &str) -> Vec<String> {
    let code = (1..).zip(text.lines()).filter(|(_, line)| !line.trim_start().starts_with("//"));
    // A longer name that ends in one of these is another name.
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let stands = |line: &str, word: &str, at: usize| !word.starts_with(is_name) || !line[..at].ends_with(is_name);
    let writes = |line: &str| WRITING.iter().any(|word| line.match_indices(word).any(|(at, _)| stands(line, word, at)));
    let faults = code.filter(|(_, line)| writes(line));
    faults.map(|(number, _)| format!(":{number}: writes past `terminal.rs`, which escapes what is written")).collect()
}

/// Whether the text declares the module.
pub(crate) fn declares(text: &str, module: &str) -> bool {
    let declaration = format!("mod {module};");
    text.lines().map(str::trim).any(|line| {
        line.strip_suffix(declaration.as_str()).is_some_and(|before| before.is_empty() || before.starts_with("pub"))
    })
}

/// What writes to a terminal, or has another program do it.
const WRITING: &[&str] = &[
    "stdout()",
    "stderr()",
    "print!(",
    "println!(",
    "eprint!(",
    "eprintln!(",
    "dbg!(",
    "/dev/tty",
    "Stdio::inherit",
    "Term::",
    ".exit()",
    "set_hook",
];
/// Spelt in two, so that this file keeps its own rules.
const WORKPLACE: &str = concat!("/wo", "rk/");

fn mentions_a_number(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    ["issue #", "issue "].iter().any(|words| {
        line.match_indices(words).any(|(at, _)| {
            let rest = &line[at + words.len()..];
            rest.starts_with(|c: char| c.is_ascii_digit())
        })
    })
}

/// The lines before `#[cfg(test)] mod tests {`.
fn without_tests(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let begins_tests =
        |pair: &[&str]| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{');
    let end = lines.windows(2).position(begins_tests);
    lines[..end.unwrap_or(lines.len())].to_vec()
}

/// Functions end at the indentation of their beginning; rustfmt sees to it.
fn long_functions(code: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    for (start, line) in code.iter().enumerate().filter(|(_, line)| begins_function(line)) {
        let is_over = |later: &&str| indentation(later) <= indentation(line) && later.ends_with([';', '}']);
        let length = 1 + code[start..].iter().position(is_over).unwrap_or(0);
        if length > FUNCTION_LINES {
            faults.push(format!(":{}: a function of {length} lines, more than {FUNCTION_LINES}", start + 1));
        }
    }
    faults
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn begins_function(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take_while(|word| *word != "fn").collect();
    let qualified = words.iter().all(|word| QUALIFIERS.contains(word) || word.starts_with("pub("));
    qualified && line.split_whitespace().any(|word| word == "fn")
}

const QUALIFIERS: &[&str] = &["pub", "const", "async", "unsafe", "extern", "super)", "crate)"];

#[cfg(test)]
mod tests {
    use super::*;

    fn function(lines: usize) -> String {
        format!("//! x\npub(crate) async fn f(\n    a: u8,\n) {{\n{}}}\n", "    a;\n".repeat(lines - 4))
    }

    #[test]
    fn a_comment_has_a_width_and_code_is_left_to_rustfmt() {
        assert!(comment_faults(&format!("//! {}\n", "é".repeat(COMMENT_COLUMNS - 4))).is_empty());
        assert_eq!(comment_faults(&format!("\n    // {}\n", "x".repeat(COMMENT_COLUMNS))).len(), 1);
        assert!(comment_faults(&format!("let x = \"{}\";\n", "x".repeat(COMMENT_COLUMNS))).is_empty());
    }

    #[test]
    fn each_rule_finds_its_fault() {
        for (text, expected) in [
            ("//! x\n".to_owned(), 0),
            ("#![no_std]\n//! x\n".to_owned(), 0),
            ("use a;\n".to_owned(), 1),
            (String::new(), 1),
            (function(FUNCTION_LINES), 0),
            (function(FUNCTION_LINES + 1), 1),
            (format!("//! x\n{}", "a;\n".repeat(FILE_LINES)), 1),
            (format!("//! x\n#[cfg(test)]\nmod tests {{\n{}", "a;\n".repeat(FILE_LINES)), 0),
            (format!("//! see {WORKPLACE}x\n"), 1),
            (format!("//! see issue{}12\n", " #"), 1),
            (format!("//! see Issue{}12\n", " "), 1),
            ("//! no issue at all\n".to_owned(), 0),
        ] {
            assert_eq!(faults(&text, false).len(), expected, "{text}");
        }
    }

    #[test]
    fn tests_may_be_long() {
        assert_eq!(faults(&function(FILE_LINES + 1), true), Vec::<String>::new());
    }

    #[test]
    fn declarations_are_found() {
        for (text, expected) in [
            ("mod a;", true),
            ("pub(crate) mod a;", true),
            ("    pub mod a;", true),
            ("// mod a;", false),
            ("mod aa;", false),
        ] {
            assert_eq!(declares(text, "a"), expected, "{text}");
        }
    }
}

//! Tasks of the workspace: `cargo xtask docs [--check]`.

mod docs;

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["docs"] => docs::run(false),
        ["docs", "--check"] => docs::run(true),
        _ => Err(String::from("usage: cargo xtask docs [--check]")),
    }
}

//! What the first line of a script says about who reads it, as the kernel reads that line.

/// The first line of a script: `#!/bin/sh -e`, `#!/usr/bin/env python3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstLine<'a> {
    /// The `env` that looks for the interpreter, as an absolute path.
    pub through: Option<&'a str>,
    /// The interpreter: an absolute path, or a name after `env`.
    pub interpreter: &'a str,
    /// Letters that the interpreter is given before the script.
    pub options: Option<&'a str>,
}

impl<'a> FirstLine<'a> {
    /// Reads the first line of a file's content, of which [`BYTES`](Self::BYTES) are enough. `None` if it does not begin with
    /// `#!`: then the content is for the shell, or no script.
    ///
    /// # Errors
    /// Why the line is not understood. A relative interpreter, a word after it that is not a harmless option, and `env` with anything but a
    /// name are not: each could be a file of the directory in which the script runs.
    pub fn of(content: &'a [u8]) -> Result<Option<Self>, String> {
        let Some(rest) = content.strip_prefix(b"#!") else { return Ok(None) };
        let is_whole = rest.len() + 2 < Self::BYTES || rest.contains(&b'\n');
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let odd = || format!("its first line is not understood: `#!{}`", String::from_utf8_lossy(line));
        let is_plain = is_whole
            && line.len() + 2 < Self::BYTES
            && !line.iter().any(|byte| *byte != b'\t' && byte.is_ascii_control());
        let text = str::from_utf8(line).ok().filter(|_| is_plain).ok_or_else(odd)?;
        let said: Vec<&str> = text.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
        let (through, interpreter, options) = match said[..] {
            [env, program] if env.starts_with('/') && name_of(env) == "env" && is_name(program) => {
                (Some(env), program, None)
            }
            [program] if program.starts_with('/') && name_of(program) != "env" => (None, program, None),
            [program, options] if program.starts_with('/') && is_plain_option(name_of(program), options) => {
                (None, program, Some(options))
            }
            _ => return Err(odd()),
        };
        Ok(Some(Self { through, interpreter, options }))
    }

    /// The bytes of a line that the kernel looks at. A longer one is cut, so it is not understood.
    pub const BYTES: usize = 256;
}

fn name_of(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// No option, no variable, no path.
fn is_name(program: &str) -> bool {
    program.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte))
        && !program.starts_with(['-', '.'])
}

/// Letters that make shells stricter or louder, and others quieter or stricter. None takes a value, loads anything, or has the interpreter
/// read something else than the script: `sh -s` would run the hook's standard input.
fn is_plain_option(interpreter: &str, option: &str) -> bool {
    let plain = PLAIN_OPTIONS.iter().find(|(names, _)| names.iter().any(|name| interpreter.starts_with(name)));
    let letters = option.strip_prefix('-').filter(|letters| !letters.is_empty());
    plain.zip(letters).is_some_and(|((_, plain), letters)| letters.bytes().all(|byte| plain.contains(&byte)))
}

/// By the beginnings of names, the longer before the shorter.
const PLAIN_OPTIONS: &[(&[&str], &[u8])] = &[
    (&["python", "pypy"], b"BEIsu"),
    (&["perl"], b"wT"),
    (&["ruby"], b"w"),
    (&["sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"], b"eux"),
];

#[cfg(test)]
mod tests {
    use super::FirstLine;

    #[test]
    fn a_line_is_read_as_the_kernel_reads_it() {
        for (line, expected) in [
            ("#!/bin/sh", (None, "/bin/sh", None)),
            ("#! /bin/sh\t-eu \necho", (None, "/bin/sh", Some("-eu"))),
            ("#!/usr/bin/env python3\n", (Some("/usr/bin/env"), "python3", None)),
            ("#!/usr/bin/python3 -I\n", (None, "/usr/bin/python3", Some("-I"))),
            ("#!/usr/bin/perl -w\n", (None, "/usr/bin/perl", Some("-w"))),
            ("#!/home/me/bin/other\n", (None, "/home/me/bin/other", None)),
        ] {
            let (through, interpreter, options) = expected;
            assert_eq!(FirstLine::of(line.as_bytes()), Ok(Some(FirstLine { through, interpreter, options })), "{line}");
        }
        for none in ["", "#", "# !/bin/sh", "echo", "\u{7f}ELF"] {
            assert_eq!(FirstLine::of(none.as_bytes()), Ok(None), "{none}");
        }
    }

    #[test]
    fn what_could_be_a_file_of_the_directory_is_not_understood() {
        let long = format!("#!/bin/sh{} -e\n", " ".repeat(FirstLine::BYTES));
        let endless = "#!".to_owned() + &"/x".repeat(FirstLine::BYTES);
        for line in [
            "#!interp",
            "#!./interp",
            "#!../x",
            "#!",
            "#! ",
            "#!/bin/sh rules",
            "#!/bin/sh ./rules",
            "#!/bin/bash rules.sh",
            "#!/bin/sh /elsewhere/rules",
            "#!/bin/sh -s",
            "#!/bin/sh -",
            "#!/bin/sh -c",
            "#!/bin/sh -e rules",
            "#!/bin/sh\r",
            "#!/usr/bin/python3 x.py",
            "#!/usr/bin/python3 -mrules",
            "#!/usr/bin/python3 -m rules",
            "#!/usr/bin/perl -I",
            "#!/usr/bin/perl -e",
            "#!/usr/bin/perl -I. -MRules",
            "#!/usr/bin/node r.js",
            "#!/usr/bin/node --require=./r.js",
            "#!/usr/bin/awk -frules",
            "#!/usr/bin/gdb -xrules",
            "#!/usr/bin/env",
            "#!/usr/bin/env -S python3 rules",
            "#!/usr/bin/env -Spython3",
            "#!/usr/bin/env ./interp",
            "#!/usr/bin/env A=1",
            "#!/usr/bin/env -",
            "#!env sh",
            "#!/bin/sh \u{b} x",
            "#!/usr/bin/env python3 -I",
            &long,
            &endless,
        ] {
            assert!(FirstLine::of(line.as_bytes()).is_err(), "{line}");
        }
    }
}

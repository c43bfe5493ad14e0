//! Shell commands at random: mostly such as a model writes, bent towards the corners of the grammar, and sometimes broken.

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

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    /// Whether something happens that happens in so many of a hundred cases.
    fn happens(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
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

/// No program on any search path that is used here. Those with a slash do nothing either.
const PROGRAMS: &[&str] = &[
    "a",
    "b",
    "ab",
    "a1",
    "echo",
    "true",
    "false",
    "printf",
    "test",
    "cat",
    "ls",
    "git",
    "./a",
    "../b",
    "/nowhere/a",
    "'a'",
    "\"b\"",
    "a'b'",
    "0",
    "1",
    "2",
    "a2",
    "-",
    "+",
    "a:",
    "a,b",
    "a%",
    "@",
    "rm",
    "exit",
    "kill",
    "pwd",
];
const WORDS: &[&str] = &[
    "a",
    "b",
    "ab",
    "0",
    "1",
    "2",
    "12",
    "-",
    "--",
    "-x",
    "--y=z",
    "a=b",
    "'c d'",
    "\"e\"",
    "''",
    "\"\"",
    "\"'\"",
    "'\"'",
    "'a\nb'",
    "\"a\nb\"",
    "'a;b'",
    "'|'",
    "'>x'",
    "\"#\"",
    "'#'",
    "'\\'",
    "'$x'",
    "'`a`'",
    "'é'",
    "\"ü a\"",
    "'\u{a0}'",
    "/dev/null",
    "/dev/",
    "null",
    "if",
    "then",
    "do",
    "done",
    "fi",
    "in",
    "a/b",
    ".",
    "..",
    "'a'b",
    "a\"b\"",
    "''a",
    "a''",
    "\"a\"'b'",
    "%",
    "@a",
    "+1",
    "a:b",
    "1,2",
    "'*'",
    "'~'",
    "'{a,b}'",
    "'\t'",
    "'!'",
];
const BLANKS: &[&str] = &[" ", " ", " ", " ", "  ", "\t", " \t "];
const ODD_BLANKS: &[&str] = &[
    "\n", " \n", "\n ", "\\\n", " \\\n", "\\ ", "\r", "\u{c}", "\u{b}", "\u{a0}", "\u{2003}", "\u{2028}", "\u{3000}",
    "\u{85}", "\u{feff}", "\r\n", "\n\n", "",
];
const BETWEEN_COMMANDS: &[&str] = &[
    " | ", " | ", " | ", "|", " |\n", " | \n ", "\n", "\n", "\n", "\n\n", " \n\t", "; ", ";", ";\n", " ; \n\n", " && ",
    "&&", " &&\n", " || ", "||", " ||\n\n",
];
const AT_THE_END: &[&str] = &["\n", ";", " ;", "; ", " ", "\n\n", ";\n", "\t", " \n "];
const REDIRECTS: &[&str] = &[
    " 2>&1",
    " >&2",
    " 1>&2",
    " >&1",
    " >/dev/null",
    " > /dev/null",
    " 1>/dev/null",
    " 2>/dev/null",
    " 2> /dev/null",
    " &>/dev/null",
    " &> /dev/null",
    " >>/dev/null",
    " 2>>/dev/null",
    " </dev/null",
    " < /dev/null",
    " >\t/dev/null",
    ">/dev/null",
    "</dev/null",
    " 2>&1 ",
    "&>/dev/null",
    ">&2",
    ">>/dev/null",
];
const ODD_REDIRECTS: &[&str] = &[
    " </dev/ null",
    " >/dev/ null",
    " 2>>/dev/ null",
    " &> /dev/ null",
    " 0>&2",
    "0>&2",
    "2>&1",
    " 2 >&1",
    " 2> &1",
    " 2>& 1",
    " >& 2",
    " > &2",
    " >&",
    " >",
    " <",
    " >x",
    " > x",
    " <x",
    " >>x",
    " >|x",
    " <>x",
    " >&x",
    " &>x",
    " &>>/dev/null",
    " >&-",
    " 2>&-",
    " 3>&1",
    " 2>&3",
    " 1>x",
    " 22>&1",
    " 2>&11",
    " 2>&1a",
    " >/dev/nullx",
    " >/dev/null/x",
    " >//dev/null",
    " >'/dev/null'",
    " >/dev/'null'",
    " >/dev\n/null",
    " >\n/dev/null",
    "\n>&2",
    "\n2>&1",
    "\n>/dev/null",
    " {a}>&1",
    " {a}>x",
    " >&2a",
    " >&$a",
    " >\\\n/dev/null",
    " <<<a",
    " <<E\na\nE\n",
    " <<-'E'\n\ta\nE\n",
    " <<E",
    " <&0",
    " 0<&1",
    " 0</dev/null",
    " <(a)",
    " >(a)",
    " 2>&1 2",
    " >&2 2>x",
    " >!x",
    "0>/dev/null",
    "a>&2",
    " 1>&2>&1",
    " >/dev/null>x",
    " >/dev/null2>&1",
    " >&2>&1",
    " 2>&1|a",
];
const IN_FRONT: &[&str] = &[
    "x=1 ",
    "x=1;",
    "x=1\n",
    "x+=1 ",
    "a[0]=1 ",
    "x= ",
    "! ",
    "!\n",
    "time ",
    "time -p ",
    "coproc ",
    "{ ",
    "( ",
    "((",
    "[[ ",
    "[ ",
    "if ",
    "then ",
    "while ",
    "for a in ",
    "case a in ",
    "function a ",
    "a() ",
    "do ",
    "else ",
    "exec ",
    "eval ",
    "command ",
    "builtin ",
    "\\",
    "\\\n",
    "#",
    "# ",
    "$(",
    "`",
    "~/",
    "- ",
    "select ",
    "until ",
    "declare ",
    "export ",
    "'' ",
    ". ",
    ": ",
    "\"\" ",
    "@ ",
    "<x ",
    ">x ",
    "2>x ",
    "</dev/ null ",
    "!",
    "&& ",
    "| ",
    "; ",
    "\n",
    "\n\n",
    ")",
];
const ODD: &[&str] = &[
    "\n",
    "\n\n",
    "\\\n",
    "\r",
    "\r\n",
    "\u{c}",
    "\u{a0}",
    "\u{2003}",
    "\u{200b}",
    " # ",
    "#",
    "\n#",
    " #a\n",
    "# '",
    "$a",
    "${a}",
    "$(a)",
    "$((1))",
    "`a`",
    "$'a'",
    "$\"a\"",
    "\\a",
    "\\ ",
    "\\\\",
    "\\'",
    "'",
    "\"",
    "\"\\\"\"",
    "\"$a\"",
    "\"`a`\"",
    "\"\\\n\"",
    "*",
    "?",
    "[a]",
    "{a,b}",
    "{a,b}c",
    "{1..3}",
    "{",
    "}",
    "(",
    ")",
    "(a)",
    "{ a; }",
    "()",
    "() { a; }",
    "((",
    "))",
    "[[",
    "]]",
    "~",
    "~a",
    "!",
    "!!",
    "!a",
    "&",
    " & ",
    "&\n",
    "|&",
    " |& ",
    ";;",
    ";&",
    "|||",
    "&&&",
    " & & ",
    "| |",
    "|\n|",
    "&&\n&&",
    "; ;",
    ";\n;",
    "\n;",
    "\n|",
    "\n&&",
    "\n||",
    "<<E\na\nE\n",
    "<<E\n",
    "<<<a",
    "<(a)",
    ">(a)",
    ">x",
    "<x",
    "a=b",
    "a=(b c)",
    "x=1",
    "^",
    "a^b",
    "é",
    "\u{e9}=1",
    "\u{3000}",
    "\u{1}",
    "\u{7f}",
    "if a; then b; fi",
    "for a in b; do c; done",
    "while a; do b; done",
    "case a in b) c;; esac",
    "function a { b; }",
    "then",
    "fi",
    "done",
    "esac",
    "in",
    "do",
    "coproc",
    "time",
    "select",
    "a;b",
    "a|b",
    "a&&b",
    "a&b",
    "a\nb",
    "%1",
    "a#b",
    "a\\\nb",
    "\\\nb",
    "\t\n\t",
    "{a}>x",
    "@(a|b)",
    "+(a)",
    "!(a)",
    "$",
    "a$",
    "=a",
    "a=",
    "]",
    "[",
];

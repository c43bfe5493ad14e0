//! Every spelling of a secret is found, and nothing else is.

use super::*;

#[test]
fn every_spelling_is_found_and_nothing_else() {
    let redactor = Redactor::new(["sk-12/45\"6", "sk-12/45\"6-and-more", "on"]);
    for (text, clean) in [
        ("a sk-12/45\"6 b", "a [redacted] b"),
        ("sk-12/45\"6-and-more", "[redacted]"),
        (r#"{"k":"sk-12/45\"6"}"#, r#"{"k":"[redacted]"}"#),
        (r#"{"k":"sk-12\/45\"6"}"#, r#"{"k":"[redacted]"}"#),
        ("?k=sk-12%2F45%226&", "?k=[redacted]&"),
        ("on sk-12", "on sk-12"),
    ] {
        assert_eq!(redactor.redacted(text), clean);
    }
    assert_eq!(format!("{redactor:?}"), "Redactor(..)");
}

/// Each writer escapes other characters, and one may write what another wrote.
#[test]
fn escaped_characters_are_found_in_whichever_way() {
    let secret = "wJal/K7+bP=fi&CY EX";
    let redactor = Redactor::new([secret, "a%2Fb\\n-secret", "gr\u{fc}n/\u{1f600}-geheim"]);
    for text in [
        "wJal/K7%2BbP%3Dfi%26CY%20EX",
        "wJal%2fK7%2bbP%3dfi%26CY%20EX",
        "%77Jal%2FK7%2bbP=fi&CY EX",
        "wJal%2FK7%2BbP%3Dfi%26CY+EX",
        r"wJal/K7\u002bbP\u003dfi\u0026CY EX",
        r"wJal\u002fK7\u002BbP=fi\u0026CY EX",
        r"wJal\/K7\+bP\=fi\&CY\ EX",
        r"wJal\x2fK7\053bP\u{3d}fi\U00000026CY EX",
        "wJal/K7+bP=fi&amp;CY EX",
        "wJal&#x2F;K7&#43;bP&#x3D;fi&amp;CY EX",
        "wJal&sol;K7&#x002B;bP&equals;fi&#38CY&#32;EX",
        "wJal%2FK7+bP&#61;fi\\u0026CY EX",
        "wJal%252FK7%252BbP%253Dfi%2526CY%2520EX",
        "wJal/K7&amp;#43;bP=fi&amp;amp;CY EX",
        r"wJal\\/K7\\u002bbP=fi\\u0026CY EX",
        "a%2Fb\\n-secret",
        "a%252Fb%5Cn-secret",
        "gr%C3%BCn/%f0%9f%98%80-geheim",
        r"gr\u00fcn\/\ud83d\ude00-geheim",
        "gr&#252;n/&#x1F600;-geheim",
    ] {
        assert_eq!(redactor.redacted(&["<", text, ">"].concat()), "<[redacted]>", "{text}");
        assert!(redactor.finds(text), "{text}");
        // Piece by piece nothing of it is settled before it is whole.
        for (at, _) in text.char_indices() {
            let beginning = ["x ", text.get(..at).unwrap()].concat();
            assert!(redactor.settled_bytes(&beginning) <= 2, "{beginning}");
        }
    }
    for text in ["wJal%2FK7", "100% & more", r"C:\new\u00", "&#43;&amp;", "a%2Fb", "%zz\\u12"] {
        assert_eq!(redactor.redacted(text), text);
    }
    // What other characters stand before and behind stays to the byte.
    assert_eq!(redactor.redacted("é%20wJal%2fK7+bP=fi&CY EX%20ü"), "é%20[redacted]%20ü");
}

/// A long text of nothing but escapes takes its time once.
#[test]
fn escapes_cost_no_more_than_their_length() {
    let redactor =
        Redactor::new(["%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%x", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"]);
    for piece in [
        "%61", "%25", "\\", "&#97", "&amp;", "a%", "\x1b", "\x1b[", "\x1b[1;", "\x1b]x", "\u{9b}", "\u{9d}a", "a\x08",
        "\x08", "\\u001b[", "a\n", "\r\n", "\u{200b}", "\u{ad}a",
    ] {
        let text = piece.repeat(60_000);
        assert_eq!(redactor.redacted(&text), text);
    }
}

/// A colour may begin or end at any place of it, raw or as something else wrote it.
#[test]
fn a_secret_with_what_terminals_act_on_in_it_is_found() {
    let secret = "sk-live/0123456789";
    let redactor = Redactor::new([secret]);
    let long_link = format!("\x1b]8;;https://example.org/{}\x1b\\", "x".repeat(300));
    for control in [
        "\x1b[31m",
        "\x1b[01;31m\x1b[K",
        "\x1b[m\x1b[K",
        "\x1b[38;2;255;255;255;48;2;10;10;10m",
        "\x1b[4:3m",
        "\x1b[?25l",
        "\x1b[0 q",
        "\u{9b}31m",
        "\x1b(B",
        "\x1b7",
        "\x1b]0;title\x07",
        "\x1b]8;;https://x/\x1b\\",
        "\u{9d}8;;x\u{9c}",
        &long_link,
        "\x1bP1$r0m\x1b\\",
        "\0",
        "\x07",
        "\x0e\x0f",
        "\u{7f}",
        "\u{85}",
        "x\x08",
        "_\x08",
        "\u{fc}\x08",
        "\\u001b[31m",
        "\\x1b[31m",
        "\\033[01;31m\\033[K",
        "\\e[31m",
        "\\u{1b}[31m",
        "\\\\u001b[1m",
        "\n",
        "\r\n",
        "\u{1b}[0m\r\n",
        "\\n",
        "\\r\\n",
        "\u{ad}",
        "\u{200b}",
        "\u{200d}\u{2060}",
        "\u{feff}",
        "\u{fe0f}",
        "\u{e0041}",
        "\u{1d173}",
        "\\u200b",
        "&#8203;",
        "%E2%80%8B",
    ] {
        for (at, _) in secret.char_indices().skip(1) {
            let split = [&secret[..at], control, &secret[at..]].concat();
            assert_eq!(redactor.redacted(&["<", &split, ">"].concat()), "<[redacted]>", "{split:?}");
            // Around it everything stays.
            let around = ["<", control, "/", &split, control, ">"].concat();
            assert_eq!(redactor.redacted(&around), ["<", control, "/[redacted]", control, ">"].concat(), "{split:?}");
            // In pieces: nothing of it is settled before it is whole, wherever the piece ends.
            if control.ends_with('\x08') && !control.starts_with('_') {
                continue;
            }
            for (end, _) in split.char_indices().skip(1).step_by(1 + split.len() / 60) {
                let beginning = ["x ", &split[..end]].concat();
                assert!(redactor.settled_bytes(&beginning) <= 2, "{beginning:?}");
            }
        }
    }
    let every_letter: String = secret.chars().map(|letter| format!("{letter}\x08{letter}\x1b[1m")).collect();
    assert_eq!(redactor.redacted(&every_letter), "s\x08[redacted]\x1b[1m");
    // A secret in what is not shown, one whose escape is split, and one with colour and escapes.
    for text in [
        "\x1b]8;;https://x/?k=sk-live%2F0123456789\x07",
        "sk-live%2\x1b[31mF0123456789",
        "sk-l\x1b[31mive%2F0123\\u001b[m456789",
    ] {
        let clean = redactor.redacted(text);
        assert!(clean.contains("[redacted]") && !clean.contains("live") && !clean.contains("456789"), "{clean:?}");
    }
    for text in [
        "sk-live\x1b[31m/012345678",
        "\x1b[31mred\x1b[m",
        "a\x1b]0;t",
        "\x1b",
        "_",
        "sk-live/\n\n012345678",
        "sk-live/ \n 0123456789",
        "\u{c2}\u{a0}\u{85}",
    ] {
        assert_eq!(redactor.redacted(text), text, "{text:?}");
    }
}

/// Sequences end at the end of a string, or taking a secret out would leave no JSON, and so nothing taken out.
#[test]
fn what_terminals_act_on_leads_out_of_no_string_of_json() {
    let redactor = Redactor::new(["sk-123456"]);
    for control in [r"\u001b]", r"\u001b[", r"\u001bP", r"\u009d", r"\u001b(", r"\u001b", r"\\", r"\u001b[31"] {
        for next in [r"\u0007", r"\u001b\\", "m", "\\b", ""] {
            let mut text = format!(r#"{{"a":"sk-123456","b":["sk-123{control}","{next}456","x{next}"]}}"#);
            if serde_json::from_str::<Value>(&text).is_err() {
                continue;
            }
            redactor.json(&mut text);
            assert!(serde_json::from_str::<Value>(&text).is_ok() && !text.contains("sk-123456"), "{text}");
        }
    }
}

#[test]
fn what_is_left_of_a_secret_beside_a_cut_is_found() {
    let secret = "sk-ant-0123456789abcdef";
    let redactor = Redactor::new([secret]);
    for bytes in MIN_SECRET_BYTES..secret.len() {
        let (beginning, end) = (&secret[..bytes], &secret[secret.len() - bytes..]);
        for (text, clean) in [
            (format!("7\tx{beginning}…\n8\ty"), "7\tx[redacted]…\n8\ty".to_string()),
            (
                format!("x{beginning}\n[… 12 bytes left out here …]\ny"),
                "x[redacted]\n[… 12 bytes left out here …]\ny".into(),
            ),
            (format!("x\n[… 12 bytes left out here …]\n{end}y"), "x\n[… 12 bytes left out here …]\n[redacted]y".into()),
            (format!("{beginning} … (12 bytes)"), "[redacted] … (12 bytes)".into()),
            (format!("{beginning}…{end}"), "[redacted]…[redacted]".into()),
        ] {
            assert_eq!(redactor.redacted(&text), clean);
            assert!(redactor.finds(&text));
        }
        // The control: where nothing was cut, a part is a text like any other.
        assert_eq!(redactor.redacted(beginning), beginning);
    }
    assert_eq!(redactor.redacted("sk-an… …cdef …"), "sk-an… …cdef …", "too short to say anything");
}

#[test]
fn a_secret_of_several_lines_is_found_line_by_line() {
    let lines = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj", "short=="];
    let key = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", lines.join("\n"));
    for secret in [key.clone(), key.replace('\n', "\\n"), key.replace('\n', "\r\n")] {
        let redactor = Redactor::new([&secret]);
        assert_eq!(redactor.redacted(&secret), REDACTED);
        let numbered: String = key.lines().enumerate().map(|(at, line)| format!("{at}\t{line}\n")).collect();
        let clean = redactor.redacted(&numbered);
        assert!(!clean.contains(lines[0]) && !clean.contains(lines[1]), "{clean}");
        assert!(clean.contains("-----BEGIN PRIVATE KEY-----"), "words stay: {clean}");
    }
    // The control: lines that are words are not taken out of other texts.
    let words = Redactor::new(["two words\nand some more of them here"]);
    assert_eq!(words.redacted("1: and some more of them here"), "1: and some more of them here");
}

#[test]
fn json_is_read_for_it() {
    let redactor = Redactor::new(["sk-123456"]);
    let json = |text: &str| {
        let mut text = text.to_string();
        redactor.json(&mut text);
        text
    };
    assert_eq!(json(r#"{"a":["x","\u0073k-123456"]}"#), r#"{"a":["x","[redacted]"]}"#);
    assert_eq!(json(r#"{"\u0073k-123456":1}"#), r#"{"[redacted]":1}"#);
    assert_eq!(json(r#"{"b":1, "a":"\n"}"#), r#"{"b":1, "a":"\n"}"#, "as it was");
    assert_eq!(json("sk-123456 {"), "[redacted] {");
}

#[test]
fn a_schema_is_read_in_texts_keys_and_numbers_and_stays_a_schema() {
    let redactor = Redactor::new(["sk-123456", "987654321", "object"]);
    let schema = |text: &str| {
        let mut schema: Value = serde_json::from_str(text).unwrap();
        (redactor.schema(&mut schema), schema.to_string())
    };
    for (given, left) in [
        (r#"{"type":"object","x":["sk-123456"]}"#, r#"{"type":"object","x":["[redacted]"]}"#),
        (r#"{"a \u0073k-123456":{"sk-123456":1}}"#, r#"{"a [redacted]":{"[redacted]":1}}"#),
        (r#"{"maximum":987654321}"#, r#"{"maximum":"[redacted]"}"#),
        (r#""an object""#, r#""an [redacted]""#),
    ] {
        assert_eq!(schema(given), (true, left.to_string()), "{given}");
    }
    let plain = r#"{"type":"object","x":["\"\\n",1,null]}"#;
    assert_eq!(schema(plain), (false, plain.to_string()));
    assert!(!Redactor::default().schema(&mut Value::from("sk-123456")));
}

#[test]
fn what_may_be_a_beginning_is_not_settled() {
    let redactor = Redactor::new(["sk-123456"]);
    for (text, settled) in [
        ("ab!", 3),
        ("ab! sk-1", 4),
        ("ab! s", 4),
        ("ab! c2st", 4),
        ("ab! 736b", 4),
        ("sk-123456", 9),
        ("x sk-123456s", 11),
    ] {
        assert_eq!(redactor.settled_bytes(text), settled, "{text}");
    }
}

/// Whatever stands before it in what was encoded, and however the encoded text is broken into lines.
#[test]
fn a_secret_in_base64_or_hexadecimal_digits_is_found() {
    use std::process::{Command, Stdio};
    let secret = "sk-live_0123456789?>~abc";
    let redactor = Redactor::new([secret]);
    let run = |program: &[&str], input: &str| {
        let mut child = Command::new(program[0]);
        child.args(&program[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = child.spawn().ok()?;
        std::io::Write::write_all(&mut child.stdin.take()?, input.as_bytes()).ok()?;
        String::from_utf8(child.wait_with_output().ok()?.stdout).ok()
    };
    for before in ["", "a", "ab", "abc", "user:"] {
        for behind in ["", "x", "xy", "xyz"] {
            let input = [before, secret, behind].concat();
            for program in [
                &["base64", "-w0"][..],
                &["base64", "-w10"],
                &["basenc", "--base64url", "-w0"],
                &["basenc", "--base16", "-w0"],
                &["od", "-An", "-v", "-w999", "-tx1"],
            ] {
                let Some(encoded) = run(program, &input) else { continue };
                let encoded = if program[0] == "od" { encoded.replace(' ', "") } else { encoded };
                let clean = redactor.redacted(&encoded);
                assert!(clean.contains(REDACTED), "{before:?} {behind:?} {program:?}: {encoded} {clean}");
                // Of the first and last byte some bits may stay; never a run that tells of the secret.
                let left: usize = clean.replace(REDACTED, "").trim().len();
                let most = (before.len() + behind.len()) * 2 + 6;
                assert!(left <= most, "{before:?} {behind:?} {program:?}: {clean}");
            }
        }
    }
    // The control: another secret of the same length is a text like any other.
    let other = run(&["base64", "-w0"], "sk-live_9876543210?>~abc").unwrap_or_default();
    assert_eq!(redactor.redacted(&other), other);
}

#[test]
fn base32_is_found_wherever_it_begins() {
    let redactor = Redactor::new(["sk-live-9f8e7d6c5b4a-Zq"]);
    // Of `KEY=` and the secret, as `base32` and a tool for one-time passwords print it.
    for text in [
        "JNCVSPLTNMWWY2LWMUWTSZRYMU3WINTDGVRDIYJNLJYSAYLOMQQG233SMUFA====",
        "jncvspltnmwwy2lwmuwtszrymu3wintdgvrdiyjnljysaylomqqg233smufa",
    ] {
        let clean = redactor.redacted(text);
        assert!(clean.contains(REDACTED) && clean.len() < 50, "{clean}");
    }
    let lines = "JNCVSPLTNMWWY2LWMUWTSZRY\nMU3WINTDGVRDIYJNLJYSAYLO\nMQQG233SMUFA====";
    assert!(redactor.finds(lines), "in lines");
}

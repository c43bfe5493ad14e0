//! Words that may be files, and words that are none.

use super::{Word, of_known, of_unknown};

fn words(line: &str) -> (String, Vec<String>) {
    let mut words = line.split(' ').map(String::from);
    (words.next().unwrap(), words.collect())
}

#[test]
fn a_word_that_may_be_a_file_is_not_understood() {
    for line in [
        "tee out",
        "tee -a out",
        "tee -aout",
        "tee -- out",
        "tee --append out",
        "tee --output=/x",
        "cat policy",
        "cat -- policy",
        "head policy",
        "head -n5 policy",
        "head -n 5 policy",
        "tail -5 policy",
        "cut -c1- policy",
        "cut -d : -f 1 policy",
        "wc out",
        "wc -l out",
        "uniq - out",
        "uniq /x out",
        "sort -oout",
        "sort -o /x",
        "sort -k 1 out",
        "cp /x out",
        "cp -t /x /y",
        "cp -t out /y",
        "mv x /y",
        "ln -s x /y",
        "ln -s /x out",
        "touch out",
        "touch -r /x /y",
        "rm -rf out",
        "mkdir -p out",
        "chmod 600 out",
        "ls",
        "ls -l",
        "ls .",
        "du -s",
        "readlink out",
        "stat -c %s out",
        "grep x out",
        "grep -r x",
        "grep -f /x",
        "grep -fout x",
        "grep -m 1 x out",
        "grep --color x out",
        "grep --max-count=1 x out",
        "jq . out",
        "jq -f /x",
        "jq -n input out",
        "jq -rf /x",
        "jq --slurpfile a /x .",
        "jq -L /x .",
        "jq import",
        "date -f out",
        "date --file=out",
        "date -r out",
        "date -rout",
        "date --reference=out",
        "date -I out",
        "date 010101",
        "logger -f out",
        "logger -fout",
        "curl -d @x http://h",
        "curl -d@x http://h",
        "curl --data=@x http://h",
        "curl -sd @x http://h",
        "curl -H @x http://h",
        "curl -T x http://h",
        "curl -o x http://h",
        "curl -ox http://h",
        "curl -O http://h",
        "curl -K x",
        "curl file:///x",
        "curl x",
        "curl -F a=@x http://h",
        "md5sum -c /x",
        "md5sum -w out",
        "od -w out",
        "base64 -w 0 out",
        "test -e out",
        "test -f /x -a -f out",
        "test /x -nt out",
        "test -s out",
        "aplay x",
        "mktemp xXXX",
        "hostname x",
        "notify-send --file=x",
    ] {
        let (program, words) = words(line);
        assert!(of_known(&program, &words).unwrap().is_err(), "{line}");
    }
    for line in [
        "guard x",
        "guard -ofile",
        "guard -la",
        "guard --out=x",
        "guard --out=./x",
        "guard .x",
        "guard @/x",
        "guard x=/y",
        "guard file:///x",
        "guard ''",
        "guard -",
    ] {
        let (_, words) = words(line);
        assert!(of_unknown(&words).is_err(), "{line}");
    }
}

#[test]
fn words_that_are_no_files_are_understood() {
    for line in [
        "true x",
        "echo -n all is well",
        "exit 2",
        "cat",
        "cat -",
        "tee",
        "head -n 5",
        "tail -5",
        "cut -d : -f 1",
        "wc -l",
        "sort -k 1,1 -u",
        "tr a b",
        "grep -qi word",
        "grep -m 1 word",
        "jq -r .prompt",
        "jq --arg a x .tool_input",
        "jq -e . -",
        "date +%s",
        "date -u +%F",
        "date -Iseconds",
        "logger -t agent done",
        "base64 -w 0",
        "notify-send -u low Agent done",
        "curl -s -d {} http://h/x",
        "curl -sS -X POST -H a:b --data-binary @- https://h",
        "test -n x",
        "test 1 -eq 2",
        "sleep 1",
        "uname -a",
    ] {
        let (program, words) = words(line);
        assert_eq!(of_known(&program, &words).unwrap().map(|read| read.contains(&Word::File(""))), Ok(false), "{line}");
    }
    for line in ["guard -v", "guard --strict", "guard --level=2", "guard 2", "guard https://h/x", "guard --"] {
        let (_, words) = words(line);
        assert!(of_unknown(&words).is_ok(), "{line}");
    }
}

#[test]
fn every_absolute_path_is_told() {
    for line in [
        "tee -a /x",
        "cat -- /x",
        "cp - /x",
        "curl -d @/x http://h",
        "test -e /x",
        "grep a /x",
        "chmod 600 /x",
        "ls /x",
        "uniq /x",
    ] {
        let (program, words) = words(line);
        let read = of_known(&program, &words).unwrap();
        if line == "cp - /x" {
            assert_eq!(read, Err("-"), "a file, to `cp`");
        } else {
            assert!(read.unwrap().contains(&Word::File("/x")), "{line}");
        }
    }
    let (_, words) = words("guard /x --rules=/x");
    assert_eq!(of_unknown(&words), Ok(vec![Word::File("/x"), Word::File("/x")]));
}

//! What is plain and what is not. Each unknown command stands beside one that differs in that point only and is plain.

use super::*;

fn plain(command: &str) -> Vec<String> {
    plain_commands(command).unwrap_or_else(|| panic!("{command:?} is plain"))
}

/// Programs that run another command by a sub-command, options before it or not; and beside it what they are not kept from.
#[rustfmt::skip]
const BY_SUBCOMMANDS: &[(&str, &str)] = &[
    ("pyenv exec rm x", "pyenv versions"), ("rustup run stable rm x", "rustup show"), ("rustup -v run stable rm x", "rustup -v show"), ("npx rm x", "ls npx"), ("uv run rm x", "uv sync"),
    ("uv --directory a run rm", "uv --directory a sync"), ("uv -q tool run rm", "uv -q lock"), ("uvx rm", "ls uvx"), ("bunx rm", "ls bunx"), ("pipx run rm", "ls pipx"), ("poetry run rm", "poetry install"),
    ("poetry -C x run rm", "poetry -C x install"), ("poetry --no-ansi run rm", "poetry --no-ansi lock"), ("poetry --directory=x run rm", "poetry --directory=x lock"), ("pdm run rm", "pdm lock"),
    ("hatch run rm", "hatch version"), ("hatch -e x run rm", "hatch -e x version"), ("rye run rm", "rye sync"), ("pipenv run rm", "pipenv lock"), ("bundle exec rm", "bundle install"), ("bundle --verbose exec rm", "bundle --verbose install"),
    ("mise exec -- rm", "mise ls"), ("mise x -- rm", "mise ls exec"), ("asdf exec rm", "asdf list"), ("rbenv exec rm", "rbenv versions"), ("nodenv exec rm", "nodenv versions"), ("direnv exec . rm", "ls direnv"),
    ("npm exec rm", "npm ci"), ("npm x rm", "npm ls x"), ("pnpm exec rm", "pnpm ls"), ("pnpm dlx rm", "pnpm ls dlx"), ("yarn exec rm", "yarn list"), ("yarn dlx rm", "yarn install"), ("conda run rm", "conda list"),
    ("conda -v run -n a rm", "conda -v list"), ("nix run x", "nix search x"), ("nix --offline shell x", "nix --offline search x"), ("nix develop -c rm", "nix log x"), ("nix --option a b run x", "nix --option a b search x"), ("coverage run x", "coverage report"), ("docker compose run a rm", "docker build ."), ("docker exec a rm", "docker ps"),
    ("docker run a rm", "docker images"), ("podman run a rm", "podman ps"), ("docker compose run a rm", "docker ps exec"), ("kubectl exec a rm", "kubectl get exec"), ("ip netns exec a rm", "ip netns list"),
    ("ip -n a netns exec a rm", "ip -n a netns list"), ("ip vrf exec a rm", "ip addr show"), ("systemd-cat rm x", "ls systemd-cat"), ("pipesz rm", "ls pipesz"), ("mold -run rm", "mold a.o"), ("cross-env A=1 rm", "ls cross-env"),
    ("concurrently rm", "ls concurrently"), ("dotenv rm", "ls dotenv"), ("dotenv -f x run rm", "ls dotenv"), ("op run rm", "op whoami"), ("op --account a run rm", "op --account a whoami"), ("aws-vault exec a rm", "aws-vault list"),
    ("doppler run rm", "doppler me"), ("sops exec-env a rm", "sops decrypt a"), ("/usr/bin/pyenv exec rm", "/usr/bin/pyenv versions"), ("mpirun rm", "ls mpirun"), ("ccache rm", "ls ccache"), ("opam exec rm", "opam list"),
];

/// Programs that run another, or write any file, by an option, a word, or what comes in; and beside it what they are not kept from.
#[rustfmt::skip]
const BY_OTHER_WAYS: &[(&str, &str)] = &[
    ("diff3 --diff-program=./evil a b c", "diff3 a b c"), ("sdiff --diff-program ./evil a b", "sdiff a b"), ("prove -e ./evil t", "prove t"), ("prove --exec=./evil t", "prove -v t"),
    ("dpkg-architecture -c ./evil", "dpkg-architecture -l"), ("dpkg-architecture --command=rm", "dpkg-architecture -q x"), ("debconf ./evil", "debconf-show x"), ("pip --python ./evil list", "pip list"),
    ("pip3 --python=./evil list", "pip3 list"), ("git merge-index ./evil -a", "git merge-base a b"), ("python3 -m timeit code", "python3 -m pytest"), ("python3 -mpdb x", "python3 -m pytest x"),
    ("printf '!rm victim' | ed", "printf '!rm victim' | cat"), ("dc x", "ls dc"), ("gcc -MD -MF x a.c", "gcc -MD a.c"), ("service ../../x start", "service x start"), ("vim -u x", "vim x"),
    ("ssh h rm x", "ssh h"), ("ssh -p 22 h rm", "ssh -p 22 h"), ("ssh -4 h rm", "ssh -4 h"), ("rpm --eval x", "rpm -q x"), ("fzf --preview rm", "fzf"), ("tcpdump -z rm", "tcpdump"), ("pdflatex -shell-escape x", "pdflatex x"),
    ("yt-dlp --exec rm x", "yt-dlp x"), ("mispipe rm cat", "ls mispipe"), ("lckdo x rm", "ls lckdo"), ("padsp rm", "ls padsp"), ("aoss rm", "ls aoss"), ("pidproxy x rm", "ls pidproxy"),
    ("zrun rm", "ls zrun"), ("s6-setsid rm", "ls s6-setsid"), ("s6-anything rm", "ls s6-anything"), ("with-contenv rm", "ls with-contenv"), ("oil -c rm", "ls oil"), ("osh -c rm", "ls osh"),
    ("tox exec rm", "tox run"), ("tox -e a exec rm", "tox -e a run"), ("git subtree push", "git stash"),
    ("go test -o x", "go test -run x"), ("go test -c", "go test -count=1 -cover -cpu 2"), ("go test --c", "go test -v ./..."), ("go test -outputdir x", "go test -race"), ("go test -coverprofile=x", "go test -covermode=set"),
    ("go test -test.cpuprofile x", "go test -test.v"), ("go build -o=x", "go build ./x"), ("go -C x test", "go test C"), ("go test -trace x", "go test -trimpath"),
    ("pytest --junitxml=x", "pytest -k junitxml"), ("pytest --basetemp x", "pytest --tb=short -x"), ("pytest --resultlog=x", "pytest --maxfail=1"), ("pytest -o cache_dir=x", "pytest -q"),
    ("pytest --cov-report=html:x", "pytest --cov=x --cov-fail-under=1"), ("python3 -m pytest --junitxml=x", "python3 -m pytest -x -q"), ("python3 -mpytest --basetemp=x", "python3 -m pytest x y"),
    ("cargo test --target-dir=x", "cargo test --target x86_64-unknown-linux-gnu"), ("cargo build --target-dir x", "cargo build --release"), ("cargo build --artifact-dir x", "cargo build --all-targets"),
    ("cargo build --out-dir=x", "cargo build --offline"), ("cargo -C x test", "cargo test"), ("cargo test -- --logfile=x", "cargo test -- --nocapture"), ("cargo install --root x y", "cargo tree --prefix x"),
    ("ruff check --output-file=x", "ruff check --output-format=github"), ("mypy --junit-xml x", "mypy --strict x"), ("eslint -o x", "eslint --fix x"), ("tsc --outDir x", "tsc --noEmit -p x"),
    ("jest --outputFile=x", "jest --coverage"), ("node --redirect-warnings=x a", "node --test a"), ("tox --result-json x", "tox -q"),
];

#[test]
fn a_command_that_is_named_in_other_ways_is_out_of_sight() {
    for (unknown, control) in BY_OTHER_WAYS {
        assert_eq!(plain_commands(unknown), None, "{unknown:?}");
        assert!(plain_commands(control).is_some(), "the control of {unknown:?}: {control:?}");
    }
}

#[test]
fn a_command_behind_a_subcommand_is_out_of_sight() {
    for (unknown, control) in BY_SUBCOMMANDS {
        assert_eq!(plain_commands(unknown), None, "{unknown:?}");
        assert!(plain_commands(control).is_some(), "the control of {unknown:?}: {control:?}");
    }
}

#[test]
fn what_touches_nothing_is_told_from_the_rest() {
    for command in ["true", "sleep 0.4", "echo a && sleep 1", "seq 3 | true", "echo 'a b' 2>&1", "echo \"it's\""] {
        assert!(Plain::of(command).unwrap().touches_nothing(), "{command}");
    }
    for command in ["cat x", "echo a | tee x", "true && rm x", "sleeper", "./true", "date -s 12:00", "ls"] {
        assert!(!Plain::of(command).unwrap().touches_nothing(), "{command}");
    }
}

#[test]
fn plain_commands_are_found_one_by_one() {
    let cases: [(&str, &[&str]); 22] = [
        ("ls", &["ls"]),
        ("  ls  ", &["ls"]),
        ("git   status \t -s", &["git status -s"]),
        ("cargo test && git diff", &["cargo test", "git diff"]),
        ("a || b ; c | d", &["a", "b", "c", "d"]),
        ("a && b && c && d || e", &["a", "b", "c", "d", "e"]),
        ("ls\nrm x\n", &["ls", "rm x"]),
        ("ls;", &["ls"]),
        ("a |\n b", &["a", "b"]),
        ("ls CC=gcc", &["ls CC=gcc"]),
        ("echo 'a'", &["echo a"]),
        ("echo \"a\" 'b c' ''", &["echo a 'b c' ''"]),
        ("git commit -m \"it's done\"", &["git commit -m 'it'\\''s done'"]),
        ("git commit -m 'one\n\ntwo'", &["git commit -m 'one\n\ntwo'"]),
        ("r'm' \"-r\"f x", &["rm -rf x"]),
        ("grep '$HOME `x` $(y) > z; a & b' f", &["grep '$HOME `x` $(y) > z; a & b' f"]),
        ("cargo test 2>&1 | tail -5", &["cargo test", "tail -5"]),
        ("ls 2>/dev/null && rm x > /dev/null 2>&1", &["ls", "rm x"]),
        ("2>&1 ls", &["ls"]),
        ("echo ünï", &[]),
        ("echo 'ünï'", &["echo 'ünï'"]),
        ("/bin/rm x", &["/bin/rm x"]),
    ];
    for (command, expected) in cases {
        let expected = (!expected.is_empty()).then(|| expected.iter().map(ToString::to_string).collect());
        assert_eq!(plain_commands(command), expected, "{command:?}");
    }
}

/// What is unknown, and beside it what differs in that point only.
#[rustfmt::skip]
const UNKNOWN: &[(&str, &str)] = &[
    ("dd if=a of=b", "dd if=a count=1"), ("ptx -G a b", "ptx a"), ("ptx --trad a b", "ptx --references a"), ("cpio --rsh-command=x -o", "cpio -o"), ("cpio -oF x", "cpio -o"), ("cpio -id", "cpio -t"),
    ("ctest -S x", "ctest -V"), ("ctest --build-and-test a b", "ctest --verbose"), ("ssh-keygen -D ./x.so", "ssh-keygen -l"), ("ssh-add -s ./x.so", "ssh-add -L"), ("gpg --photo-viewer x --list-keys", "gpg --list-keys"),
    ("git bundle create x HEAD", "git bundle verify x"), ("git fast-export --export-marks=x HEAD", "git fast-export HEAD"),
    ("", "ls"), (" ", "ls"), ("\n", "ls\n"), (";", "ls;"), ("# x", "ls x"), ("ls # x", "ls x"),
    ("ls &", "ls"), ("ls & rm x", "ls; rm x"), ("ls |& rm", "ls | rm"), ("ls ;; rm", "ls ; rm"),
    ("&& ls", "ls && ls"), ("ls && ", "ls && ls"), ("rm&&&x", "rm&&x"), ("ls |", "ls | cat"), ("ls ||| cat", "ls || cat"),
    ("echo $(rm x)", "echo '$(rm x)'"), ("echo `rm x`", "echo '`rm x`'"), ("echo \"$(rm x)\"", "echo \"(rm x)\""), ("echo \"`rm x`\"", "echo \"rm x\""),
    ("echo $HOME", "echo HOME"), ("echo \"$HOME\"", "echo \"HOME\""), ("echo ${x:=y}", "echo x:=y"), ("echo $((1+1))", "echo 1+1"), ("$x", "x"),
    ("echo $'a'", "echo 'a'"), ("echo $\"a\"", "echo \"a\""), ("echo \"a\\\"b\"", "echo \"ab\""),
    ("ls > x", "ls x"), ("ls >> x", "ls x"), ("ls < x", "ls x"), ("ls >| x", "ls x"), ("ls <> x", "ls x"), ("ls &> x", "ls &> /dev/null"),
    ("ls </dev/ null", "ls null </dev/null"), ("echo x >/de v/null", "echo x v/null >/dev/null"), ("echo 0>&2", "echo 0 >&2"), ("echo a2>&1", "echo a2 2>&1"), ("ls 2>&1a", "ls a 2>&1"),
    ("ls 2 >&1x", "ls 2 >&1"), ("ls >& 1x", "ls >& 1"), ("ls;&>/dev/null ls", "ls; ls &>/dev/null"), ("ls\n>&2", "ls >&2"), ("ls |\n>&2 | ls", "ls |\nls >&2 | ls"), ("ls >\n/dev/null", "ls > /dev/null"),
    ("ls 2> &1", "ls 2>& 1"), ("ls >/dev/null2>&1", "ls >/dev/null 2>&1"), ("ls >&2>&1", "ls >&2 >&1"),
    ("ls\n&& rm", "ls &&\nrm"), ("ls\n| rm", "ls |\nrm"), ("ls\n;rm", "ls;\nrm"), ("ls; ;rm", "ls; rm"), ("ls ||\n", "ls ||\nrm"),
    ("2>&1 || ls", "true 2>&1 || ls"), ("ls 2> x", "ls 2> /dev/null"), ("ls > /dev/nullx", "ls > /dev/null"), ("ls > /dev/tcp/a/1", "ls > /dev/null"), ("ls 2>&3", "ls 2>&1"), ("ls >&x", "ls >&2"),
    ("cat <(rm)", "cat rm"), ("tee >(rm)", "tee rm"), ("cat <<E\na\nE", "cat a"), ("cat <<< a", "cat a"), ("cat <<'E'\n$(x)\nE", "cat a"),
    ("(rm x)", "rm x"), ("{ rm x; }", "rm x;"), ("! ls", "ls"), ("f() { rm x; }; f", "rm x; f"), ("function f { rm; }", "rm"),
    ("if true; then rm x; fi", "true; rm x"), ("for x in a; do rm; done", "rm"), ("while a; do b; done", "a; b"), ("case x in x) rm;; esac", "rm x"),
    ("[[ -f x ]] && rm x", "test -f x && rm x"), ("((x))", "x"), ("[ -f x ]", "test -f x"), ("test -v 'a[$(rm x)]'", "test -n 'a[$(rm x)]'"),
    ("X=1 ls", "ls X=1"), ("PATH=. ls", "ls PATH=."), ("X=1", "ls X=1"), ("X=1; ls", "ls"), ("X+=1 ls", "ls"), ("a[0]=1 ls", "ls"),
    ("rm *", "rm '*'"), ("rm a?", "rm 'a?'"), ("rm [a]", "rm '[a]'"), ("rm {a,b}", "rm '{a,b}'"), ("rm ~", "rm '~'"), ("rm ~/x", "rm '~/x'"), ("echo !x", "echo '!x'"),
    ("echo a\\ b", "echo 'a b'"), ("\\rm x", "rm x"), ("r\\m x", "rm x"), ("ls \\\n x", "ls x"), ("echo 'a", "echo 'a'"), ("echo \"a", "echo \"a\""),
    ("ls\r", "ls"), ("ls\r\nrm", "ls\nrm"), ("ls\u{a0}x", "ls x"), ("ls\u{2028}rm", "ls rm"), ("ls\u{b}rm", "ls rm"), ("ls\0x", "ls x"), ("echo '\u{1b}[2J'", "echo '[2J'"), ("echo \u{202e}x", "echo x"),
    ("'r m' x", "rm x"), ("'' x", "x"), ("-", "x -"), ("%1", "x %1"), ("%", "x %"), ("-x ls", "ls -x"), ("r=m x", "rm x"), ("'a;b' x", "ab x"),
    ("eval ls", "ls eval"), (". x", "ls . x"), ("source x", "ls x"), ("command rm x", "rm x"), ("exec rm x", "rm x"), ("builtin cd", "cd"),
    ("if true", "ls true"), ("time rm x", "rm x"), ("coproc rm x", "rm x"), ("trap 'rm x' EXIT", "ls x"), ("alias ls=rm; ls x", "ls x"),
    ("export PATH=.; ls", "ls"), ("printf -v PATH . ; ls", "printf PATH; ls"), ("read PATH", "ls PATH"), ("fc -s", "ls -s"), ("hash -p /x ls", "ls"),
    ("env rm x", "rm x"), ("env", "ls"), ("/usr/bin/env rm x", "/usr/bin/rm x"), ("xargs rm", "rm"), ("ls | xargs rm", "ls | rm"), ("sudo rm x", "rm x"), ("doas rm x", "rm x"), ("su -c 'rm x'", "rm x"),
    ("sh -c 'rm x'", "rm x"), ("bash -c 'rm x'", "rm x"), ("bash x.sh", "./x.sh"), ("sh", "ls"), ("echo rm | sh", "echo rm | cat"), ("busybox rm x", "rm x"),
    ("nice rm x", "rm x"), ("nohup rm x", "rm x"), ("timeout 5 rm x", "rm x"), ("setsid rm x", "rm x"), ("stdbuf -o0 rm x", "rm x"), ("flock x rm x", "rm x"),
    ("watch rm x", "rm x"), ("parallel rm", "rm"), ("strace rm x", "rm x"), ("script -c 'rm x'", "rm x"), ("chroot . rm x", "rm x"), ("unshare rm x", "rm x"), ("/lib64/ld-linux-x86-64.so.2 /bin/rm x", "/bin/rm x"),
    ("find . -exec rm {} +", "find . -name rm"), ("find . -execdir rm x", "find . -name x"), ("find . -ok rm x", "find . -name x"), ("find . -delete", "find . -print"), ("find . -fprint x", "find . -print"),
    ("git -c alias.x=!rm x", "git status"), ("git -C x push", "git push"), ("git --exec-path=. status", "git status"), ("git rebase --exec rm", "git rebase main"), ("git rebase -x rm", "git rebase main"),
    ("git grep -Oless x", "git grep x"), ("git diff --output=x", "git diff x"), ("git diff --outp=x", "git diff x"), ("git bisect run rm", "git log"), ("git submodule foreach rm", "git status"), ("git config alias.x rm", "git show x"),
    ("cargo +nightly test", "cargo test"), ("cargo test --config x", "cargo test x"), ("tar xf a --to-command=rm", "tar xf a"), ("tar xf a --checkpoint-action=exec=rm", "tar xf a"), ("tar xIf rm a", "tar xf a"),
    ("rg --pre rm x", "rg --pretty x"), ("fd -x rm", "fd rm"), ("sort --compress-prog=rm x", "sort x"), ("sort -o x y", "sort x y"), ("rsync -e rm a b", "rsync a b"), ("ssh -oProxyCommand=rm h", "ssh h"),
    ("awk 'BEGIN{system(\"rm x\")}'", "awk '{print $1}' x"), ("awk '{print > \"x\"}'", "awk '{print}'"), ("awk '{\"rm\" | getline}'", "awk '{print}'"), ("awk -f x", "awk -F: x"),
    ("sed '1e rm x'", "sed 1p"), ("sed 's/a/rm/e' x", "sed 's/a/rm/g' x"), ("sed 'w x'", "sed p"), ("sed -i 's/a/b/' x", "sed -n 's/a/b/' x"), ("sed -e 1p", "sed 1p"),
    ("git clone -u./x a", "git clone a"), ("git clone --config core.sshCommand=x a", "git clone a"), ("git clone --template=x a", "git clone a"), ("git init --template x", "git init x"), ("git clone -c a=b x", "git switch -c x"),
    ("git send-email --to-cmd=x", "git show x"), ("git archive -o x HEAD", "git archive HEAD"), ("git hook run x", "git show x"), ("/usr/lib/git-core/git-push", "git push"), ("git-push", "git push"), ("git merge -s x", "git merge x"),
    ("make test -f x", "make test"), ("make test SHELL=./x", "make test"), ("make CC=./x", "make"), ("make -C x", "make x"), ("make --makefile=x", "make x"),
    ("npm test --script-shell x", "npm test x"), ("npm exec x", "npm run x"), ("gcc -wrapper x a.c", "gcc -Wall a.c"), ("gcc @x", "gcc x"), ("gcc -fplugin=x a.c", "gcc -fPIC a.c"), ("clang -B. a.c", "clang -b a.c"), ("ld @x", "ld x"), ("javac @x", "javac x"),
    ("split --filter=x a", "ls a"), ("split -l 1 a out", "ls a out"), ("csplit a 1", "ls a 1"), ("patch -o x a", "patch a"), ("patch -ox", "patch -p1"), ("patch --output=x a", "patch a b"), ("install --strip-program=x a b", "install a b"), ("sqlite3 a .shell", "sqlite3 a 'select 1'"), ("sqlite3 a ' .system x'", "sqlite3 a 'select 1'"), ("sqlite3 a \"select writefile('x',1)\"", "sqlite3 a 'select 1'"),
    ("psql -c '\\! x'", "psql -c 'select 1'"), ("psql -c 'copy a to program 1'", "psql -c 'select 1'"),
    ("dpkg --pre-invoke=x -l", "dpkg -l"), ("apt-get -o DPkg::Pre-Invoke::=x update", "apt-get update"), ("ex '+!x' a", "ex a"), ("vim +x a", "vim a"), ("less '+!x' a", "less a"), ("logsave a x", "ls a x"),
    ("tar -g x -cf a b", "tar -cf a b"), ("tar --index-file=x -tf a", "tar -tf a"), ("tar -T x -cf a", "tar -cf a x"), ("tar cTf x a", "tar cf x a"), ("curl -o x http://a", "curl http://a"), ("curl -sSLo x http://a", "curl -sSL http://a"), ("curl -w '%output{x}' a", "curl a"), ("wget -O x a", "wget -q a"),
    ("choom -n 1 x", "ls x"), ("uclampset -m 1 x", "ls x"), ("runcon a x", "ls x"), ("ssh-agent x", "ssh-add x"), ("dbus-run-session x", "ls x"), ("cpulimit x", "ls x"), ("hyperfine x", "ls x"), ("socat - EXEC:x", "ls EXEC:x"), ("qemu-x86_64 x", "ls x"),
    ("helm template --post-renderer ./x .", "helm template ."), ("helm plugin install x", "helm list"), ("bazel build --run_under=./x //a", "bazel build //a"), ("bazel run //a", "bazel test //a"),
    ("clang-tidy --load=./x.so a.c", "clang-tidy -p build a.c"), ("kustomize build --enable-exec .", "kustomize build ."), ("lcov --gcov-tool ./x -d a", "lcov -d a"), ("restic --password-command x ls", "restic ls"), ("borg --rsh x list", "borg list"),
    ("pylint --load-plugins=x a", "pylint a"), ("vitest --config x", "vitest a"), ("cmake -DCMAKE_C_COMPILER=./x .", "cmake ."), ("nyc x", "ls x"), ("protoc --plugin=x a", "protoc a"), ("ghc -F -pgmF x a", "ghc a"), ("aria2c --on-download-complete x a", "aria2c a"),
    ("printf %n PATH ; ls", "printf %s PATH ; ls"), ("printf '%5hn' PATH", "printf '%5d' 1"), ("printf 'a%%%n' PATH", "printf 'a%%n' PATH"), ("history -w x", "ls -w x"),
    ("uniq a b", "uniq a"), ("shuf -o x a", "shuf a"), ("tree -o x", "tree x"), ("xxd a b", "xxd a"), ("perl -Mx a", "perl a"), ("node --import x a", "node a"), ("cmake -P x", "cmake x"), ("pytest -p x", "pytest x"), ("ninja -f x", "ninja x"), ("rustc -C linker=x a", "rustc a"),
    ("python3 -c 'x'", "python3 x"), ("python3.12 -c x", "python3.12 x"), ("perl -e x", "perl x"), ("perl -pe x", "perl x"), ("node --eval x", "node x"), ("ruby -e x", "ruby x"), ("make --eval=x", "make x"), ("vim -c x", "vim x"), ("man -P rm x", "man x"),
];

#[test]
fn only_what_is_certain_is_plain() {
    for (unknown, control) in UNKNOWN {
        assert_eq!(plain_commands(unknown), None, "{unknown:?}");
        assert!(plain_commands(control).is_some(), "the control of {unknown:?}: {control:?}");
    }
}

/// The grammar has taken the line break for a blank: behind two pipes, and with a redirect at the end.
#[test]
fn a_line_break_begins_another_command() {
    let hidden = ["touch x >&2", "touch x 2>&1", ">&2 touch x", "touch x </dev/null", "touch x | cat >&2", "touch x"];
    for (number, second) in hidden.into_iter().enumerate() {
        for between in ["\n", " \n", "\n\n", "\n \t"] {
            for first in [
                "true | true | echo",
                "true |\ntrue | echo",
                "a | b | c | echo",
                "true; true | true | echo",
                "true | echo",
            ] {
                let seen = plain_commands(&format!("{first}{between}{second}"));
                let joined = |commands: &[String]| commands.iter().any(|command| command.starts_with("echo touch"));
                assert!(!seen.as_deref().is_some_and(joined), "{first:?} {between:?} {second:?}: {seen:?}");
                // Where nothing else stands in the way, both are known.
                let ends = |commands: &[String]| commands.iter().any(|command| command == "touch x");
                assert!(number < hidden.len() - 1 || seen.as_deref().is_some_and(ends), "{first:?}: {seen:?}");
            }
        }
    }
}

#[test]
fn the_same_command_written_otherwise_is_the_same_to_a_rule() {
    for written in ["rm -rf x", "'rm' -rf x", "rm \"-rf\" x", "r\"m\" '-r'f x", " rm  -rf\tx\n", "rm -rf x;"] {
        assert_eq!(plain(written), ["rm -rf x"], "{written:?}");
    }
    assert_ne!(plain("rm 'a b'"), plain("rm a b"));
    assert_ne!(plain("rm ''"), plain("rm"));
    assert_ne!(plain("rm '' a"), plain("rm \"'' a\""));
}

#[test]
fn what_changes_the_place_of_later_commands_is_told() {
    for (command, expected) in [
        ("cd evil && ./check.sh", true),
        ("ls; pushd evil | cat; ./check.sh", true),
        ("umask 0\nmkdir x", true),
        ("ulimit -f 0; make", true),
        ("./check.sh && cd evil", false),
        ("cd evil", false),
        ("ls cd && ./check.sh", false),
        ("mkdir cd; ls", false),
    ] {
        assert_eq!(Plain::of(command).unwrap().carries_over(), expected, "{command}");
    }
}

#[test]
fn parsing_is_bounded() {
    let long = |piece: &str, bytes: usize| piece.repeat(bytes / piece.len());
    let begun = std::time::Instant::now();
    let pieces = [
        "a ",
        "a;",
        "a && ",
        "a | ",
        "(",
        "((",
        "$(",
        "`",
        "{ ",
        "'",
        "\"",
        "if a; then ",
        "case a in ",
        "[[ ",
        "${a:-",
        "<(",
        "a=",
        "f() ",
        "> ",
    ];
    for piece in pieces {
        assert_eq!(plain_commands(&long(piece, MOST_BYTES + 1_000)), None);
        // Whatever comes of it comes soon, and deep nesting breaks nothing.
        let _ = plain_commands(&long(piece, MOST_BYTES));
    }
    assert!(begun.elapsed() < std::time::Duration::from_secs(120), "{:?}", begun.elapsed());
    assert_eq!(plain(&(long("a && ", 2_000) + "b")).len(), 401, "control");
}

proptest::proptest! {
    #[test]
    fn nothing_panics_and_words_survive_quoting(text in "[a-c '\"$\\\\;&|<>(){}\\n-]{0,24}") {
        if let Some(commands) = plain_commands(&text) {
            // What is written as found is found as it was written.
            assert_eq!(plain_commands(&commands.join(" && ")), Some(commands));
        }
    }
}

#[test]
fn commands_that_only_read_are_told_from_those_that_do_more() {
    let only_reads = |command: &str| Plain::of(command).is_some_and(|plain| plain.only_reads());
    for command in [
        "ls -la src",
        "cat a | head -3 | wc -l",
        "cd sub && git status",
        "find . -name '*.rs' -newer x",
        "rg -n 'fn main' src",
        "grep -rn x . 2>/dev/null",
        "sed -n 1,20p a",
        "awk '{print $1}' a",
        "sort -u a",
        "tail -f log",
        "git status -s",
        "git diff --stat HEAD~1",
        "git log --oneline -5",
        "git show HEAD:a",
        "git branch",
        "git branch -a",
        "git branch --list 'x*'",
        "git branch --contains HEAD",
        "git tag --list 'v*'",
        "git remote -v",
        "git remote get-url origin",
        "git stash list",
        "git reflog",
        "git reflog show main",
        "git rev-parse HEAD",
        "git blame -L 1,3 a",
        "echo a; pwd; ls",
    ] {
        assert!(only_reads(command), "{command}");
    }
    for command in [
        // Another program, or a file to write.
        "git -c core.pager=x log",
        "git --exec-path=/x log",
        "rg --pre ./x a",
        "find . -exec rm {} +",
        "find . -delete",
        "find . -fprint x",
        "find . -fprintf x %p",
        "find . -ok rm ';'",
        "sort -o x a",
        "sort --compress-program=./x a",
        "tree -o x",
        "tree -R -L 2 -H .",
        "uniq a b",
        "sed -i s/a/b/ x",
        "sed -n 'w x' a",
        "awk 'BEGIN{system(1)}'",
        "file -C -m x",
        "git diff --output=x",
        "git diff --ext-diff",
        "git grep -O x",
        "git log --textconv",
        "tail -f log &",
        // What else changes something.
        "git branch new",
        "git branch -d x",
        "git branch -m a b",
        "git branch -v new",
        "git tag v1",
        "git tag -d v1",
        "git tag -f v1",
        "git remote add x y",
        "git remote -v update",
        "git remote show origin",
        "git stash",
        "git stash drop",
        "git reflog expire --all",
        "git worktree add x",
        "git commit -m x",
        "git checkout x",
        "git fetch",
        "git config --list",
        "git st",
        "rm x",
        "ls && rm x",
        "cargo test",
        "make",
        // Another program of the same name, and whatever is not written out.
        "./ls",
        "/bin/ls",
        "node_modules/.bin/ls",
        "LD_PRELOAD=x ls",
        "GIT_DIR=x git status",
        "ls > x",
        "cat < x",
        "ls *",
        "cat $HOME/x",
        "cat $(x)",
        "cat <(x)",
        "ls ~/x",
        "alias ls=rm; ls",
        "xargs cat",
        "env ls",
        "command ls",
    ] {
        assert!(!only_reads(command), "{command}");
    }
}

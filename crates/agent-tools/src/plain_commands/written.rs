//! Options by which programs that test, build and check write a file of any name. Their names are compared whole, because these programs do
//! not take them shortened, and others begin like them (`--target`, `-count`). No list of these is complete.

/// Whether one of the words is an option of this program that names a file or a directory to write.
pub(super) fn is_named(program: &str, arguments: &[String]) -> bool {
    let names = |text: &String| match program {
        "go" => go_writes(text),
        _ => OPTIONS.iter().any(|(names, options)| {
            names.contains(&program) && options.iter().any(|option| is_whole_option(text, option))
        }),
    };
    arguments.iter().any(names)
}

/// The module that an interpreter is to run by its name, with the words that it is given.
pub(super) fn module(arguments: &[String]) -> Option<(&str, &[String])> {
    arguments.iter().enumerate().find_map(|(at, text)| {
        let behind = |count: usize| arguments.get(at + count..).unwrap_or_default();
        match text.strip_prefix("-m")? {
            "" => behind(1).split_first().map(|(module, rest)| (&**module, rest)),
            glued => Some((glued, behind(1))),
        }
    })
}

/// Its options begin with one dash or two, and those of a test are also given with `test.` before them.
fn go_writes(text: &str) -> bool {
    let Some(name) = text.strip_prefix("--").or_else(|| text.strip_prefix('-')) else { return false };
    let name = name.split('=').next().unwrap_or_default();
    let name = name.strip_prefix("test.").unwrap_or(name);
    name.ends_with("profile")
        || ["o", "c", "C", "outputdir", "trace", "pkgdir", "gocoverdir", "fuzzcachedir", "artifacts"].contains(&name)
}

/// With its value in the same word, or in the next one; a letter also with its value glued to it.
fn is_whole_option(text: &str, option: &str) -> bool {
    let is_letter = option.len() == 2 && !option.starts_with("--");
    text.strip_prefix(option).is_some_and(|rest| is_letter || rest.is_empty() || rest.starts_with('='))
}

/// Programs, and those of their options.
#[rustfmt::skip]
const OPTIONS: &[(&[&str], &[&str])] = &[
    (&["cargo"], &["--target-dir", "--artifact-dir", "--out-dir", "--output-path", "--output-dir", "--archive-file", "--lockfile-path", "--root", "--logfile", "-C"]),
    (&["pytest", "py.test"], &[
        "--junitxml", "--junit-xml", "--basetemp", "--resultlog", "--result-log", "--log-file", "--report-log", "--debug", "--html", "--csv", "--cov-report", "--cov-config",
        "--json-report-file", "--alluredir", "--durations-path", "--store-durations", "--profile-svg", "--pstats-dir", "--benchmark-json", "--benchmark-save", "--benchmark-storage",
        "--pastebin",
    ]),
    (&["coverage"], &["-o", "-d", "--directory", "--data-file"]),
    (&["bandit", "stylelint", "rubocop", "rspec"], &["-o", "--out", "--output", "--output-file"]),
    (&["ruff"], &["-o", "--output-file", "--cache-dir"]),
    (&["mypy", "dmypy", "pyright"], &[
        "--cache-dir", "--junit-xml", "--html-report", "--txt-report", "--xml-report", "--xslt-html-report", "--xslt-txt-report", "--any-exprs-report", "--cobertura-xml-report",
        "--linecount-report", "--linecoverage-report", "--lineprecision-report", "--config-file", "--log-file", "--python-executable",
    ]),
    (&["zstd", "as", "dot", "neato", "ffmpeg", "pandoc"], &["-o", "--output"]),
    (&["rustc"], &["--emit", "--out-dir", "-o"]),
    (&["eslint", "prettier"], &["-o", "--output-file", "--cache-location", "--cache-file"]),
    (&["jest", "vitest", "mocha", "ava", "c8", "nyc"], &[
        "--outputFile", "--coverageDirectory", "--coverage.reportsDirectory", "--cacheDirectory", "--reporter-option", "--reporter-options", "--report-dir", "--reports-dir",
        "--temp-dir", "--temp-directory",
    ]),
    (&["tsc"], &["--outDir", "--outFile", "--out", "--declarationDir", "--tsBuildInfoFile", "--generateTrace", "--generateCpuProfile"]),
    (&["node", "nodejs"], &[
        "--cpu-prof-dir", "--cpu-prof-name", "--heap-prof-dir", "--heap-prof-name", "--diagnostic-dir", "--redirect-warnings", "--report-dir", "--report-directory",
        "--report-filename", "--trace-event-file-pattern", "--test-reporter-destination", "--openssl-config",
    ]),
    (&["dotnet"], &["-o", "--output", "--results-directory", "--artifacts-path", "-bl", "-flp", "--logger"]),
    (&["phpunit", "phpstan", "psalm"], &[
        "--log-junit", "--log-teamcity", "--testdox-html", "--testdox-text", "--testdox-xml", "--coverage-clover", "--coverage-cobertura", "--coverage-crap4j", "--coverage-html",
        "--coverage-php", "--coverage-text", "--coverage-xml", "--cache-directory", "--cache-result-file", "--bootstrap", "--report",
    ]),
    (&["golangci-lint"], &["--cpu-profile-path", "--mem-profile-path", "--trace-path", "--out", "--output.json.path", "--output.text.path", "--output.checkstyle.path"]),
    (&["swift"], &["--build-path", "--scratch-path", "--cache-path", "--xunit-output", "--package-path"]),
    (&["zig"], &["--prefix", "-p", "--prefix-lib-dir", "--prefix-exe-dir", "--cache-dir", "--global-cache-dir"]),
    (&["mvn", "mvnd"], &["-l", "--log-file"]),
    (&["gradle"], &["--project-cache-dir", "-g", "--gradle-user-home"]),
    (&["npm", "pnpm", "yarn"], &["--cache", "--logs-dir", "--store-dir", "--cache-dir", "--modules-dir", "--virtual-store-dir"]),
    (&["tox"], &["--workdir", "--work-dir", "--temp-dir", "--result-json", "--root"]),
    (&["nox"], &["--envdir", "--report"]),
];

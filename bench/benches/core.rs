//! What the session costs in time: `cargo bench --manifest-path bench/Cargo.toml --bench core`.

use agent_core::journal;
use bench::LENGTHS;
use bench::cases::{NAMES, SUMMARIES, cases, turn_with_eight_tools};
use bench::driver::{self, Driver};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn steps(criterion: &mut Criterion) {
    for name in NAMES.iter().chain(SUMMARIES) {
        let mut group = criterion.benchmark_group(*name);
        for length in LENGTHS {
            let cases = cases(name, length, 64);
            let mut next = cases.iter().cycle();
            group.bench_function(BenchmarkId::from_parameter(length), |bencher| {
                let prepare = || next.next().map(|case| (case.session.clone(), case.event.clone())).expect("a case");
                let step = |(mut session, event): (agent_core::session::Session, _)| {
                    let step = session.step(1, event);
                    (session, step.is_ok())
                };
                bencher.iter_batched(prepare, step, BatchSize::SmallInput);
            });
        }
        group.finish();
    }
}

fn whole(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("turn with 8 tools");
    for length in LENGTHS {
        let mut driver = Driver::with_history(length);
        driver.take(driver.done());
        group.bench_function(BenchmarkId::from_parameter(length), |bencher| {
            bencher.iter_batched_ref(|| driver.clone(), turn_with_eight_tools, BatchSize::SmallInput);
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("snapshot of the history");
    for length in LENGTHS {
        let driver = Driver::with_history(length);
        let conversation = driver.session().conversation();
        group.bench_function(BenchmarkId::from_parameter(length), |bencher| bencher.iter(|| conversation.clone()));
    }
    group.finish();

    let lines = driver::journal(30_000);
    let mut group = criterion.benchmark_group("replay");
    group.throughput(Throughput::Elements(lines.lines().count() as u64 - 1)).sample_size(10);
    group.bench_function("JSON Lines", |bencher| {
        bencher.iter_with_large_drop(|| journal::replay(driver::records(lines.as_bytes())));
    });
    group.finish();
}

criterion_group!(benches, steps, whole);
criterion_main!(benches);

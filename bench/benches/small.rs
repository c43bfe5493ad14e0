//! The same small machine in four ways, in one run: `cargo bench --manifest-path bench/Cargo.toml --bench small`.

use bench::small::{MACHINES, expected};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const EVENTS: usize = 10_000;

fn machines(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("small machine");
    group.throughput(Throughput::Elements(EVENTS as u64));
    for (name, run) in MACHINES {
        assert_eq!(run(EVENTS), expected(EVENTS));
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| bencher.iter(|| run(EVENTS)));
    }
    group.finish();
}

criterion_group!(benches, machines);
criterion_main!(benches);

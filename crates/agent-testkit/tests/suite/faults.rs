//! Whether a conformance suite finds what it is there to find.

use std::fmt::Debug;

/// Each fault breaks the checks that name it, and where nothing is wrong, which is the first, nothing breaks. All are tried side by side.
pub(crate) async fn assert_finds<F: Debug + Copy, B: Future<Output = Vec<&'static str>>>(
    faults: &[(F, &[&str])],
    broken_by: impl Fn(F) -> B,
) {
    let tried = faults.iter().map(|(fault, checks)| {
        let broken = broken_by(*fault);
        async move {
            let broken = broken.await;
            let finds_it = checks.iter().all(|check| broken.contains(check)) && broken.is_empty() == checks.is_empty();
            (!finds_it).then(|| format!("{fault:?} breaks {broken:?} and not {checks:?}"))
        }
    });
    let missed: Vec<String> = futures_util::future::join_all(tried).await.into_iter().flatten().collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

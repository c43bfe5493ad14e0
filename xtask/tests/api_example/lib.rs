//! A library that is listed in a test of the lister. It need not compile.

mod hidden_away;
pub mod shapes {
    //! A module in braces.

    use super::hidden_away::Inner;
    pub use super::hidden_away::Shown;

    /// Known by two paths: the shorter one counts.
    #[derive(Clone, core::fmt::Debug)]
    #[non_exhaustive]
    pub struct Circle<T: Copy = u64> {
        /// Public.
        pub radius: T,
        hidden: Inner,
    }

    impl<T: Copy> Circle<T> {
        /// Over
        /// several lines.
        pub const fn new(
            radius: T,
            _unused: u8,
        ) -> Self {
            todo!()
        }
        fn private(&self) {}
        #[doc(hidden)]
        pub fn for_tests(&self) {}
        /// A constant.
        pub const SIDES: u8 = 0;
    }

    impl<T: Copy> From<Circle<T>> for String {
        fn from(_: Circle<T>) -> Self {
            todo!()
        }
    }

    // Of a type that nobody else can name.
    impl<T: Copy> From<Circle<T>> for Inner {
        fn from(_: Circle<T>) -> Self {
            todo!()
        }
    }

    /// Open and closed fields.
    pub struct Pair(pub u8, u16);

    labels! {
        /// Declared by a macro.
        #[derive(Serialize)]
        #[non_exhaustive]
        pub enum Colour {
            /// Red.
            Red,
            /// Blue.
            Blue,
        }
    }
}
pub use shapes::Circle;

/// An alias.
pub type Circles = Vec<Circle>;

/// A trait.
pub trait Area: Send + Sync {
    /// Of its sides.
    type Unit: Copy + Send;
    /// To be written.
    fn area(&self) -> u64;
    /// Given.
    fn is_empty(&self) -> bool {
        self.area() == 0
    }
}

impl Area for Circle {
    type Unit = u64;

    fn area(&self) -> u64 {
        0
    }
}

/// A function.
pub async fn draw<A: Area>(area: &A)
where
    A: 'static,
{
}

/// What went wrong.
#[derive(thiserror::Error)]
pub enum Wrong {
    /// A number.
    Number(u8),
    /// A place.
    Place {
        /// Where.
        at: usize,
    },
}

pub(crate) fn inside() {}
#[doc(hidden)]
pub fn for_macros() {}

/// A macro.
#[macro_export]
macro_rules! shape {
    () => {};
}

#[cfg(test)]
mod tests {
    pub fn not_listed() {}
}

//! Conversations are valid by construction; these tests are in the making.

//! Holds the declared servers against what they really offer.

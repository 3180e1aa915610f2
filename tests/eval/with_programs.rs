//! The real programs with a model that does as asked, and with one that does not.

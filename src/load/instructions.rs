//! Instruction files that are already in the repository: what of them is the user's own.

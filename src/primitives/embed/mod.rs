//! From texts to vectors: built in, or by a program that the policy names.

mod command;
pub mod ngrams;

pub use command::Program;

use super::wanted::Wanted;

/// What makes vectors.
pub enum Embedder {
    /// Hashed words and parts of words.
    BuiltIn,
    /// A program; started by the first text.
    Program(Box<Program>),
}

impl Embedder {
    /// What is stored with the vectors, so that those of two embedders never meet.
    pub fn identity(&self) -> String {
        match self {
            Self::BuiltIn => ngrams::NAME.to_owned(),
            Self::Program(program) => format!("program:{}", program.name()),
        }
    }

    /// Whether what it does can change behind its name.
    pub const fn can_change(&self) -> bool {
        matches!(self, Self::Program(_))
    }

    /// One vector of length 1 for each text, all with equally many numbers, as long as they are `wanted`.
    ///
    /// # Errors
    /// The program cannot be started, does not answer, or answers something else.
    pub fn embed(&mut self, texts: &[&str], wanted: &Wanted) -> Result<Vec<Vec<f32>>, String> {
        match self {
            Self::BuiltIn => Ok(texts.iter().map(|text| ngrams::embed(text)).collect()),
            Self::Program(program) => program.embed(texts, wanted),
        }
    }

    /// The process group of the program, when it runs.
    pub fn group(&self) -> Option<i32> {
        match self {
            Self::BuiltIn => None,
            Self::Program(program) => program.group(),
        }
    }
}

/// How alike two vectors of length 1 are.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    // In lanes, so that the compiler may add several at once; the order is fixed, and so is the result.
    let mut lanes = [0.0_f32; 8];
    let (chunks_a, chunks_b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = chunks_a.remainder().iter().zip(chunks_b.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in chunks_a.zip(chunks_b) {
        for (lane, (x, y)) in lanes.iter_mut().zip(x.iter().zip(y)) {
            *lane += x * y;
        }
    }
    lanes.iter().sum::<f32>() + rest
}

/// Makes a vector one of length 1; one of zeros stays.
fn normal(vector: &mut [f32]) {
    let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
    if length > 0.0 {
        for value in vector {
            *value /= length;
        }
    }
}

//! The built-in embedder: hashed words and parts of words. It finds the same words and their forms (`regolamento`,
//! `regolamenti`), in any language with spaces; it knows nothing of meaning.

/// Numbers of a vector.
pub const DIMENSION: usize = 512;
/// What is stored with vectors of it; another way of counting gets another name.
pub const NAME: &str = "built-in:words-and-forms-1";

/// Weight of a whole word beside one part of it.
const WORD: f32 = 2.0;
/// Lengths of the parts of a word, in characters.
const PARTS: [usize; 2] = [3, 4];

/// The vector of a text, of length 1; all zeros for a text without words.
pub fn embed(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0_f32; DIMENSION];
    for word in words(text) {
        add(&mut vector, &word, WORD);
        let framed: Vec<char> = std::iter::once('^').chain(word.chars()).chain(std::iter::once('$')).collect();
        for length in PARTS {
            for part in framed.windows(length) {
                add(&mut vector, &part.iter().collect::<String>(), 1.0);
            }
        }
    }
    // A text that says a word ten times is not ten times as much about it.
    for value in &mut vector {
        *value = value.signum() * value.abs().ln_1p();
    }
    super::normal(&mut vector);
    vector
}

/// The words of a text in lower case, without the marks of the usual Latin letters.
pub fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let plain = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    plain.map(|word| word.chars().flat_map(char::to_lowercase).map(bare).collect())
}

fn add(vector: &mut [f32], feature: &str, weight: f32) {
    let hash = fnv(feature.as_bytes());
    // The sign keeps features that meet by chance from adding up.
    let sign = if hash & (1 << 40) == 0 { 1.0 } else { -1.0 };
    let at = usize::try_from(hash % DIMENSION as u64).unwrap_or(0);
    vector[at] += sign * weight;
}

/// FNV-1a: the same on every machine, for ever.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

const fn bare(c: char) -> char {
    match c {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' => 'a',
        'è' | 'é' | 'ê' | 'ë' => 'e',
        'ì' | 'í' | 'î' | 'ï' => 'i',
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' => 'o',
        'ù' | 'ú' | 'û' | 'ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::embed::dot;

    #[test]
    fn forms_of_a_word_are_nearer_than_other_words() {
        let near = |a: &str, b: &str| dot(&embed(a), &embed(b));
        assert!(near("regolamento comunale", "i regolamenti comunali") > 0.4);
        assert!(near("regolamento comunale", "rimborso delle spese") < 0.2);
        assert!((near("Qualità È", "qualita e") - 1.0).abs() < 1e-5, "marks and case do not count");
    }

    #[test]
    fn a_text_without_words_is_near_to_nothing() {
        assert!(embed(" … !?").iter().all(|v| *v == 0.0));
        assert!((dot(&embed("a"), &embed("a")) - 1.0).abs() < 1e-5);
    }
}

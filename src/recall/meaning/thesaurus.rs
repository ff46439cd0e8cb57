//! Words that mean nearly the same in software work, in four languages, from a small list of our own. Nets learned
//! from newspapers do not know that a cookie is a session; this list does.
//!
//! A text's ideas become a point of 64 numbers. Each idea has a fixed pattern of signs, chosen so that two different
//! ones hardly overlap; rare ideas weigh more.

use std::collections::HashMap;

use super::multiply::unit;

/// Numbers in a point.
pub const WIDTH: usize = 64;

const LIST: &str = include_str!("thesaurus.txt");

/// The list, ready for looking up.
#[derive(Debug)]
pub struct Thesaurus {
    /// Stemmed words of a Latin term → ideas.
    latin: HashMap<Vec<String>, Vec<u16>>,
    longest_latin: usize,
    /// A term of Han, kana or hangul → ideas.
    cjk: HashMap<String, Vec<u16>>,
    longest_cjk: usize,
    /// Weight of each idea.
    weights: Vec<f32>,
}

impl Thesaurus {
    /// Reads the list that is compiled in.
    pub fn new() -> Self {
        let mut all =
            Self { latin: HashMap::new(), longest_latin: 1, cjk: HashMap::new(), longest_cjk: 1, weights: Vec::new() };
        for line in LIST.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            let (weight, terms) = line.split_once(' ').unwrap_or(("1", line));
            let idea = u16::try_from(all.weights.len()).unwrap_or(u16::MAX);
            all.weights.push(weight.parse().unwrap_or(1.0));
            for term in terms.split('|').map(|term| term.trim().to_lowercase()).filter(|term| !term.is_empty()) {
                if term.chars().any(is_dense) {
                    all.longest_cjk = all.longest_cjk.max(term.chars().count());
                    all.cjk.entry(term).or_default().push(idea);
                } else {
                    let words = stems(&term);
                    all.longest_latin = all.longest_latin.max(words.len());
                    all.latin.entry(words).or_default().push(idea);
                }
            }
        }
        all
    }

    /// The point of the ideas in `text`; all zero when it has none.
    pub fn encode(&self, text: &str) -> Vec<f32> {
        let mut out = vec![0f32; WIDTH];
        for idea in self.ideas(text) {
            let weight = self.weights.get(usize::from(idea)).copied().unwrap_or(1.0);
            for (at, value) in out.iter_mut().enumerate() {
                *value += weight * sign(usize::from(idea), at);
            }
        }
        unit(&mut out);
        out
    }

    /// The ideas in `text`, each once.
    pub fn ideas(&self, text: &str) -> Vec<u16> {
        let text = text.to_lowercase();
        let mut found: Vec<u16> = Vec::new();
        let mut add = |ideas: &[u16]| {
            for idea in ideas {
                if !found.contains(idea) {
                    found.push(*idea);
                }
            }
        };
        let words = stems(&text);
        let mut at = 0;
        while at < words.len() {
            let longest = self.longest_latin.min(words.len() - at);
            let hit = (1..=longest).rev().find_map(|count| Some((count, self.latin.get(&words[at..at + count])?)));
            let step = hit.map_or(1, |(count, ideas)| {
                add(ideas);
                count
            });
            at += step;
        }
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let mut at = 0;
        while at + 1 < ends.len() {
            let longest = self.longest_cjk.min(ends.len() - 1 - at);
            let dense = text[ends[at]..].starts_with(is_dense);
            let hit = (1..=if dense { longest } else { 0 })
                .rev()
                .find_map(|count| Some((count, self.cjk.get(&text[ends[at]..ends[at + count]])?)));
            let step = hit.map_or(1, |(count, ideas)| {
                add(ideas);
                count
            });
            at += step;
        }
        found
    }
}

impl Default for Thesaurus {
    fn default() -> Self {
        Self::new()
    }
}

/// Sign of an idea at a place: rows of a Hadamard matrix, four of them told apart by bent functions, so that two
/// ideas agree in half of the places, give or take an eighth.
fn sign(idea: usize, at: usize) -> f32 {
    let bit = |n: usize| at >> n & 1;
    let bent = match idea / WIDTH % 4 {
        0 => 0,
        1 => (bit(0) & bit(1)) ^ (bit(2) & bit(3)) ^ (bit(4) & bit(5)),
        2 => (bit(0) & bit(2)) ^ (bit(1) & bit(4)) ^ (bit(3) & bit(5)) ^ (bit(0) & bit(1)),
        _ => (bit(0) & bit(5)) ^ (bit(1) & bit(3)) ^ (bit(2) & bit(4)),
    };
    let odd = (((idea % WIDTH) & at).count_ones() as usize ^ bent) & 1;
    if odd == 1 { -1.0 } else { 1.0 }
}

fn is_dense(ch: char) -> bool {
    matches!(ch, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Latin words of a text without their endings.
fn stems(text: &str) -> Vec<String> {
    text.split(|ch: char| !(ch.is_alphanumeric() || ch == '+') || is_dense(ch))
        .filter(|word| !word.is_empty())
        .map(stem)
        .collect()
}

/// A word without a common English or German ending; short words stay.
fn stem(word: &str) -> String {
    const ENDINGS: [&str; 17] = [
        "ions", "ion", "ingly", "edly", "ings", "ing", "ies", "ied", "ers", "ors", "er", "or", "ed", "es", "ly", "s",
        "e",
    ];
    for ending in ENDINGS {
        if let Some(root) = word.strip_suffix(ending)
            && root.chars().count() >= 3
        {
            let mut chars = root.chars().rev();
            let doubled = root.chars().count() > 3 && chars.next() == chars.next();
            let root =
                if doubled { &root[..root.len() - root.chars().next_back().map_or(0, char::len_utf8)] } else { root };
            return root.to_owned();
        }
    }
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likeness(a: &str, b: &str) -> f32 {
        let thesaurus = Thesaurus::new();
        thesaurus.encode(a).iter().zip(thesaurus.encode(b)).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn one_idea_in_four_languages() {
        for other in ["throttling requests", "登录接口限流", "APIのレート制限", "Ratenbegrenzung der Schnittstelle"]
        {
            assert!(likeness("rate limiting added", other) > 0.4, "{other}");
        }
        assert!(likeness("rate limiting added", "the font is too small").abs() < 0.3);
    }

    #[test]
    fn ideas_hardly_overlap() {
        let dot = |a: usize, b: usize| (0..WIDTH).map(|at| sign(a, at) * sign(b, at)).sum::<f32>() / WIDTH as f32;
        for a in 0..256 {
            assert_eq!(dot(a, a), 1.0);
            for b in 0..a {
                assert!(dot(a, b).abs() <= 0.5, "{a} {b} {}", dot(a, b));
            }
        }
    }

    #[test]
    fn endings_do_not_part_words() {
        assert_eq!(stem("rotating"), stem("rotation"));
        assert_eq!(stem("limits"), stem("limiting"));
        assert_eq!(stem("log"), "log");
    }
}

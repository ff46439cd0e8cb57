//! A text as 384 signed bytes: where it lies by meaning.
//!
//! Three parts, each of length one: the multilingual net (160), the ideas of the thesaurus (64), and for English text
//! the English net (160; all zero for other text). How much each part counts is the question's business: an English
//! question asked of an English memory goes mostly by the English net, any other pair by the multilingual one.

use super::english::English;
use super::multilingual::Multilingual;
use super::thesaurus::{self, Thesaurus};
use super::weights::Weights;

/// Bytes of a vector.
pub const DIM: usize = NET + thesaurus::WIDTH + NET;
/// Name under which vectors are kept. Changed whenever the same text would come out otherwise (A111).
pub const MODEL: &str = "builtin-1";

const NET: usize = 160;
/// Largest number a byte stands for; parts of length one rarely reach it, and are cut there.
const REACH: f32 = 0.5;
/// Shares of the parts: multilingual, ideas, English.
const ENGLISH: [f32; 3] = [0.30, 0.16, 0.54];
const OTHER: [f32; 3] = [0.78, 0.22, 0.0];

static BYTES: &[u8] = include_bytes!("meaning.bin");

/// The nets, unpacked.
#[derive(Debug)]
pub struct Encoder {
    multilingual: Multilingual,
    ideas: Thesaurus,
    weights: Weights,
    /// Unpacked when the first English text comes.
    english: std::sync::OnceLock<English>,
}

/// A question as parts, to be compared with vectors.
#[derive(Clone, Debug)]
pub struct Question {
    multilingual: Vec<i16>,
    ideas: Vec<i16>,
    english: Option<Vec<i16>>,
}

impl Encoder {
    /// The nets that are compiled in; `None` when the file is damaged.
    pub fn builtin() -> Option<Self> {
        let weights = Weights::new(BYTES)?;
        Some(Self {
            multilingual: Multilingual::new(&weights),
            ideas: Thesaurus::new(),
            weights,
            english: std::sync::OnceLock::new(),
        })
    }

    /// The vector of a memory's text.
    pub fn encode(&self, text: &str) -> Vec<i8> {
        let mut out = Vec::with_capacity(DIM);
        let english = if is_english(text) { self.english(text) } else { vec![0.0; NET] };
        for value in self.multilingual.encode(text).into_iter().chain(self.ideas.encode(text)).chain(english) {
            out.push((value * 127.0 / REACH).round().clamp(-127.0, 127.0) as i8);
        }
        out
    }

    /// A question.
    pub fn question(&self, text: &str) -> Question {
        let bytes = |part: Vec<f32>| {
            part.into_iter().map(|value| (value * 127.0 / REACH).round().clamp(-127.0, 127.0) as i16).collect()
        };
        Question {
            multilingual: bytes(self.multilingual.encode(text)),
            ideas: bytes(self.ideas.encode(text)),
            english: is_english(text).then(|| bytes(self.english(text))),
        }
    }

    fn english(&self, text: &str) -> Vec<f32> {
        self.english.get_or_init(|| English::new(&self.weights)).encode(text)
    }
}

impl Question {
    /// How near a vector lies: about 0 for strangers, 1 for the same text.
    pub fn likeness(&self, vector: &[i8]) -> f32 {
        let (multilingual, rest) = vector.split_at(NET);
        let (ideas, english) = rest.split_at(thesaurus::WIDTH);
        let near = [product(&self.multilingual, multilingual), product(&self.ideas, ideas)];
        // The first number of an empty part is zero, and so are all: one look usually tells.
        let both = self.english.as_ref().filter(|_| english.iter().any(|value| *value != 0));
        match both {
            Some(own) => ENGLISH[0] * near[0] + ENGLISH[1] * near[1] + ENGLISH[2] * product(own, english),
            None => OTHER[0] * near[0] + OTHER[1] * near[1],
        }
    }
}

fn product(own: &[i16], other: &[i8]) -> f32 {
    let sum: i32 = own.iter().zip(other).map(|(a, b)| i32::from(*a) * i32::from(i16::from(*b))).sum();
    sum as f32 * (REACH / 127.0) * (REACH / 127.0)
}

/// Text that the English net can read: nearly all of it in ASCII letters, with some small words of English or names of
/// code. German and French without accents pass for English at times; the multilingual part still sees them.
pub fn is_english(text: &str) -> bool {
    const FOREIGN: [&str; 22] = [
        "der", "die", "das", "und", "ist", "nicht", "wird", "wurde", "mit", "auf", "eine", "bei", "zu", "im", "den",
        "les", "des", "est", "une", "dans", "que", "por",
    ];
    let (mut ascii, mut other) = (0u32, 0u32);
    for ch in text.chars().filter(|ch| ch.is_alphabetic()) {
        if ch.is_ascii() { ascii += 1 } else { other += 1 }
    }
    if ascii == 0 || other * 12 > ascii {
        return false;
    }
    let mut foreign = 0;
    let mut words = 0;
    for word in text.split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty()) {
        words += 1;
        foreign += usize::from(FOREIGN.contains(&word.to_lowercase().as_str()));
    }
    foreign * 8 < words.max(8) && (other == 0 || foreign == 0)
}

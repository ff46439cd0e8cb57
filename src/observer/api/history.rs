//! What a conversation may hold: the instructions always, the newest question always (cut to fit if it must be, A012),
//! and as many of the last turns as there is room for. What was said earlier comes back as the digest of the next run.

use crate::memory::estimate_tokens;

/// A conversation under way.
#[derive(Clone, Debug)]
pub struct History {
    instructions: String,
    turns: Vec<(String, String)>,
    budget: u64,
}

/// Room left for the answer.
const ANSWER: u64 = 1_000;

impl History {
    /// An empty conversation that may hold `budget` tokens.
    pub fn new(instructions: &str, budget: u64) -> Self {
        Self { instructions: instructions.to_owned(), turns: Vec::new(), budget }
    }

    /// The instructions.
    pub fn instructions(&self) -> &str {
        &self.instructions
    }

    /// Questions and answers, oldest first.
    pub fn turns(&self) -> &[(String, String)] {
        &self.turns
    }

    /// A turn that went well.
    pub fn push(&mut self, question: String, answer: String) {
        // Two messages of one side in a row are refused by some; an empty one by all.
        if !answer.trim().is_empty() {
            self.turns.push((question, answer));
        }
    }

    /// Makes room for `question` by dropping the oldest turns; the question itself, cut when it alone is too long.
    pub fn fit(&mut self, question: &str) -> String {
        let tokens = |text: &str| u64::from(estimate_tokens(text));
        let fixed = tokens(&self.instructions) + ANSWER;
        let room = self.budget.saturating_sub(fixed).max(256);
        let question = if tokens(question) > room { cut(question, room) } else { question.to_owned() };
        let mut used = tokens(&question) + self.turns.iter().map(|(q, a)| tokens(q) + tokens(a)).sum::<u64>();
        while used > room && !self.turns.is_empty() {
            let (q, a) = self.turns.remove(0);
            used -= tokens(&q) + tokens(&a);
        }
        question
    }
}

/// The head and the tail of `text` in about `tokens` tokens, with what lies between named. The tail matters most: it
/// says what is wanted.
fn cut(text: &str, tokens: u64) -> String {
    let length = text.chars().count();
    // Chinese runs near one token a character, English near a quarter; found by halving from the larger.
    let mut keep = usize::try_from(tokens.saturating_mul(4)).unwrap_or(usize::MAX).min(length);
    loop {
        let (head, tail) = (keep * 2 / 3, keep - keep * 2 / 3);
        let head_end = text.char_indices().nth(head).map_or(text.len(), |(at, _)| at);
        let tail_start = text.char_indices().nth(length - tail).map_or(text.len(), |(at, _)| at);
        let cut =
            format!("{}\n[… {} characters left out …]\n{}", &text[..head_end], length - keep, &text[tail_start..]);
        if u64::from(estimate_tokens(&cut)) <= tokens + 16 || keep < 64 {
            return cut;
        }
        keep = keep * 3 / 4;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a012_the_newest_question_always_survives_cut_to_fit() {
        let mut history = History::new("instructions", 12_000);
        let long = format!("M0 {} M1", "word ".repeat(400_000));
        let cut = history.fit(&long);
        assert!(cut.starts_with("M0") && cut.ends_with("M1") && cut.contains("characters left out"));
        assert!(u64::from(estimate_tokens(&cut)) <= 12_000);
        let chinese = history.fit(&"字".repeat(100_000));
        assert!(u64::from(estimate_tokens(&chinese)) <= 12_000);
    }

    #[test]
    fn the_oldest_turns_make_room() {
        let mut history = History::new("i", 4_000);
        for n in 0..10 {
            history.push(format!("q{n} {}", "x".repeat(2_000)), format!("a{n}"));
        }
        assert_eq!(history.fit("new"), "new");
        let kept: Vec<&str> = history.turns().iter().map(|(q, _)| &q[..2]).collect();
        assert_eq!(kept, ["q5", "q6", "q7", "q8", "q9"]);
    }

    #[test]
    fn a_question_without_an_answer_leaves_no_gap() {
        let mut history = History::new("i", 4_000);
        history.push("q".into(), "  ".into());
        assert!(history.turns().is_empty());
    }
}

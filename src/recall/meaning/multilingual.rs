//! A sentence in any of sixteen languages as a point: Google's Universal Sentence Encoder, multilingual version 3, with
//! rows at two bits and matrices at eight. Sentences that mean the same lie near each other whatever their language.
//!
//! Word rows go through three stacks of convolutions over two, three and five neighbours; all of it is averaged and
//! passed through a small net.

use super::multiply::{multiply, normalise, project};
use super::pieces::Pieces;
use super::weights::{Dense, Weights, bf16};

const ROW: usize = 512;
const INNER: usize = 256;
/// Neighbours in a window, and how many of them stand before the word.
const WINDOWS: [(usize, usize); 3] = [(2, 0), (3, 1), (5, 2)];
/// Pieces read of a text.
const LIMIT: usize = 72;

/// The net.
#[derive(Debug)]
pub struct Multilingual {
    pieces: Pieces,
    rows: &'static [u8],
    scales: &'static [u8],
    enter: Dense,
    enter_bias: Vec<f32>,
    enter_norm: (Vec<f32>, Vec<f32>),
    stacks: Vec<Stack>,
    norm: (Vec<f32>, Vec<f32>),
    join: Dense,
    join_bias: Vec<f32>,
    net: [Dense; 6],
    mean: Vec<f32>,
    axes: Vec<f32>,
}

#[derive(Debug)]
struct Stack {
    first: Dense,
    first_bias: Vec<f32>,
    second: Dense,
    second_bias: Vec<f32>,
}

impl Multilingual {
    /// Reads what is needed for any text; the table of rows stays where it is.
    pub fn new(weights: &Weights) -> Self {
        let features = ROW + WINDOWS.len() * INNER;
        let stacks = WINDOWS
            .iter()
            .map(|(size, _)| Stack {
                first: weights.dense(&format!("use.w1.{size}"), size * INNER),
                first_bias: weights.floats(&format!("use.b1.{size}")),
                second: weights.dense(&format!("use.w2.{size}"), size * INNER),
                second_bias: weights.floats(&format!("use.b2.{size}")),
            })
            .collect();
        Self {
            pieces: Pieces::new(weights),
            rows: weights.part("use.rows"),
            scales: weights.part("use.scale"),
            enter: weights.dense("use.proj", ROW),
            enter_bias: weights.floats("use.proj.b"),
            enter_norm: (weights.floats("use.ln0.g"), weights.floats("use.ln0.b")),
            stacks,
            norm: (weights.floats("use.ln1.g"), weights.floats("use.ln1.b")),
            join: weights.dense("use.cnn", features),
            join_bias: weights.floats("use.cnn.b"),
            net: [
                weights.dense("use.d0", 512),
                weights.dense("use.p1", 512),
                weights.dense("use.d1", 320),
                weights.dense("use.d2", 320),
                weights.dense("use.p3", 320),
                weights.dense("use.d3", 512),
            ],
            mean: weights.floats("use.mean"),
            axes: weights.floats("use.pca"),
        }
    }

    /// The point of `text`, of length one.
    pub fn encode(&self, text: &str) -> Vec<f32> {
        let ids = self.pieces.rows(text, LIMIT);
        let count = ids.len();
        let mut rows = vec![0f32; count * ROW];
        for (id, row) in ids.iter().zip(rows.chunks_exact_mut(ROW)) {
            self.row(*id, row);
        }
        let mut entered = multiply(&rows, &self.enter, &self.enter_bias);
        normalise(&mut entered, &self.enter_norm.0, &self.enter_norm.1);
        let features = ROW + WINDOWS.len() * INNER;
        let mut all = vec![0f32; count * features];
        for (row, out) in rows.chunks_exact(ROW).zip(all.chunks_exact_mut(features)) {
            out[..ROW].copy_from_slice(row);
        }
        for (at, (stack, (size, before))) in self.stacks.iter().zip(WINDOWS).enumerate() {
            let inner: Vec<f32> = entered
                .chunks_exact(WINDOWS.len() * INNER)
                .flat_map(|row| &row[at * INNER..(at + 1) * INNER])
                .copied()
                .collect();
            let hidden = convolve(&inner, size, before, &stack.first, &stack.first_bias);
            let hidden = convolve(&hidden, size, before, &stack.second, &stack.second_bias);
            for (row, out) in hidden.chunks_exact(INNER).zip(all.chunks_exact_mut(features)) {
                out[ROW + at * INNER..ROW + (at + 1) * INNER].copy_from_slice(row);
            }
        }
        normalise(&mut all, &self.norm.0, &self.norm.1);
        let mut sum = vec![0f32; features];
        for row in all.chunks_exact(features) {
            sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        let mut mean = multiply(&sum, &self.join, &[]);
        let root = (count as f32).sqrt();
        for (value, bias) in mean.iter_mut().zip(&self.join_bias) {
            *value = (*value + bias * count as f32) / root;
        }
        let [d0, p1, d1, d2, p3, d3] = &self.net;
        let first = positive(multiply(&mean, d0, &[]));
        let second = positive(sum_of(multiply(&mean, p1, &[]), &multiply(&first, d1, &[])));
        let third = positive(multiply(&second, d2, &[]));
        let mut point = sum_of(multiply(&second, p3, &[]), &multiply(&third, d3, &[]));
        point.iter_mut().for_each(|value| *value = value.tanh());
        super::multiply::unit(&mut point);
        project(&point, &self.mean, &self.axes)
    }

    fn row(&self, id: usize, out: &mut [f32]) {
        const LEVELS: [f32; 4] = [-1.51, -0.4528, 0.4528, 1.51];
        let (mean, spread) = (bf16(self.scales, id * 4), bf16(self.scales, id * 4 + 2));
        let packed = &self.rows[id * ROW / 4..(id + 1) * ROW / 4];
        for (byte, four) in packed.iter().zip(out.chunks_exact_mut(4)) {
            for (at, value) in four.iter_mut().enumerate() {
                *value = mean + spread * LEVELS[usize::from(byte >> (at * 2) & 3)];
            }
        }
    }
}

/// Windows over neighbouring rows, nothing beyond the ends, then a matrix, the positive part, and the row itself.
fn convolve(rows: &[f32], size: usize, before: usize, matrix: &Dense, bias: &[f32]) -> Vec<f32> {
    let count = rows.len() / INNER;
    let mut windows = vec![0f32; count * size * INNER];
    for (at, window) in windows.chunks_exact_mut(size * INNER).enumerate() {
        for (slot, cell) in window.chunks_exact_mut(INNER).enumerate() {
            if let Some(from) = (at + slot).checked_sub(before).filter(|from| *from < count) {
                cell.copy_from_slice(&rows[from * INNER..(from + 1) * INNER]);
            }
        }
    }
    sum_of(positive(multiply(&windows, matrix, bias)), rows)
}

fn positive(mut values: Vec<f32>) -> Vec<f32> {
    values.iter_mut().for_each(|value| *value = value.max(0.0));
    values
}

fn sum_of(mut values: Vec<f32>, more: &[f32]) -> Vec<f32> {
    values.iter_mut().zip(more).for_each(|(value, add)| *value += add);
    values
}

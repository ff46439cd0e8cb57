//! An English sentence as a point: all-MiniLM-L6-v2 at four bits. It sees that "throttling" and "rate limiting" are one
//! thing where the multilingual net does not; of other languages it knows nothing, and it is not asked about them.

use super::multiply::{exp, multiply, normalise, project};
use super::weights::{Dense, Weights, bf16};
use super::wordpieces::WordPieces;

const ROW: usize = 384;
const HEADS: usize = 12;
const LAYERS: usize = 6;
/// Word pieces read of a text: a title and the start of what follows. Each costs as much as the first.
const LIMIT: usize = 24;

/// The net.
#[derive(Debug)]
pub struct English {
    pieces: WordPieces,
    rows: &'static [u8],
    scales: &'static [u8],
    places: Vec<f32>,
    norm: (Vec<f32>, Vec<f32>),
    layers: Vec<Layer>,
    mean: Vec<f32>,
    axes: Vec<f32>,
}

#[derive(Debug)]
struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    out: Linear,
    wide: Linear,
    narrow: Linear,
    after_attention: (Vec<f32>, Vec<f32>),
    after_all: (Vec<f32>, Vec<f32>),
}

#[derive(Debug)]
struct Linear(Dense, Vec<f32>);

impl Linear {
    fn of(&self, rows: &[f32]) -> Vec<f32> {
        multiply(rows, &self.0, &self.1)
    }
}

impl English {
    /// Unpacks the matrices; the table of rows stays where it is.
    pub fn new(weights: &Weights) -> Self {
        let layers = (0..LAYERS)
            .map(|layer| {
                let linear = |name: &str, width: usize| {
                    let name = format!("mini.{layer}.{name}");
                    Linear(weights.packed(&name, width), weights.floats(&format!("{name}.b")))
                };
                let norm = |name: &str| {
                    let name = format!("mini.{layer}.{name}");
                    (weights.floats(&format!("{name}.g")), weights.floats(&format!("{name}.b")))
                };
                Layer {
                    query: linear("q", ROW),
                    key: linear("k", ROW),
                    value: linear("v", ROW),
                    out: linear("o", ROW),
                    wide: linear("i", ROW),
                    narrow: linear("f", ROW * 4),
                    after_attention: norm("ln1"),
                    after_all: norm("ln2"),
                }
            })
            .collect();
        Self {
            pieces: WordPieces::new(weights),
            rows: weights.part("mini.rows"),
            scales: weights.part("mini.scale"),
            places: weights.floats("mini.pos"),
            norm: (weights.floats("mini.ln.g"), weights.floats("mini.ln.b")),
            layers,
            mean: weights.floats("mini.mean"),
            axes: weights.floats("mini.pca"),
        }
    }

    /// The point of `text`, of length one.
    pub fn encode(&self, text: &str) -> Vec<f32> {
        let ids = self.pieces.rows(text, LIMIT);
        let count = ids.len();
        let mut rows = vec![0f32; count * ROW];
        for (at, (id, row)) in ids.iter().zip(rows.chunks_exact_mut(ROW)).enumerate() {
            self.row(*id, row);
            row.iter_mut().zip(&self.places[at * ROW..]).for_each(|(value, place)| *value += place);
        }
        normalise(&mut rows, &self.norm.0, &self.norm.1);
        for layer in &self.layers {
            let seen = attend(&layer.query.of(&rows), &layer.key.of(&rows), &layer.value.of(&rows), count);
            add(&mut rows, &layer.out.of(&seen));
            normalise(&mut rows, &layer.after_attention.0, &layer.after_attention.1);
            let mut wide = layer.wide.of(&rows);
            wide.iter_mut().for_each(|value| *value = gelu(*value));
            add(&mut rows, &layer.narrow.of(&wide));
            normalise(&mut rows, &layer.after_all.0, &layer.after_all.1);
        }
        let mut point = vec![0f32; ROW];
        rows.chunks_exact(ROW).for_each(|row| add(&mut point, row));
        super::multiply::unit(&mut point);
        project(&point, &self.mean, &self.axes)
    }

    fn row(&self, id: usize, out: &mut [f32]) {
        const LEVELS: [f32; 16] = [
            -2.733, -2.069, -1.618, -1.256, -0.9424, -0.6568, -0.3881, -0.1284, 0.1284, 0.3881, 0.6568, 0.9424, 1.256,
            1.618, 2.069, 2.733,
        ];
        let (mean, spread) = (bf16(self.scales, id * 4), bf16(self.scales, id * 4 + 2));
        for (byte, two) in self.rows[id * ROW / 2..(id + 1) * ROW / 2].iter().zip(out.chunks_exact_mut(2)) {
            two[0] = mean + spread * LEVELS[usize::from(byte & 15)];
            two[1] = mean + spread * LEVELS[usize::from(byte >> 4)];
        }
    }
}

/// Each word looks at all words, twelve times over a part of the row.
fn attend(query: &[f32], key: &[f32], value: &[f32], count: usize) -> Vec<f32> {
    const PART: usize = ROW / HEADS;
    let scale = 1.0 / (PART as f32).sqrt();
    let mut out = vec![0f32; count * ROW];
    let mut weights = vec![0f32; count];
    for head in 0..HEADS {
        let part = |rows: &'_ [f32], at: usize| at * ROW + head * PART..at * ROW + head * PART + PART.min(rows.len());
        for at in 0..count {
            let asks = &query[part(query, at)];
            for (other, weight) in weights.iter_mut().enumerate() {
                *weight = asks.iter().zip(&key[part(key, other)]).map(|(a, b)| a * b).sum::<f32>() * scale;
            }
            let most = weights.iter().fold(f32::MIN, |most, weight| most.max(*weight));
            weights.iter_mut().for_each(|weight| *weight = exp(*weight - most));
            let total: f32 = weights.iter().sum();
            let out = &mut out[at * ROW + head * PART..at * ROW + (head + 1) * PART];
            for (other, weight) in weights.iter().enumerate() {
                let share = weight / total;
                out.iter_mut().zip(&value[part(value, other)]).for_each(|(out, value)| *out += share * value);
            }
        }
    }
    out
}

fn add(rows: &mut [f32], more: &[f32]) {
    rows.iter_mut().zip(more).for_each(|(value, add)| *value += add);
}

#[inline(always)]
fn gelu(x: f32) -> f32 {
    // Error function after Abramowitz and Stegun 7.1.26, good to a ten-millionth.
    let z = x.abs() / std::f32::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let poly = ((((1.061_405_4 * t - 1.453_152) * t + 1.421_413_7) * t - 0.284_496_74) * t + 0.254_829_6) * t;
    let erf = 1.0 - poly * exp(-z * z);
    0.5 * x * (1.0 + erf.copysign(x))
}

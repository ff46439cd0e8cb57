//! Rows times a matrix of signed bytes: the one place where the time goes.
//!
//! Inputs are brought to twelve bits a row, so that sums of 16-bit products fit 32 bits and processors can use their
//! multiply-and-add. The plain loop works everywhere; on x86 a wider one is chosen when the program runs. What is
//! unsafe here is only that: calling a function compiled for instructions that were just found to be there, and
//! loading whole registers from slices of their length.
#![allow(unsafe_code)] // wide multiply-and-add; see above

use super::weights::Dense;

/// `rows` (each of `matrix.width` numbers) times `matrix`, plus `bias` where there is one.
pub fn multiply(rows: &[f32], matrix: &Dense, bias: &[f32]) -> Vec<f32> {
    let width = matrix.width;
    let count = rows.len() / width;
    let outputs = matrix.scales.len();
    let padded = count.next_multiple_of(BLOCK);
    let mut cells = vec![0i16; padded * width];
    let mut scales = vec![0f32; padded];
    for (row, (out, scale)) in rows.chunks_exact(width).zip(cells.chunks_exact_mut(width).zip(&mut scales)) {
        let largest = row.iter().fold(1e-12f32, |most, value| most.max(value.abs()));
        *scale = largest / 2047.0;
        let factor = 2047.0 / largest;
        for (value, cell) in row.iter().zip(out) {
            *cell = whole(value * factor) as i16;
        }
    }
    let mut out = vec![0f32; padded * outputs];
    dispatch(&cells, &scales, matrix, &mut out);
    out.truncate(count * outputs);
    if !bias.is_empty() {
        for row in out.chunks_exact_mut(outputs) {
            row.iter_mut().zip(bias).for_each(|(value, add)| *value += add);
        }
    }
    out
}

/// Rows that are worked on together, so that a weight is loaded once for all of them.
const BLOCK: usize = 4;

fn dispatch(cells: &[i16], scales: &[f32], matrix: &Dense, out: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512vnni") && is_x86_feature_detected!("avx512bw") {
            // SAFETY: the instruction sets the function was compiled for are there.
            return unsafe { on_avx512(cells, scales, matrix, out) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the instruction set the function was compiled for is there.
            return unsafe { on_avx2(cells, scales, matrix, out) };
        }
    }
    blocks(cells, scales, matrix, out, four);
}

/// Every weight row against every block of input rows, by `sums`.
#[inline(always)]
fn blocks(
    cells: &[i16],
    scales: &[f32],
    matrix: &Dense,
    out: &mut [f32],
    sums: impl Fn(&[u8], [&[i16]; BLOCK]) -> [i32; BLOCK],
) {
    let width = matrix.width;
    let outputs = matrix.scales.len();
    for (block, rows) in cells.chunks_exact(width * BLOCK).enumerate() {
        let (a, rest) = rows.split_at(width);
        let (b, rest) = rest.split_at(width);
        let (c, d) = rest.split_at(width);
        for (column, (weights, scale)) in matrix.cells.chunks_exact(width).zip(&matrix.scales).enumerate() {
            for (row, sum) in sums(weights, [a, b, c, d]).into_iter().enumerate() {
                let at = block * BLOCK + row;
                out[at * outputs + column] = sum as f32 * scale * scales[at];
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn on_avx512(cells: &[i16], scales: &[f32], matrix: &Dense, out: &mut [f32]) {
    use std::arch::x86_64::{
        _mm256_loadu_si256, _mm512_cvtepi8_epi16, _mm512_dpwssd_epi32, _mm512_loadu_si512, _mm512_reduce_add_epi32,
        _mm512_setzero_si512,
    };
    const STEP: usize = 32;
    blocks(cells, scales, matrix, out, |weights, rows| {
        let mut sums = [_mm512_setzero_si512(); BLOCK];
        for at in (0..weights.len() / STEP).map(|step| step * STEP) {
            // SAFETY: `at + 32` is within `weights`, and each row is as long.
            let weight = _mm512_cvtepi8_epi16(unsafe { _mm256_loadu_si256(weights[at..at + STEP].as_ptr().cast()) });
            for (sum, row) in sums.iter_mut().zip(rows) {
                // SAFETY: the slice has 32 cells of two bytes.
                let cells = unsafe { _mm512_loadu_si512(row[at..at + STEP].as_ptr().cast()) };
                *sum = _mm512_dpwssd_epi32(*sum, weight, cells);
            }
        }
        with_rest(weights, rows, STEP, sums.map(|sum| _mm512_reduce_add_epi32(sum)))
    });
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn on_avx2(cells: &[i16], scales: &[f32], matrix: &Dense, out: &mut [f32]) {
    use std::arch::x86_64::{
        __m256i, _mm_loadu_si128, _mm256_add_epi32, _mm256_cvtepi8_epi16, _mm256_loadu_si256, _mm256_madd_epi16,
        _mm256_setzero_si256, _mm256_storeu_si256,
    };
    const STEP: usize = 16;
    let total = |sum: __m256i| {
        let mut lanes = [0i32; 8];
        // SAFETY: eight lanes of four bytes.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), sum) };
        lanes.iter().sum::<i32>()
    };
    blocks(cells, scales, matrix, out, |weights, rows| {
        let mut sums = [_mm256_setzero_si256(); BLOCK];
        for at in (0..weights.len() / STEP).map(|step| step * STEP) {
            // SAFETY: the slice has 16 bytes.
            let weight = _mm256_cvtepi8_epi16(unsafe { _mm_loadu_si128(weights[at..at + STEP].as_ptr().cast()) });
            for (sum, row) in sums.iter_mut().zip(rows) {
                // SAFETY: the slice has 16 cells of two bytes.
                let cells = unsafe { _mm256_loadu_si256(row[at..at + STEP].as_ptr().cast()) };
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(weight, cells));
            }
        }
        with_rest(weights, rows, STEP, sums.map(total))
    });
}

/// `sums` and what is left behind the last whole step.
#[inline(always)]
fn with_rest(weights: &[u8], rows: [&[i16]; BLOCK], step: usize, mut sums: [i32; BLOCK]) -> [i32; BLOCK] {
    let from = weights.len() / step * step;
    if from < weights.len() {
        let rest = four(&weights[from..], rows.map(|row| &row[from..]));
        sums.iter_mut().zip(rest).for_each(|(sum, rest)| *sum += rest);
    }
    sums
}

#[inline(always)]
fn four(weights: &[u8], [a, b, c, d]: [&[i16]; BLOCK]) -> [i32; BLOCK] {
    let width = weights.len();
    let (a, b, c, d) = (&a[..width], &b[..width], &c[..width], &d[..width]);
    let mut sums = [0i32; BLOCK];
    for at in 0..width {
        let weight = i32::from(i16::from(weights[at] as i8));
        sums[0] += weight * i32::from(a[at]);
        sums[1] += weight * i32::from(b[at]);
        sums[2] += weight * i32::from(c[at]);
        sums[3] += weight * i32::from(d[at]);
    }
    sums
}

/// The nearest whole number of one below four millions, by the way floats keep their bits: no call, no branch.
#[inline(always)]
pub fn whole(value: f32) -> i32 {
    const MAGIC: f32 = 12_582_912.0; // 1.5 · 2²³: added to it, a number's last bit counts ones
    (value + MAGIC).to_bits() as i32 - MAGIC.to_bits() as i32
}

/// e to the power of `x`, good to about a millionth, in a form that compilers bring to whole vectors.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let x = x.clamp(-87.0, 87.0) * std::f32::consts::LOG2_E;
    let power = whole(x);
    let rest = (x - power as f32) * std::f32::consts::LN_2;
    let poly = 1.0 + rest * (1.0 + rest * (0.5 + rest * (0.166_666_67 + rest * (0.041_666_67 + rest * 0.008_333_334))));
    poly * f32::from_bits(((power + 127) << 23) as u32)
}

/// Each row brought to mean zero and spread one, then scaled and shifted.
pub fn normalise(rows: &mut [f32], gain: &[f32], shift: &[f32]) {
    for row in rows.chunks_exact_mut(gain.len()) {
        let count = row.len() as f32;
        let mean = row.iter().sum::<f32>() / count;
        let spread = row.iter().map(|value| (value - mean) * (value - mean)).sum::<f32>() / count;
        let factor = 1.0 / (spread + 1e-12).sqrt();
        for (value, (gain, shift)) in row.iter_mut().zip(gain.iter().zip(shift)) {
            *value = (*value - mean) * factor * gain + shift;
        }
    }
}

/// Brought to length one; all zero stays all zero.
pub fn unit(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 1e-9 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
}

/// `vector` less `mean`, onto the axes of `axes` (one a row), brought to length one.
pub fn project(vector: &[f32], mean: &[f32], axes: &[f32]) -> Vec<f32> {
    let centred: Vec<f32> = vector.iter().zip(mean).map(|(value, mean)| value - mean).collect();
    let mut out: Vec<f32> =
        axes.chunks_exact(centred.len()).map(|axis| axis.iter().zip(&centred).map(|(a, b)| a * b).sum()).collect();
    unit(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_and_whole_numbers_are_right() {
        for at in -400..400 {
            let x = at as f32 / 10.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 5e-6, "{x}");
            assert!((whole(x) as f32 - x).abs() <= 0.5, "{x}");
        }
    }

    #[test]
    fn products_are_those_of_plain_arithmetic() {
        let width = 72; // no multiple of any step
        let cells: Vec<u8> = (0..3 * width).map(|at| ((at * 37 % 255) as i32 - 127) as i8 as u8).collect();
        let matrix = Dense { width, cells: cells.clone().into(), scales: vec![0.5, 1.0, 0.01] };
        let rows: Vec<f32> = (0..5 * width).map(|at| ((at * 13 % 101) as f32 - 50.0) / 25.0).collect();
        let got = multiply(&rows, &matrix, &[1.0, 2.0, 3.0]);
        for row in 0..5 {
            for column in 0..3 {
                let want: f32 = (0..width)
                    .map(|at| rows[row * width + at] * f32::from(cells[column * width + at] as i8))
                    .sum::<f32>()
                    * matrix.scales[column]
                    + (column + 1) as f32;
                let reach: f32 = (0..width).map(|at| f32::from(cells[column * width + at] as i8).abs()).sum();
                let most = 2.0 / 2047.0 * reach * matrix.scales[column];
                assert!((got[row * 3 + column] - want).abs() <= most, "{want} {}", got[row * 3 + column]);
            }
        }
    }
}

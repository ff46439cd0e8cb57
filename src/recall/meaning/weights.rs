//! The weights as one file of named parts, compiled in. Nothing is unpacked until it is asked for; pages of it that
//! are never read cost no memory.
//!
//! Layout: `CMEMVEC1`, number of parts, then a name of 24 bytes, offset and length for each. Numbers are little
//! endian. Tables of word rows are packed at two or four bits with a mean and a spread a row; matrices are signed
//! bytes with a scale a row, or four bits in groups of 32 with their own floor and step.

use super::multiply::whole;

/// The file.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    bytes: &'static [u8],
}

impl Weights {
    /// Reads the head of `bytes`; `None` when it is no such file.
    pub fn new(bytes: &'static [u8]) -> Option<Self> {
        bytes.starts_with(b"CMEMVEC1").then_some(Self { bytes })
    }

    /// A part by name. The file is made together with this code: a missing part is a fault of the build.
    pub fn part(&self, name: &str) -> &'static [u8] {
        let count = read_u32(self.bytes, 8) as usize;
        for at in 0..count {
            let entry = &self.bytes[16 + at * 32..16 + (at + 1) * 32];
            let end = entry[..24].iter().position(|byte| *byte == 0).unwrap_or(24);
            if &entry[..end] == name.as_bytes() {
                let (from, length) = (read_u32(entry, 24) as usize, read_u32(entry, 28) as usize);
                return &self.bytes[from..from + length];
            }
        }
        unreachable!("the weights have no part {name}")
    }

    /// A part as numbers.
    pub fn floats(&self, name: &str) -> Vec<f32> {
        self.part(name).as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }

    /// A matrix of signed bytes with a scale a row of `width` columns.
    pub fn dense(&self, name: &str, width: usize) -> Dense {
        let cells = self.part(&format!("{name}.w"));
        Dense { width, cells: cells.into(), scales: self.floats(&format!("{name}.s")) }
    }

    /// A four-bit matrix, brought to signed bytes with a scale a row.
    pub fn packed(&self, name: &str, width: usize) -> Dense {
        const GROUP: usize = 32;
        const RECORD: usize = 4 + GROUP / 2;
        let bytes = self.part(name);
        let row_bytes = width / GROUP * RECORD;
        let rows = bytes.len() / row_bytes;
        let mut cells = vec![0u8; rows * width];
        let mut scales = Vec::with_capacity(rows);
        let mut row = vec![0f32; width];
        for (packed, out) in bytes.chunks_exact(row_bytes).zip(cells.chunks_exact_mut(width)) {
            for (record, group) in packed.chunks_exact(RECORD).zip(row.chunks_exact_mut(GROUP)) {
                let (floor, step) = (bf16(record, 0), bf16(record, 2));
                for (pair, two) in record[4..].iter().zip(group.chunks_exact_mut(2)) {
                    two[0] = floor + step * f32::from(pair & 15);
                    two[1] = floor + step * f32::from(pair >> 4);
                }
            }
            let largest = row.iter().fold(1e-9f32, |most, value| most.max(value.abs()));
            let scale = largest / 127.0;
            scales.push(scale);
            let factor = 1.0 / scale;
            for (value, cell) in row.iter().zip(out) {
                *cell = whole(value * factor) as i8 as u8;
            }
        }
        Dense { width, cells: cells.into(), scales }
    }
}

/// A matrix of signed bytes, kept as bytes, rows times `width`.
#[derive(Clone, Debug)]
pub struct Dense {
    /// Columns.
    pub width: usize,
    /// Cells, row by row; each byte is a signed one.
    pub cells: std::borrow::Cow<'static, [u8]>,
    /// What a row's cells are multiplied with.
    pub scales: Vec<f32>,
}

/// Four bytes at `at` as a number.
pub fn read_u32(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|it| it.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// Two bytes at `at`: the upper half of a number.
pub fn bf16(bytes: &[u8], at: usize) -> f32 {
    let half = u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    f32::from_bits(u32::from(half) << 16)
}

//! E1–E13: bytes and lines.

use super::*;
use crate::transcript::lines::WHOLE;

fn two_prompts() -> Sheet {
    let mut it = Sheet::new();
    it.user("first ✓ é 漢").user("second");
    it
}

#[test]
fn e01_half_a_line_waits_for_its_end() {
    let it = two_prompts();
    let cut = it.text.len() - 25;
    let mut reader = Reader::new(role());
    let mut out = Vec::new();
    reader.feed(&it.text.as_bytes()[..cut], &mut out);
    reader.quiet(&mut out);
    assert_eq!(told(&out), ["1 Typed first ✓ é 漢"]);
    assert_eq!((reader.counts().malformed, reader.position()), (0, cut as u64));
    let point = reader.safe_point();
    assert!(point.offset <= it.text.find('\n').map_or(0, |at| at as u64 + 1));
    reader.feed(&it.text.as_bytes()[cut..], &mut out);
    assert_eq!(prompts(&out).len(), 2);
    assert_eq!(reader.counts().malformed, 0);
}

#[test]
fn e02_a_cut_inside_a_character_changes_nothing() {
    let it = two_prompts();
    let whole = it.read();
    for cut in 0..it.text.len() {
        let mut reader = Reader::new(role());
        let mut out = Vec::new();
        reader.feed(&it.text.as_bytes()[..cut], &mut out);
        reader.feed(&it.text.as_bytes()[cut..], &mut out);
        reader.close(&mut out);
        assert_eq!(out, whole, "cut at {cut}");
    }
}

#[test]
fn e03_a_complete_last_line_is_taken_when_it_is_quiet_and_only_once() {
    let it = two_prompts();
    let text = it.text.trim_end();
    let mut reader = Reader::new(role());
    let mut out = Vec::new();
    reader.feed(text.as_bytes(), &mut out);
    assert_eq!(prompts(&out).len(), 1);
    reader.quiet(&mut out);
    assert_eq!(prompts(&out).len(), 2);
    let before = reader.safe_point();
    assert!(before.offset < text.len() as u64, "the offset stays before the line");
    reader.quiet(&mut out);
    reader.feed(b"\n", &mut out);
    assert_eq!(prompts(&out).len(), 2);
    assert_eq!(reader.counts().lines, 2);

    // Restarted before the newline came: the line is known.
    let mut resumed = Reader::resume(role(), &before);
    let mut again = Vec::new();
    resumed.feed(&it.text.as_bytes()[usize::try_from(before.offset).expect("fits")..], &mut again);
    assert_eq!(prompts(&again), []);
}

#[test]
fn e03_what_is_glued_to_a_taken_line_is_read() {
    let it = two_prompts();
    let lines: Vec<&str> = it.text.lines().collect();
    let mut reader = Reader::new(role());
    let mut out = Vec::new();
    reader.feed(lines[0].as_bytes(), &mut out);
    reader.quiet(&mut out);
    reader.feed(lines[1].as_bytes(), &mut out);
    reader.feed(b"\n", &mut out);
    assert_eq!(prompts(&out).len(), 2);
}

#[test]
fn e04_two_objects_on_one_line_are_both_taken() {
    let text = two_prompts().text.replacen('\n', "", 1);
    let (events, counts) = read(text.as_bytes());
    assert_eq!(prompts(&events).len(), 2);
    assert_eq!((counts.lines, counts.malformed, counts.repaired), (1, 0, 1));
}

#[test]
fn e05_a_torn_record_costs_itself_only() {
    let it = two_prompts();
    let lines: Vec<&str> = it.text.lines().collect();
    for cut in [1, 20, 60, lines[0].len() - 1] {
        let text = format!("{}{}\n", &lines[0][..lines[0].floor_char_boundary(cut)], lines[1]);
        let (events, counts) = read(text.as_bytes());
        assert_eq!(prompts(&events), [(PromptKind::Typed, "second")], "{text}");
        assert_eq!((counts.malformed, counts.repaired), (1, 1));
    }
    // The other way round: a whole record with a torn one behind it.
    let text = format!("{}{}\n{}\n", lines[0], &lines[1][..40], lines[1]);
    let (events, counts) = read(text.as_bytes());
    assert_eq!(prompts(&events).len(), 2);
    assert_eq!(counts.malformed, 1);
}

#[test]
fn e05_a_block_inside_a_torn_record_is_no_record() {
    let torn = r#"{"parentUuid":null,"type":"assistant","message":{"content":[{"type":"text","text":"whole block"},{"type":"te"#;
    let (events, counts) = read(format!("{torn}\n").as_bytes());
    assert_eq!(events, []);
    assert_eq!((counts.malformed, counts.unknown.len()), (1, 0));
}

#[test]
fn e06_nul_runs_are_trimmed_and_a_tail_of_them_waits() {
    let it = two_prompts();
    let lines: Vec<&str> = it.text.lines().collect();
    let text = format!("\0\0\0{}\0\0\n{}\n\0\0\0", lines[0], lines[1]);
    let mut reader = Reader::new(role());
    let mut out = Vec::new();
    reader.feed(text.as_bytes(), &mut out);
    reader.quiet(&mut out);
    assert_eq!(prompts(&out).len(), 2);
    assert_eq!(reader.counts().malformed, 0);
    assert!(reader.safe_point().offset <= text.len() as u64 - 3);
}

#[test]
fn e07_a_byte_order_mark_is_trimmed() {
    let (events, counts) = read(format!("\u{feff}{}", two_prompts().text).as_bytes());
    assert_eq!((prompts(&events).len(), counts.malformed), (2, 0));
}

#[test]
fn e08_carriage_returns_are_trimmed() {
    let (events, counts) = read(two_prompts().text.replace('\n', "\r\n").as_bytes());
    assert_eq!((prompts(&events).len(), counts.malformed), (2, 0));
}

#[test]
fn e09_bad_utf8_keeps_the_entry() {
    let mut bytes = two_prompts().text.into_bytes();
    let at = bytes.windows(5).position(|it| it == b"first").expect("there");
    bytes[at] = 0xFF;
    let (events, counts) = read(&bytes);
    assert_eq!(prompts(&events)[0].1, "\u{fffd}irst ✓ é 漢");
    assert_eq!((counts.malformed, counts.repaired), (0, 1));
}

#[test]
fn e10_half_a_surrogate_pair_keeps_the_entry() {
    for (escape, read_as) in
        [("\\ud83d", "\u{fffd}"), ("\\uDE00 x", "\u{fffd} x"), ("\\ud83d\\ud83d\\ude00", "\u{fffd}😀")]
    {
        let text = two_prompts().text.replacen("first", escape, 1);
        let (events, counts) = read(text.as_bytes());
        assert_eq!(prompts(&events)[0].1, format!("{read_as} ✓ é 漢"));
        assert_eq!((counts.malformed, counts.repaired), (0, 1));
    }
    // Inside the input of a call, which is kept as text.
    let mut it = Sheet::new();
    it.call("m1", "t1", "Bash", json!({"command": "SURROGATE"})).result("t1", json!("ok"));
    let (events, _) = read(it.text.replace("SURROGATE", "\\ud83d").as_bytes());
    assert!(serde_json::from_str::<Value>(&only_tool(&events).input).is_ok());
}

#[test]
fn e11_noise_between_lines_is_counted_and_passed() {
    let it = two_prompts();
    let text = it.text.replacen('\n', "\n\n   \n// a comment\n[]\n\"x\"\n42\nnull\n", 1);
    let (events, counts) = read(text.as_bytes());
    assert_eq!((prompts(&events).len(), counts.malformed, counts.lines), (2, 5, 9));
}

#[test]
fn e12_a_huge_line_keeps_its_ids_and_both_ends() {
    let mut it = Sheet::new();
    let huge = format!("M2 {} M2", "x".repeat(WHOLE + 1000));
    it.user("before").call("m1", "t1", "Read", json!({"file_path": "/a"})).result("t1", json!(huge)).user("after");
    let (events, counts) = read(it.text.as_bytes());
    let tool = only_tool(&events);
    assert!(tool.output.starts_with("M2 ") && tool.output.ends_with(" M2") && tool.output.len() < 200_000);
    assert!(tool.output.contains("bytes left out"));
    assert_eq!((prompts(&events).len(), counts.malformed, counts.shortened), (2, 0, 1));
}

#[test]
fn e12_progress_is_passed_over_by_its_head() {
    let mut it = two_prompts();
    it.entry(json!({"type": "progress", "data": {"type": "bash_progress", "output": "x".repeat(10_000)}}));
    it.raw(r#"{"type":"api-request-blob","sessionId":"S1","blob":{"messages":["first"]}}"#);
    let (events, counts) = read(it.text.as_bytes());
    assert_eq!((prompts(&events).len(), counts.skipped), (2, 2));
    assert_eq!(counts.unknown.keys().collect::<Vec<_>>(), ["api-request-blob", "progress"]);
}

#[test]
fn e13_a_file_without_turns_gives_nothing() {
    assert_eq!(read(b"").0, []);
    let (events, counts) = read(
        b"{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"S1\"}\n{\"type\":\"last-prompt\",\"lastPrompt\":\"x\",\"sessionId\":\"S1\"}\n",
    );
    assert_eq!(events, []);
    assert_eq!((counts.lines, counts.skipped), (2, 2));
}

#[test]
fn deep_nesting_costs_nothing() {
    let deep = format!("{}1{}", "[".repeat(50_000), "]".repeat(50_000));
    let mut it = Sheet::new();
    it.user("before").call("m1", "t1", "Odd", json!({"a": "DEEP"})).rich("t1", json!("DEEP"), json!({"x": "DEEP"}));
    let text = it.text.replace("\"DEEP\"", &deep);
    let (events, counts) = read(text.as_bytes());
    assert_eq!(counts.malformed, 0);
    assert!(serde_json::from_str::<Value>(&only_tool(&events).input).is_ok());
}

//! Made-up transcripts from any bytes, for property tests and the fuzz target `event`.
//!
//! Random bytes are hardly ever JSON, so a byte picks a kind of line and the next one its ids, from pools so small
//! that ids meet: late results, copies, answers that interleave, rewinds, queue lines in every order, damage.

/// A transcript file made from `data`.
pub fn file(data: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::new();
    let mut count = 0u32;
    let mut written: Vec<String> = Vec::new();
    // Either copies or answers taken back: what is taken back is not there for a copy to be compared with.
    let copies = data.len() % 4 < 2;
    let mut bytes = data.iter().copied();
    while let (Some(op), Some(p)) = (bytes.next(), bytes.next()) {
        count += 1;
        let mut newline = true;
        let text = format!("x{}", p % 4);
        let own = || {
            let uuid = format!("u{count}");
            let parent = if p & 0x40 == 0 { format!("\"u{}\"", count - 1) } else { format!("\"u{}\"", p % 8) };
            let cwd = if p & 0x20 == 0 { String::new() } else { format!("\"cwd\":\"/w/{}\",", p % 3) };
            format!(
                "\"parentUuid\":{parent},{cwd}\"uuid\":\"{uuid}\",\"timestamp\":\"2026-03-01T10:{:02}:{:02}.000Z\"",
                count / 60 % 60,
                count % 60
            )
        };
        let message = format!("{}_{}", count / 6, p % 5);
        let tool = p % 6;
        let line = match op % 34 {
            0..=2 => format!("{{\"type\":\"user\",{},\"message\":{{\"content\":\"{text}\"}}}}", own()),
            // A copy, as compaction and branching make them: of something that is over, since no answer goes on
            // behind the copy of its beginning.
            3 | 9 => match written.get(usize::from(p) % written.len().saturating_sub(12).max(1)) {
                Some(line) if copies && written.len() > 12 => line.clone(),
                _ => String::new(),
            },
            4 => format!(
                "{{\"type\":\"user\",{},\"message\":{{\"content\":\"no uuid {text}\"}}}}",
                own().replace("uuid", "x")
            ),
            5..=7 => assistant(&own(), &message, &format!("{{\"type\":\"text\",\"text\":\"{text}\"}}"), "null"),
            8 => assistant(&own(), &message, &format!("{{\"type\":\"text\",\"text\":\"{text}\"}}"), "\"end_turn\""),
            10..=12 => assistant(
                &own(),
                &message,
                &format!(
                    "{{\"type\":\"tool_use\",\"id\":\"t{tool}\",\"name\":\"Task\",\"input\":{{\"prompt\":\"{text}\"}}}}"
                ),
                "\"tool_use\"",
            ),
            13 => assistant(&own(), &message, "{\"type\":\"tool_use\",\"name\":\"Bash\"}", "null"),
            14..=16 => result(&own(), &format!("\"tool_use_id\":\"t{tool}\",\"content\":\"{text}\"")),
            17 => result(
                &own(),
                &format!(
                    "\"tool_use_id\":\"t{tool}\",\"is_error\":true,\"content\":\"The user doesn't want to proceed. the user said:\\nno {text}\""
                ),
            ),
            18 => result(&own(), "\"content\":\"nameless\""),
            19 => format!("{{\"type\":\"system\",\"subtype\":\"turn_duration\",{}}}", own()),
            20 => format!(
                "{{\"type\":\"system\",\"subtype\":\"stop_hook_summary\",\"hookErrors\":[{}],{}}}",
                if p & 1 == 0 { "" } else { "1" },
                own()
            ),
            21 => format!(
                "{{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"content\":\"q{}\",{}}}",
                p % 3,
                own().replace("uuid", "x")
            ),
            22 => format!(
                "{{\"type\":\"queue-operation\",\"operation\":\"{}\"}}",
                ["remove", "dequeue", "remove", "popAll"][usize::from(p % 4)]
            ),
            23 => format!(
                "{{\"type\":\"attachment\",{},\"attachment\":{{\"type\":\"queued_command\",\"prompt\":\"q{}\"}}}}",
                own(),
                p % 3
            ),
            24 => {
                format!("{{\"type\":\"user\",{},\"message\":{{\"content\":\"[Request interrupted by user]\"}}}}", own())
            }
            25 => {
                format!("{{\"type\":\"user\",\"isSidechain\":true,{},\"message\":{{\"content\":\"{text}\"}}}}", own())
            }
            26 => {
                let block = format!("{{\"type\":\"text\",\"text\":\"side {text}\"}}");
                assistant(&format!("\"isSidechain\":true,{}", own()), &message, &block, "null")
            }
            27 => format!(
                "{{\"type\":\"assistant\",\"isApiErrorMessage\":true,{},\"message\":{{\"id\":\"e{message}\",\"model\":\"<synthetic>\",\"content\":[]}}}}",
                own()
            ),
            28 if copies => String::new(),
            28 => format!(
                "{{\"type\":\"system\",\"subtype\":\"api_refusal\",{},\"retractedMessageUuids\":[\"u{}\"]}}",
                own(),
                count.saturating_sub(u32::from(p % 8))
            ),
            29 => {
                format!("{{\"type\":\"{}\",\"aiTitle\":\"{text}\"}}", ["ai-title", "custom-title"][usize::from(p % 2)])
            }
            30 => format!("{{\"type\":\"user\",{},\"message\":{{\"content\":\"<task-notification>{text}\"}}}}", own()),
            31 => {
                newline = false; // glued to what comes
                format!("{{\"type\":\"user\",{},\"message\":{{\"content\":\"glued {text}\"}}}}", own())
            }
            32 => {
                newline = p & 1 == 0;
                let whole = format!(
                    "{{\"parentUuid\":\"u1\",\"type\":\"user\",{},\"message\":{{\"content\":\"torn\"}}}}",
                    own()
                );
                whole[..usize::from(p).min(whole.len())].to_owned()
            }
            _ => {
                out.extend(std::iter::repeat_n(p, usize::from(p % 7)));
                String::new()
            }
        };
        out.extend_from_slice(line.as_bytes());
        // Calls without ids are told apart by their place alone, so a copy of one cannot be known.
        if newline && line.ends_with('}') && !matches!(op % 34, 13 | 18) {
            written.push(line);
        }
        if newline {
            out.push(b'\n');
        }
    }
    out
}

fn assistant(head: &str, message: &str, block: &str, stop: &str) -> String {
    format!(
        "{{\"type\":\"assistant\",{head},\"message\":{{\"id\":\"m{message}\",\"content\":[{block}],\"stop_reason\":{stop},\"usage\":{{\"output_tokens\":3}}}}}}"
    )
}

fn result(head: &str, fields: &str) -> String {
    format!("{{\"type\":\"user\",{head},\"message\":{{\"content\":[{{\"type\":\"tool_result\",{fields}}}]}}}}")
}

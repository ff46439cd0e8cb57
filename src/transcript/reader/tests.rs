//! Short transcripts in, events out.

use super::*;
use crate::transcript::event::*;

fn role() -> FileRole {
    FileRole { session: SessionId::from("S1"), agent: None, parent_call: None }
}

/// All events of a file that is over.
fn read(text: &str) -> Vec<Event> {
    let mut reader = Reader::new(role());
    let mut out = Vec::new();
    reader.feed(text.as_bytes(), &mut out);
    reader.close(&mut out);
    out
}

/// Events in one line each.
fn told(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .map(|event| match &event.body {
            Body::Prompt(it) => format!("{} {:?} {}", event.turn, it.kind, it.text),
            Body::Tool(it) => format!("{} tool {} {:?} {}", event.turn, it.name, it.outcome, it.output),
            Body::Answer(it) => format!("{} answer {}{}", event.turn, it.text, if it.closing { " ." } else { "" }),
            Body::TurnEnd(it) => format!("{} end {it:?}", event.turn),
            other => format!("{} {other:?}", event.turn),
        })
        .collect()
}

#[test]
fn a_turn_reads_in_order() {
    let text = concat!(
        r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"fix it"}}"#,
        "\n",
        r#"{"type":"assistant","uuid":"a1","message":{"id":"m1","content":[{"type":"text","text":"I look."}]}}"#,
        "\n",
        r#"{"type":"assistant","uuid":"a2","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}"#,
        "\n",
        r#"{"type":"user","uuid":"r1","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"a.rs"}]}}"#,
        "\n",
        r#"{"type":"assistant","uuid":"a3","message":{"id":"m2","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn"}}"#,
        "\n",
    );
    assert_eq!(
        told(&read(text)),
        ["1 Typed fix it", "1 tool Bash Ok a.rs", "1 answer I look.", "1 answer Done. .", "1 end Stopped"]
    );
}

use super::*;

/// Titles and questions of our own, in four languages; none of them is in the set that the model was chosen on.
const KNOWN: [(&str, [&str; 4]); 4] = [
    (
        "Payment webhook handled twice because the idempotency key was dropped on retry",
        [
            "customer charged two times",
            "支付回调被重复处理",
            "決済のウェブフックが二重に処理される",
            "Zahlungsbenachrichtigung doppelt verarbeitet",
        ],
    ),
    (
        "Date parser assumed local time zone; switched to UTC everywhere",
        ["timestamps off by some hours", "时区处理错误", "タイムゾーンのずれを修正", "Zeitzone falsch verarbeitet"],
    ),
    (
        "Memory leak in the websocket server: listeners were never removed",
        [
            "process eats more and more RAM",
            "WebSocket 服务内存泄漏",
            "WebSocketサーバーのメモリリーク",
            "Speicherleck im WebSocket-Server",
        ],
    ),
    (
        "Backups are encrypted and copied to a second region every six hours",
        [
            "disaster recovery copies",
            "备份加密并异地存储",
            "バックアップの暗号化と別リージョンへの複製",
            "Sicherungen werden verschlüsselt kopiert",
        ],
    ),
];

fn index(encoder: &Encoder, titles: &[String]) -> Index {
    let mut index = Index::default();
    for (at, title) in titles.iter().enumerate() {
        index.push(MemoryId(at as i64), encoder.encode(title));
    }
    index
}

#[test]
fn questions_in_four_languages_find_their_memory() {
    let encoder = Encoder::builtin().expect("compiled in");
    let titles: Vec<String> = KNOWN.iter().map(|(title, _)| (*title).to_owned()).collect();
    let index = index(&encoder, &titles);
    for (at, (title, questions)) in KNOWN.iter().enumerate() {
        for question in questions {
            let nearest = index.nearest(&encoder.question(question), 3);
            assert_eq!(nearest[0].0, MemoryId(at as i64), "{question} → {title}: {nearest:?}");
        }
    }
}

#[test]
fn the_same_text_is_nearest_to_itself_and_comes_out_the_same() {
    let encoder = Encoder::builtin().expect("compiled in");
    let text = "Circuit breaker stops a poisoned job after three tries";
    assert_eq!(encoder.encode(text), encoder.encode(text));
    let own = encoder.question(text).likeness(&encoder.encode(text));
    assert!(own > 0.95 && own < 1.05, "{own}");
    assert_eq!(encoder.encode("").len(), DIM);
    assert_eq!(encoder.encode(&"词".repeat(4_000)).len(), DIM);
}

#[test]
#[allow(clippy::disallowed_methods)] // reads the shared evaluation set
fn the_evaluation_set() {
    if cfg!(debug_assertions) {
        println!("skipped: the nets are too slow without optimisation; run with --profile bench");
        return;
    }
    let shared = std::env::var_os("CMEM_SHARED")
        .map(std::path::PathBuf::from)
        .unwrap_or_else(|| std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"));
    let mut sets = vec![shared.join("eval/meaning.jsonl")];
    sets.extend(std::env::var_os("CMEM_EVAL").map(std::path::PathBuf::from));
    for set in sets {
        let Ok(text) = std::fs::read_to_string(&set) else {
            println!("skipped: {} is not here", set.display());
            continue;
        };
        evaluate(&set.display().to_string(), &text);
    }
}

fn evaluate(name: &str, text: &str) {
    let rows: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    let titles: Vec<String> = rows.iter().map(|row| row["title"].as_str().unwrap_or_default().to_owned()).collect();
    let encoder = Encoder::builtin().expect("compiled in");
    let index = index(&encoder, &titles);
    for (language, first, third) in [("en", 0.80, 0.95), ("zh", 0.85, 0.95), ("ja", 0.80, 0.90), ("de", 0.80, 0.90)] {
        let (mut asked, mut at_one, mut at_three) = (0u32, 0u32, 0u32);
        let mut related = f32::MAX;
        let mut strangers: Vec<f32> = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            for question in row["queries"][language].as_array().into_iter().flatten().filter_map(|it| it.as_str()) {
                let nearest = index.nearest(&encoder.question(question), titles.len());
                let rank = nearest.iter().position(|(id, _)| *id == MemoryId(at as i64)).unwrap_or(usize::MAX);
                asked += 1;
                at_one += u32::from(rank == 0);
                at_three += u32::from(rank < 3);
                related = related.min(nearest[rank].1);
                strangers.extend(nearest.iter().filter(|(id, _)| *id != MemoryId(at as i64)).map(|(_, like)| *like));
                if rank > 0 {
                    println!(
                        "   {language} #{rank} {question} → {} ({:.2}) but {} ({:.2})",
                        titles[at], nearest[rank].1, titles[nearest[0].0.0 as usize], nearest[0].1
                    );
                }
            }
        }
        if asked == 0 {
            continue;
        }
        strangers.sort_by(f32::total_cmp);
        let (one, three) = (f64::from(at_one) / f64::from(asked), f64::from(at_three) / f64::from(asked));
        println!(
            "{name} {language}: @1 {one:.2} @3 {three:.2}; lowest related {related:.2}, strangers 99 % below {:.2}",
            strangers[strangers.len() * 99 / 100]
        );
        if name.ends_with("meaning.jsonl") {
            assert!(one >= first && three >= third, "{language}: {one} {three}");
        }
    }
}

//! Changing memories: confirmation (D.2), marks (D.4), undo (D.5), and each kind of change.

use proptest::prelude::*;

use super::{screen, screen_of};
use crate::memory::{Memory, MemoryId};
use crate::tui::demo::Demo;
use crate::tui::effect::Effect;
use crate::tui::headless::Headless;
use crate::tui::key::Key;
use crate::tui::state::Popup;

fn ids(stage: &Headless<Demo>) -> Vec<i64> {
    stage.source.memories().map(|memory| memory.id.0).collect()
}

fn memory(stage: &Headless<Demo>, id: i64) -> Option<Memory> {
    stage.source.memories().find(|memory| memory.id.0 == id).cloned()
}

fn here(stage: &Headless<Demo>) -> i64 {
    stage.state.under_cursor().unwrap().id
}

#[test]
fn three_keys_delete_a_wrong_memory_and_one_brings_it_back() {
    let mut stage = screen((50, 40));
    stage.keys("j j");
    let id = here(&stage);
    stage.keys("d");
    assert_eq!(memory(&stage, id), None);
    assert!(stage.text().contains("trashed 1. u undo · 6 view"), "{}", stage.text());
    assert!(!stage.text().contains("┌─ Move"), "one row is not asked about");
    stage.keys("u");
    assert!(memory(&stage, id).is_some());
    stage.keys("ctrl-r");
    assert_eq!(memory(&stage, id), None);
}

#[test]
fn d02_the_key_that_asked_never_answers() {
    for (marks, ask) in [(2, "d"), (60, "d"), (60, "p"), (60, "x")] {
        let mut stage = screen((100, 30));
        for _ in 0..marks {
            stage.keys("space");
        }
        let before = ids(&stage);
        for _ in 0..10 {
            stage.now += 30;
            stage.key(Key::parse(ask).unwrap());
        }
        stage.wait(2_000);
        for key in ["enter", "space", ask] {
            stage.now += 500;
            stage.key(Key::parse(key).unwrap());
        }
        assert_eq!(ids(&stage), before, "{ask} with {marks} marks");
        assert_eq!(stage.source.steps(), 0, "{ask} with {marks} marks");
    }
    for ask in ["D", "E"] {
        let mut stage = screen((100, 30));
        stage.keys("d 6");
        for _ in 0..10 {
            stage.now += 30;
            stage.key(Key::parse(ask).unwrap());
        }
        stage.keys("enter");
        stage.keys("u");
        assert_eq!(ids(&stage).len(), 400, "{ask}: it was still in the trash");
    }
}

#[test]
fn d02_keys_in_the_first_quarter_second_do_nothing() {
    let mut stage = screen((100, 30));
    stage.keys("space space");
    stage.now += 1_000;
    stage.key(Key::char('d'));
    stage.now += 100;
    stage.key(Key::char('y'));
    assert!(matches!(stage.state.popup, Some(Popup::Strip(_))), "deaf");
    stage.now += 300;
    stage.key(Key::char('y'));
    assert_eq!(ids(&stage).len(), 398);
}

#[test]
fn many_ask_for_their_number() {
    let mut stage = screen((100, 30));
    stage.keys("A d");
    let Some(Popup::Strip(strip)) = &stage.state.popup else { panic!("{}", stage.text()) };
    let count = strip.count;
    assert!(count >= 50);
    assert!(stage.text().contains(&format!("to trash type {count}:")), "{}", stage.text());
    stage.keys("1 2 enter");
    assert_eq!(ids(&stage).len(), 400, "the wrong number keeps");
    stage.keys("d");
    for digit in count.to_string().chars() {
        stage.keys(&digit.to_string());
    }
    stage.keys("enter");
    let pinned = stage.source.memories().filter(|memory| memory.pinned).count();
    assert_eq!(ids(&stage).len(), 400 - count + pinned.min(count), "pinned ones stay");
}

#[test]
fn d04_marks_that_the_filter_hides_are_named_and_counted() {
    let mut stage = screen((100, 30));
    stage.keys("space space space");
    let marked: Vec<i64> = stage.state.marks.ids.iter().map(|id| id.0).collect();
    let kinds: Vec<String> = marked.iter().map(|id| memory(&stage, *id).unwrap().type_id).collect();
    let hidden = kinds.iter().filter(|word| **word == kinds[0]).count();
    let letter = stage.state.alphabet.get(&kinds[0]).unwrap().letter;
    stage.keys(&format!("t {letter} esc"));
    assert!(stage.text().contains(&format!("3 marked ({hidden} hidden)")), "{}", stage.text());
    stage.keys("d");
    assert!(stage.text().contains(&format!("{hidden} of them hidden by the filter")), "{}", stage.text());
    assert!(stage.text().contains("to trash type 3:"), "hidden marks raise the level: {}", stage.text());
    stage.keys("h");
    assert_eq!(stage.state.hidden_marks(), 0);
    stage.keys("d y");
    let left = ids(&stage);
    assert!(marked.iter().all(|id| !left.contains(id)), "exactly the marked ones went");
    assert_eq!(left.len(), 397);
}

#[test]
fn pinned_rows_stay_out_of_a_bulk_delete_unless_asked_for() {
    let mut stage = screen((100, 30));
    let id = here(&stage);
    stage.keys("p g g space space d");
    assert!(stage.text().contains("1 is pinned: stays unless you press !"), "{}", stage.text());
    stage.keys("y");
    assert!(memory(&stage, id).is_some());
    assert_eq!(ids(&stage).len(), 399);
    stage.keys("u esc esc g g space space d ! y");
    assert_eq!(memory(&stage, id), None);
}

#[test]
fn retype_gives_one_key_per_type_and_any_word() {
    let mut stage = screen((100, 30));
    let id = here(&stage);
    stage.keys("T d");
    assert_eq!(memory(&stage, id).unwrap().type_id, "decision");
    stage.keys("T /");
    stage.typed("musing\n", 300);
    assert_eq!(memory(&stage, id).unwrap().type_id, "musing");
    assert!(stage.state.arena.row(stage.state.feed.cursor.unwrap()).flags.has(crate::hub::live::RowFlags::WILD));
}

#[test]
fn a_whole_database_of_wild_types_is_retyped_at_one_go() {
    let mut stage = screen_of(2_000, (100, 30));
    let wild = |stage: &Headless<Demo>| {
        let known: Vec<String> = crate::mode::code().types.into_iter().map(|def| def.id).collect();
        stage.source.memories().filter(|m| !m.type_id.is_empty() && !known.contains(&m.type_id)).count()
    };
    assert!(wild(&stage) > 40);
    stage.keys("g p");
    stage.typed("all\n", 300);
    stage.keys("/");
    stage.typed("type:wild\n", 300);
    stage.keys("A T o");
    if matches!(stage.state.popup, Some(Popup::Strip(_))) {
        stage.keys("y");
    }
    assert_eq!(wild(&stage), 0, "{}", stage.text());
    assert_eq!(stage.source.steps(), 1);
    stage.keys("u");
    assert!(wild(&stage) > 40);
}

#[test]
fn title_concepts_pin_and_exclude() {
    let mut stage = screen((100, 30));
    let id = here(&stage);
    stage.keys("r ctrl-u");
    stage.typed("Short and right\n", 300);
    assert_eq!(memory(&stage, id).unwrap().title, "Short and right");
    stage.keys("C");
    assert!(stage.text().contains("space ticks"));
    stage.keys("space enter");
    assert!(stage.source.steps() >= 2);
    stage.keys("p");
    assert!(memory(&stage, id).unwrap().pinned);
    assert!(
        stage.text().lines().any(|line| line.contains('^') && line.contains("Short and right")),
        "{}",
        stage.text()
    );
    stage.keys("p x");
    let now = memory(&stage, id).unwrap();
    assert!(!now.pinned && now.excluded);
}

#[test]
fn move_and_fold_a_worktree() {
    let mut stage = screen((100, 30));
    let id = here(&stage);
    stage.keys("m");
    stage.typed("infra\n", 300);
    assert_eq!(memory(&stage, id).unwrap().project, "infra");
    let in_worktree = |stage: &Headless<Demo>| stage.source.memories().filter(|m| m.project == "wt-auth").count();
    let before = in_worktree(&stage);
    assert!(before > 0);
    stage.keys("m");
    stage.typed("fold wt-auth\n", 300);
    assert_eq!(in_worktree(&stage), 0, "{}", stage.text());
    stage.keys("u");
    assert_eq!(in_worktree(&stage), before);
}

#[test]
fn merge_keeps_one_with_the_facts_of_all_in_one_step() {
    let mut stage = screen((100, 30));
    stage.keys("space space M");
    assert!(stage.text().contains("Merge 2 into 1"), "{}", stage.text());
    let before = ids(&stage);
    stage.keys("j l enter");
    assert_eq!(ids(&stage).len(), before.len() - 1);
    assert_eq!(stage.source.steps(), 1);
    stage.keys("u");
    assert_eq!(ids(&stage), before);
}

#[test]
fn redact_wants_the_word_and_leaves_no_copy() {
    let mut stage = screen((100, 30));
    let needle = "bcrypt";
    let holds = |stage: &Headless<Demo>| {
        stage
            .source
            .memories()
            .any(|m| m.facts.iter().any(|fact| fact.contains(needle)) || m.narrative.contains(needle))
    };
    assert!(holds(&stage));
    stage.keys("R");
    stage.typed("bcrypt\n", 300);
    assert!(stage.text().contains("type REDACT to go on"), "{}", stage.text());
    stage.typed("redact\n", 300);
    assert!(holds(&stage), "capitals are asked for");
    for _ in 0..6 {
        stage.keys("backspace");
    }
    stage.typed("REDACT\n", 300);
    assert!(!holds(&stage), "{}", stage.text());
}

#[test]
fn the_editor_is_given_a_file_and_its_changes_are_one_step() {
    let mut stage = screen((100, 30));
    let id = here(&stage);
    stage.keys("e");
    let Some(Effect::Edit(memories)) = stage.asides.pop() else { panic!("{:?}", stage.asides) };
    let text = crate::tui::update::write_edit(&memories, &stage.state.alphabet, &[]);
    let title = memories[0].title.clone();
    let edited = text.replacen(&title, "Edited in the editor", 1);
    stage.tell(crate::tui::msg::Msg::Edited(memories.clone(), edited));
    assert_eq!(memory(&stage, id).unwrap().title, "Edited in the editor");
    // What does not read opens again with the fault.
    let broken = text.replacen("title = ", "title == ", 1);
    stage.tell(crate::tui::msg::Msg::Edited(memories, broken));
    assert!(matches!(stage.asides.last(), Some(Effect::EditAgain { .. })));
}

#[test]
fn the_history_undoes_from_any_point() {
    let mut stage = screen((100, 30));
    let start = ids(&stage);
    stage.keys("d d p");
    assert_eq!(stage.source.steps(), 3);
    stage.keys("U");
    assert!(stage.text().contains("Changes, newest first"));
    stage.keys("down down enter");
    assert_eq!(ids(&stage), start, "{}", stage.text());
}

#[test]
fn a_read_only_database_refuses_with_the_reason() {
    let mut stage = screen((100, 30));
    stage.state.opened.read_only = Some("written by a newer cmem (schema 9, this one knows 1)".into());
    for keys in ["d", "p", "T", "e", "r", "R", "u"] {
        stage.keys(keys);
        assert_eq!(stage.source.steps(), 0);
        assert!(stage.text().contains("newer cmem"), "{keys}: {}", stage.text());
    }
}

#[test]
fn in_the_trash_u_puts_back_and_star_marks_the_batch() {
    let mut stage = screen((100, 30));
    let start = ids(&stage);
    stage.keys("space space space d y d 6");
    assert_eq!(ids(&stage).len(), 396);
    assert!(stage.text().contains("4 items"), "{}", stage.text());
    stage.keys("j * u");
    assert_eq!(ids(&stage).len(), 399, "{}", stage.text());
    stage.keys("u");
    assert_eq!(ids(&stage), start);
}

#[test]
fn a_session_is_trashed_by_number_and_a_live_one_is_not() {
    let mut stage = screen((100, 30));
    stage.keys("3 d");
    assert!(stage.text().contains("this session is live"), "{}", stage.text());
    stage.keys("j d");
    let Some(Popup::Strip(strip)) = &stage.state.popup else { panic!("{}", stage.text()) };
    let count = strip.count;
    for digit in count.to_string().chars() {
        stage.keys(&digit.to_string());
    }
    stage.keys("enter");
    assert!(ids(&stage).len() < 400);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// D.5: undo everything, and it is as it was; redo everything, and it is as it came to be.
    #[test]
    fn d05_undo_all_is_the_beginning_and_redo_all_the_end(keys in proptest::collection::vec(
        proptest::sample::select(vec!["d", "p", "x", "T b", "T o", "space d y", "space space d y", "space space M enter",
            "j", "k", "j j j", "u", "ctrl-r", "m down enter", "C space enter"]), 1..25)
    ) {
        let mut stage = screen_of(40, (100, 30));
        let start: Vec<Memory> = stage.source.memories().cloned().collect();
        for word in &keys {
            stage.keys(word);
            stage.keys("esc esc esc");
        }
        let end: Vec<Memory> = stage.source.memories().cloned().collect();
        for _ in 0..60 {
            stage.keys("u");
        }
        let undone: Vec<Memory> = stage.source.memories().cloned().collect();
        prop_assert_eq!(&undone, &start);
        for _ in 0..60 {
            stage.keys("ctrl-r");
        }
        // What was undone by hand and never done again stays undone; the rest comes back.
        if !keys.contains(&"u") {
            let redone: Vec<Memory> = stage.source.memories().cloned().collect();
            prop_assert_eq!(&redone, &end);
        }
        // The list agrees with the data in every case.
        let listed: std::collections::BTreeSet<i64> = stage.state.arena.newest_first().map(|ix| stage.state.arena.row(ix).id).collect();
        let there: std::collections::BTreeSet<i64> = stage.source.memories().map(|memory| memory.id.0).collect();
        prop_assert_eq!(listed, there);
    }
}

#[test]
fn ids_are_what_a_call_copies() {
    let mut stage = screen((100, 30));
    let id = here(&stage);
    stage.keys("y q");
    assert!(matches!(&stage.asides[..], [Effect::Copy { text, .. }] if *text == format!("get_observations([{id}])")));
    stage.keys("y j");
    let Some(Effect::Copy { text, .. }) = stage.asides.last() else { panic!() };
    let back: Memory = serde_json::from_str(text).unwrap();
    assert_eq!(back.id, MemoryId(id));
}

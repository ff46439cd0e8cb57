//! Search and filters: exact as typed, tiers in groups, suggestions, completion, history, saved views.

use super::screen_of;
use crate::tui::demo::Demo;
use crate::tui::headless::Headless;
use crate::tui::state::Tier;

fn titles(stage: &Headless<Demo>) -> Vec<String> {
    let rows = &stage.state.rows;
    (0..rows.exact())
        .filter_map(|at| rows.get(at))
        .map(|ix| stage.state.arena.title(stage.state.arena.row(ix)).to_owned())
        .collect()
}

#[test]
fn every_key_narrows_and_esc_restores() {
    let mut stage = screen_of(2_000, (100, 30));
    let all = stage.state.rows.len();
    let mut before = all;
    stage.keys("/");
    for ch in "refresh".chars() {
        stage.typed(&ch.to_string(), 300);
        assert!(stage.state.rows.exact() <= before);
        before = stage.state.rows.exact();
    }
    assert!(before > 0 && before < all);
    assert!(stage.text().contains("exact · "), "{}", stage.text());
    stage.keys("esc");
    assert_eq!(stage.state.rows.len(), all);
    assert!(stage.state.search.text.is_empty());
}

#[test]
fn narrowing_finds_the_same_as_looking_anew() {
    let mut stage = screen_of(2_000, (100, 30));
    stage.keys("/");
    stage.typed("re", 300);
    stage.typed("tr", 300);
    stage.typed("ies", 300);
    let narrowed = titles(&stage);
    stage.keys("ctrl-u");
    stage.typed("retries", 0);
    assert_eq!(titles(&stage), narrowed);
    stage.keys("backspace backspace backspace");
    assert!(stage.state.rows.exact() >= narrowed.len());
}

#[test]
fn full_text_comes_in_a_group_of_its_own_and_fuzzy_never_hides_exact() {
    let mut stage = screen_of(2_000, (100, 30));
    stage.keys("/");
    stage.typed("idempotency", 100);
    stage.wait(100);
    let group = stage.text();
    stage.keys("ctrl-u");
    stage.typed("stream guard", 100);
    stage.wait(100);
    let text = stage.text();
    assert!(text.contains("titles and facts ("), "{text}");
    stage.keys("ctrl-u");
    stage.typed("yesterday", 100);
    stage.wait(100);
    drop(group);
    stage.keys("ctrl-u");
    stage.typed("revoked", 100);
    stage.wait(100);
    let text = stage.text();
    assert!(text.contains("─ narrative ("), "{text}");
    let first = stage.state.rows.group_of(stage.state.rows.exact()).map(|(group, _)| group.title.clone());
    assert_eq!(first.as_deref(), Some("narrative"));
}

#[test]
fn late_answers_of_an_older_query_are_dropped() {
    let mut stage = screen_of(2_000, (100, 30));
    stage.keys("/");
    stage.slow = true;
    stage.typed("revoked", 100);
    stage.wait(100);
    stage.keys("ctrl-u");
    stage.typed("timer", 100);
    let rows = stage.state.rows.exact();
    stage.slow = false;
    stage.answer();
    assert!(stage.state.rows.groups.iter().all(|group| !group.rows.is_empty()));
    assert_eq!(stage.state.rows.exact(), rows);
}

#[test]
fn a_fault_is_underlined_and_the_rest_applies() {
    let mut stage = screen_of(2_000, (100, 30));
    stage.keys("/");
    stage.typed("type:bugfx race", 100);
    assert_eq!(stage.state.search.query.faults.len(), 1);
    assert!(titles(&stage).iter().all(|title| title.to_lowercase().contains("race")), "{:?}", titles(&stage));
    let text = stage.text();
    assert!(text.contains("bugfix"), "a suggestion: {text}");
}

#[test]
fn nothing_found_offers_the_nearest_queries_with_their_counts() {
    let mut stage = screen_of(2_000, (50, 40));
    stage.keys("/");
    stage.typed("type:bugfix zzzz", 100);
    stage.wait(100);
    assert!(stage.text().contains("No match"), "{}", stage.text());
    assert!(stage.text().contains("drop “zzzz”") || stage.text().contains("drop"), "{}", stage.text());
    stage.keys("enter");
    assert!(stage.state.rows.exact() > 0, "{}", stage.text());
}

#[test]
fn completion_offers_values_with_counts_and_tab_takes_one() {
    let mut stage = screen_of(2_000, (100, 30));
    stage.keys("/");
    stage.typed("type:bu", 100);
    assert!(stage.text().contains("complete: bugfix"), "{}", stage.text());
    stage.keys("tab");
    assert_eq!(stage.state.search.text, "type:bugfix");
    assert!(stage.state.rows.exact() > 0);
}

#[test]
fn printable_keys_are_text_in_the_line_and_filters_are_written_into_it() {
    let mut stage = screen_of(2_000, (100, 30));
    stage.keys("/");
    stage.typed("dqQux?:", 300);
    assert_eq!(stage.state.search.line.as_ref().unwrap().text(), "dqQux?:");
    assert_eq!(stage.source.steps(), 0);
    stage.keys("esc f t b");
    assert_eq!(stage.state.search.text, "type:bugfix");
    stage.keys("f t b");
    assert_eq!(stage.state.search.text, "");
    stage.keys("f s");
    assert!(stage.state.search.text.starts_with("session:"), "{}", stage.state.search.text);
    assert!(stage.state.rows.exact() > 0 && stage.state.rows.exact() < 40);
}

#[test]
fn tiers_cycle_and_history_comes_back() {
    let mut stage = screen_of(2_000, (100, 30));
    stage.keys("/");
    stage.typed("tok(en|ens)", 300);
    stage.keys("ctrl-t ctrl-t");
    assert_eq!(stage.state.search.tier, Tier::Regex);
    assert!(stage.state.rows.exact() > 0, "{}", stage.text());
    stage.keys("ctrl-t ctrl-u");
    stage.typed("timers", 300);
    stage.keys("enter / ctrl-u up");
    assert_eq!(stage.state.search.line.as_ref().unwrap().text(), "timers");
}

#[test]
fn the_legend_counts_without_its_own_part() {
    let mut stage = screen_of(2_000, (100, 30));
    let line = |stage: &Headless<Demo>| stage.text().lines().nth(1).unwrap().to_owned();
    let before = line(&stage);
    stage.keys("t b");
    assert!(stage.text().contains("Types"), "{}", stage.text());
    stage.keys("esc");
    let after = line(&stage);
    let count = before.split_whitespace().next().unwrap().trim_start_matches('●').to_owned();
    assert!(after.contains(&format!("●({count})")), "{before} / {after}");
    assert!(titles(&stage).len() < 2_000);
    stage.keys("t A esc");
    assert_eq!(line(&stage), before);
    stage.keys("t O d esc");
    let words: std::collections::BTreeSet<String> = (0..stage.state.rows.exact())
        .filter_map(|at| stage.state.rows.get(at))
        .map(|ix| stage.state.arena.type_of(stage.state.arena.row(ix)).to_owned())
        .collect();
    assert_eq!(words.into_iter().collect::<Vec<_>>(), ["decision"]);
}

#[test]
fn saved_views_are_kept_by_number() {
    let mut stage = screen_of(2_000, (100, 30));
    stage.keys("/");
    stage.typed("race\n", 300);
    stage.keys("' m");
    stage.keys("backspace 3 enter");
    assert_eq!(stage.state.saved.len(), 1);
    stage.keys("f x ' 3");
    assert_eq!(stage.state.search.text, "race");
}

#[test]
fn sorting_never_loses_the_cursor() {
    let mut stage = screen_of(2_000, (100, 30));
    stage.keys("j j j s t");
    let tokens: Vec<u32> =
        (0..50).filter_map(|at| stage.state.rows.get(at)).map(|ix| stage.state.arena.row(ix).tokens).collect();
    assert!(tokens.windows(2).all(|pair| pair[0] >= pair[1]));
    stage.keys("s n");
    assert!(stage.text().contains("LIVE") || stage.text().contains("HOLD"));
}

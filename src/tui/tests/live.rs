//! Following and holding (D.6, D.15): new rows, anchors, the unseen line, what is waiting, the recording cell.

use super::{screen, screen_of};
use crate::hub::live::Rec;
use crate::memory::{Memory, from_millis};
use crate::tui::demo::{Demo, START_MS, live_session, sample};
use crate::tui::headless::Headless;
use crate::tui::msg::{Answer, Msg};
use crate::tui::term::input::Input;

fn fresh(id: i64, at: i64) -> Memory {
    let mut memory = sample(id);
    memory.title = format!("New finding {id}");
    memory.created_at = from_millis(at);
    memory.project = "webapp".into();
    memory.project_root = "/home/dev/webapp".into();
    memory.session = Some(live_session().into());
    memory
}

fn arrive(stage: &mut Headless<Demo>, id: i64) {
    let at = stage.now;
    stage.source.arrive(fresh(id, at));
    stage.poll();
}

fn list(stage: &Headless<Demo>) -> Vec<String> {
    stage.text().lines().skip(2).take_while(|line| !line.contains("─ #")).map(str::to_owned).collect()
}

#[test]
fn live_new_rows_push_in_above_and_a_cursor_on_the_newest_stays_there() {
    let mut stage = screen((50, 40));
    assert!(stage.text().lines().next().unwrap().contains("LIVE"));
    arrive(&mut stage, 9_001);
    assert!(list(&stage)[1].contains("New finding 9001"), "{}", stage.text());
    assert_eq!(stage.state.under_cursor().unwrap().id, 9_001);
}

#[test]
fn live_a_cursor_elsewhere_stays_on_its_memory_until_it_would_leave_the_screen() {
    let mut stage = screen((100, 30));
    stage.keys("j j");
    let id = stage.state.under_cursor().unwrap().id;
    for n in 0..60 {
        arrive(&mut stage, 9_001 + n);
        assert_eq!(stage.state.under_cursor().unwrap().id, id);
        assert!(stage.text().contains(&format!("{id}")), "on the screen after {n}");
    }
    assert!(stage.text().lines().next().unwrap().contains("HOLD"), "{}", stage.text());
    assert!(stage.text().lines().next().unwrap().contains("new"));
    stage.keys("g g");
    assert!(stage.text().lines().next().unwrap().contains("LIVE"));
    assert!(stage.state.under_cursor().unwrap().id > 9_000);
}

/// Lines without the sign of the next context: that is the truth of the moment, not a place.
fn places(stage: &Headless<Demo>) -> Vec<String> {
    let blank = |line: String| {
        line.chars().enumerate().map(|(at, ch)| if at == 2 && "+-".contains(ch) { ' ' } else { ch }).collect()
    };
    list(stage).into_iter().map(blank).collect()
}

#[test]
fn d06_ten_thousand_rows_while_held_move_no_visible_line() {
    let mut stage = screen((50, 40));
    stage.keys("j j j j j j j j j j j j ctrl-d ctrl-d");
    let before = places(&stage);
    let id = stage.state.under_cursor().unwrap().id;
    for n in 0..10_000 {
        stage.now += 10;
        stage.source.arrive(fresh(10_000 + n, stage.now));
        // Some come late: their time lies inside what is visible.
        if n % 1_000 == 0 {
            let row = *stage.state.under_cursor().unwrap();
            stage.source.arrive(fresh(30_000 + n, row.created_ms + 1));
        }
        if n % 250 == 0 {
            stage.poll();
        }
    }
    stage.poll();
    assert_eq!(places(&stage), before);
    assert_eq!(stage.state.under_cursor().unwrap().id, id);
    // Deleting hits the row under the cursor, and the late ones enter with the next motion.
    stage.keys("d");
    assert!(stage.source.memories().all(|memory| memory.id.0 != id));
    stage.keys("j k");
    assert!(stage.state.rows.deferred.is_empty());
}

#[test]
fn d06_a_delete_while_rows_arrive_hits_the_row_that_was_under_the_cursor() {
    let mut stage = screen((100, 30));
    stage.keys("j j j");
    let id = stage.state.under_cursor().unwrap().id;
    stage.slow = true;
    stage.keys("d");
    for n in 0..5 {
        let at = stage.now;
        stage.source.arrive(fresh(9_001 + n, at));
    }
    stage.poll();
    stage.slow = false;
    stage.answer();
    assert!(stage.source.memories().all(|memory| memory.id.0 != id));
    assert_eq!(stage.source.steps(), 1);
}

#[test]
fn search_marks_and_popups_hold() {
    for keys in ["/", "space", "v", "?", "T"] {
        let mut stage = screen((100, 30));
        stage.keys(keys);
        let before = stage.state.under_cursor().unwrap().id;
        let y = stage.state.feed.y;
        arrive(&mut stage, 9_001);
        assert_eq!(stage.state.under_cursor().unwrap().id, before, "{keys}");
        assert_eq!(stage.state.feed.y, y, "{keys}");
    }
}

#[test]
fn what_came_unseen_is_counted_and_gn_goes_there() {
    let mut stage = screen((100, 30));
    stage.tell(Msg::Input(Input::FocusOut));
    for n in 0..7 {
        arrive(&mut stage, 9_001 + n);
    }
    assert!(stage.text().contains("─ 7 new ─"), "{}", stage.text());
    stage.tell(Msg::Input(Input::FocusIn));
    stage.keys("g n");
    assert_eq!(stage.state.under_cursor().unwrap().id, 9_001);
    // Seen for two seconds: with the next key the line goes.
    stage.keys("g g");
    stage.wait(2_500);
    stage.keys("j");
    assert!(!stage.text().contains("7 new"));
}

#[test]
fn a_change_by_another_program_updates_in_place_and_a_removal_moves_to_the_neighbour() {
    let mut stage = screen((100, 30));
    stage.keys("j j");
    let id = stage.state.under_cursor().unwrap().memory();
    stage.change_from_outside(&crate::hub::live::Change::Title(id, "Renamed elsewhere".into())).unwrap();
    stage.poll();
    assert_eq!(stage.state.under_cursor().unwrap().memory(), id);
    assert!(stage.text().contains("Renamed elsewhere"));
    let below = stage.state.rows.get(3).map(|ix| stage.state.arena.row(ix).id).unwrap();
    stage.change_from_outside(&crate::hub::live::Change::Trash(vec![id])).unwrap();
    stage.poll();
    assert_eq!(stage.state.under_cursor().unwrap().id, below);
}

#[test]
fn d15_every_state_of_recording_is_on_the_screen_at_every_size() {
    let ago = |ms: i64| START_MS - ms;
    let states = [
        (Rec::Ok(ago(4_000)), "REC ok 4s"),
        (Rec::Idle, "REC idle"),
        (Rec::Lag(ago(41_000)), "REC LAG 41s"),
        (Rec::Wait(START_MS + 157 * 60_000), "REC WAIT 17:10"),
        (Rec::Gap(ago(300_000)), "REC GAP 5m"),
        (Rec::Off, "REC OFF"),
        (Rec::Down(ago(360_000)), "REC DOWN 6m"),
        (Rec::ReadOnly, "READ ONLY"),
    ];
    for (rec, words) in states {
        for size in [(160, 45), (100, 30), (50, 40), (30, 15), (24, 6), (16, 1), (12, 1)] {
            let mut stage = screen_of(40, size);
            stage.source.rec = Some(rec);
            let vitals = crate::hub::live::Source::vitals(&mut stage.source).unwrap();
            stage.tell(Msg::Data(Answer::Vitals(vitals)));
            let first = stage.text().lines().next().unwrap_or_default().to_owned();
            let shown = if words.len() > usize::from(size.0) { words.trim_start_matches("REC ") } else { words };
            assert!(first.contains(shown), "{words} at {size:?}: {first}");
        }
    }
}

#[test]
fn d15_down_also_says_so_in_a_banner_that_esc_hides_for_half_an_hour() {
    let mut stage = screen((50, 40));
    let down = |stage: &mut Headless<Demo>| {
        stage.source.rec = Some(Rec::Down(START_MS - 360_000));
        let vitals = crate::hub::live::Source::vitals(&mut stage.source).unwrap();
        stage.tell(Msg::Data(Answer::Vitals(vitals)));
    };
    down(&mut stage);
    assert!(stage.text().contains("Not recording since 14:27"), "{}", stage.text());
    stage.keys("esc");
    assert!(!stage.text().contains("Not recording"));
    down(&mut stage);
    assert!(!stage.text().contains("Not recording"));
    stage.now += 31 * 60_000;
    down(&mut stage);
    assert!(stage.text().contains("Not recording"));
}

#[test]
fn nothing_waits_for_time_when_nothing_will_change() {
    let mut stage = screen((100, 30));
    stage.source.rec = Some(Rec::Idle);
    let vitals = crate::hub::live::Source::vitals(&mut stage.source).unwrap();
    stage.tell(Msg::Data(Answer::Vitals(vitals)));
    stage.wait(60_000);
    assert_eq!(crate::tui::update::next_deadline(&stage.state), None, "an idle screen sleeps");
}

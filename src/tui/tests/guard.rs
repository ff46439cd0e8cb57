//! Prompts typed into the wrong pane (D.1).

use super::screen;
use crate::tui::demo::Demo;
use crate::tui::effect::Effect;
use crate::tui::headless::Headless;
use crate::tui::msg::Msg;
use crate::tui::state::View;
use crate::tui::term::input::Input;

/// What people type to an agent.
const PROMPTS: [&str; 50] = [
    "please fix the failing test in auth.rs",
    "run the tests again",
    "delete the old migration and write a new one",
    "why does this take so long?",
    "Make the tests pass",
    "explain what this function does",
    "add a test for the empty case",
    "refactor this into smaller functions",
    "commit with a good message",
    "Undo that last change",
    "don't touch the config",
    "move it to src/lib",
    "rename foo to bar everywhere",
    "try again but simpler",
    "Quick question: is this thread safe?",
    "drop the table and recreate it",
    "mark it as done",
    "xargs is fine here",
    "use a hash map instead",
    "dddddd no wait, stop",
    "Remove all the println! calls",
    "Explain the borrow checker error above",
    "Please don't push yet",
    "Add logging to the worker",
    "merge main into this branch first",
    "Merge it",
    "Redact the token from the log",
    "Title case the headings",
    "Update the changelog",
    "exclude vendor from the lint",
    "pin the version to 1.2",
    "space before the brace please",
    "3 retries are enough",
    "1. read the file 2. summarise it",
    "Check whether 5 is right",
    "what's in the trash folder?",
    "Delete everything under tmp",
    "Empty the cache and rerun",
    "go on",
    "yes do it",
    "y",
    "no, keep it",
    "ok",
    "continue",
    "/compact",
    "/clear",
    "? is a wildcard here, isn't it",
    ": is missing after the if",
    "支付回调为什么会重试三次？",
    "quit the server and start it again",
];

fn contents(stage: &Headless<Demo>) -> Vec<crate::memory::Memory> {
    stage.source.memories().cloned().collect()
}

#[test]
fn d01_fifty_prompts_in_every_view_change_nothing() {
    for view in View::ALL {
        for prompt in PROMPTS {
            let mut stage = screen((100, 30));
            stage.state.view = view;
            let before = contents(&stage);
            stage.typed(prompt, 40);
            stage.typed("\n", 40);
            stage.wait(3_000);
            let after = contents(&stage);
            assert_eq!(before.len(), after.len(), "{prompt} in {view:?}");
            assert_eq!(before, after, "{prompt} in {view:?}");
            let left = stage.asides.iter().find(|effect| {
                matches!(effect, Effect::Edit(_) | Effect::OpenFile { .. } | Effect::EditConfig | Effect::Suspend)
                    || (matches!(effect, Effect::Quit(_)) && prompt.chars().count() > 1)
            });
            assert!(left.is_none(), "{prompt} in {view:?}: {left:?}");
        }
    }
}

#[test]
fn d01_the_panel_says_what_happened_and_esc_goes_on() {
    let mut stage = screen((50, 40));
    stage.typed("delete the old migration", 60);
    assert!(stage.text().contains("typing a prompt"), "{}", stage.text());
    assert!(stage.text().contains("1 change taken back"), "{}", stage.text());
    let ignored = stage.state.guard.tripped.unwrap().ignored;
    assert!(ignored >= 15, "{ignored}");
    stage.keys("esc j");
    assert_eq!(stage.state.feed.pos, 1);
    assert!(stage.state.guard.tripped.is_none());
}

#[test]
fn d01_a_change_still_under_way_is_taken_back_when_it_comes() {
    let mut stage = screen((100, 30));
    let before = contents(&stage);
    stage.slow = true;
    stage.typed("delete the old", 50);
    assert!(stage.state.guard.tripped.is_some());
    stage.slow = false;
    stage.answer();
    assert_eq!(contents(&stage), before);
}

#[test]
fn d01_going_on_before_the_answer_comes_still_takes_it_back() {
    let mut stage = screen((100, 30));
    let before = contents(&stage);
    stage.slow = true;
    stage.typed("delete the old", 50);
    stage.keys("esc j j");
    stage.slow = false;
    stage.answer();
    assert_eq!(contents(&stage), before);
}

#[test]
fn d01_pasted_text_is_search_text_never_keys() {
    let mut stage = screen((100, 30));
    let before = contents(&stage);
    stage.tell(Msg::Input(Input::Paste("dddd\nuuuu\nQ token".into())));
    assert_eq!(contents(&stage), before);
    assert_eq!(stage.state.search.line.as_ref().unwrap().text(), "dddd uuuu Q token");
}

#[test]
fn runs_of_motions_and_quick_commands_are_commands() {
    let mut stage = screen((100, 30));
    stage.typed("jjjjjjjjjjkkkjj", 30);
    assert!(stage.state.guard.tripped.is_none());
    assert_eq!(stage.state.feed.pos, 9);
    stage.wait(1_000);
    stage.typed("jjd", 80);
    assert_eq!(stage.source.steps(), 1);
    stage.wait(1_000);
    stage.typed("/token", 50);
    assert!(stage.state.guard.tripped.is_none());
    assert_eq!(stage.state.search.text, "token");
}

#[test]
fn a_person_who_reads_the_title_first_may_type_fast() {
    let mut stage = screen((100, 30));
    stage.typed("r", 10);
    stage.wait(600);
    stage.key(crate::tui::key::Key::ctrl('u'));
    stage.typed("A better title for this finding\n", 60);
    stage.wait(1_000);
    assert!(stage.state.guard.tripped.is_none());
    assert!(contents(&stage).iter().any(|memory| memory.title == "A better title for this finding"));
}

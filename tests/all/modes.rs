//! `cmem mode` from outside.
#![allow(clippy::disallowed_methods, reason = "writes mode files")]

use std::fs;

use super::support::Home;

#[test]
fn shipped_modes_are_listed_and_without_fault() {
    let home = Home::new();
    let run = home.run(&["mode", "list", "--json"]).ok().json();
    let ids: Vec<&str> = run.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["code", "code--chill", "research", "writing", "law-study", "email-investigation"]);
    assert_eq!(run[0]["active"], true);
    home.run(&["mode", "check"]).ok();
    let shown = home.run(&["mode", "show", "--json"]).ok().json();
    assert_eq!(shown["types"].as_array().unwrap().len(), 9);
    assert!(shown["instructions"].as_str().unwrap().contains("<skip/>"));
}

#[test]
fn a_mode_of_ones_own_is_begun_checked_and_used() {
    let home = Home::new();
    let path = home.run(&["mode", "new", "code--mine"]).ok().out;
    assert!(fs::metadata(path.trim()).is_ok(), "{path}");
    assert_eq!(home.run(&["mode", "new", "code--mine"]).code, 1, "nothing is written over");
    home.run(&["mode", "check", "code--mine"]).ok();
    fs::write(path.trim(), r#"{"observation_types":[{"id":"idea","description":"a thought"}]}"#).unwrap();
    let bad = home.run(&["mode", "check"]);
    assert_eq!(bad.code, 3);
    assert!(bad.out.contains("code--mine: the neutral type `discovery` is not among the types"), "{bad:?}");
    let shown = home.run(&["--set", "observer.mode=code--mine", "mode", "show"]).ok();
    assert!(shown.out.contains("(neutral: idea)") && shown.err.contains("warning"), "{shown:?}");
    assert_eq!(home.run(&["mode", "new", "../evil"]).code, 1);
    assert_eq!(home.run(&["mode", "show", "nonsense"]).code, 1);
}

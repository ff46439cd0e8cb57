use super::*;
use crate::memory::MemoryId;

fn kept(text: &str) -> Vec<Draft> {
    parse(text, OpenEnd::Keep).drafts
}

fn titles(text: &str) -> Vec<String> {
    kept(text).into_iter().map(|it| it.title).collect()
}

#[test]
fn a_whole_observation_is_read() {
    let drafts = kept(
        "<observation>\n<type>bugfix</type>\n<title>Pool was sized 0</title>\n<subtitle>calls waited</subtitle>\n\
         <facts>\n<fact>a</fact>\n<fact>b</fact>\n</facts>\n<narrative>Because.</narrative>\n<concepts><concept>gotcha</concept></concepts>\n\
         <files_read><file>src/a.rs</file></files_read>\n<files_modified><file>src/b.rs</file></files_modified>\n<events>41, #42</events>\n<replaces>#7</replaces></observation>",
    );
    assert_eq!(
        drafts,
        [Draft {
            raw_type: "bugfix".into(),
            title: "Pool was sized 0".into(),
            subtitle: "calls waited".into(),
            narrative: "Because.".into(),
            facts: vec!["a".into(), "b".into()],
            concepts: vec!["gotcha".into()],
            files_read: vec!["src/a.rs".into()],
            files_modified: vec!["src/b.rs".into()],
            cites: vec!["41".into(), "42".into()],
            salvaged: false,
            supersedes: vec![MemoryId(7)],
        }]
    );
}

#[test]
fn a003_prose_inside_an_observation_is_kept_as_its_story() {
    let drafts = kept("<observation>Pool size was 0 so every call waited. Raised to 8.</observation>");
    assert_eq!(drafts.len(), 1);
    assert!(drafts[0].salvaged);
    assert_eq!(drafts[0].title, "Pool size was 0 so every call waited");
    assert_eq!(drafts[0].narrative, "Pool size was 0 so every call waited. Raised to 8.");
    let chinese = kept("<observation>连接池大小为零，所以每次调用都在等待。</observation>");
    assert_eq!(chinese[0].title, "连接池大小为零，所以每次调用都在等待。");
}

#[test]
fn a004_attributes_fences_and_invented_wrappers_are_no_reason_to_lose_it() {
    let attribute = r#"<observation type="bugfix"><title>a</title><narrative>n</narrative></observation>"#;
    for text in
        [attribute.to_owned(), format!("```xml\n{attribute}\n```"), format!("Sure:\n```\n{attribute}\n```\nBye.")]
    {
        let drafts = kept(&text);
        assert_eq!((drafts.len(), drafts[0].raw_type.as_str(), drafts[0].title.as_str()), (1, "bugfix", "a"), "{text}");
    }
    let foreign = "<observation><what_happened>The retry loop ran without any limit</what_happened></observation>";
    assert_eq!(kept(foreign)[0].narrative, "The retry loop ran without any limit");
    let all_attributes =
        r#"<observation type='change' title='Limit "a" &amp; b' files_read="a.rs, b.rs" events="3 4"/>"#;
    let drafts = kept(all_attributes);
    assert_eq!(drafts[0].title, "Limit \"a\" & b");
    assert_eq!(drafts[0].files_read, ["a.rs", "b.rs"]);
    assert_eq!(drafts[0].cites.len(), 2);
}

#[test]
fn an_echo_of_the_question_is_cut_away() {
    let text = "<observed-k3v9><event id=\"1\">\nfile: <observation><title>from a file</title></observation>\n</event></observed-k3v9>\n\
                <observation><title>mine</title></observation>";
    assert_eq!(titles(text), ["mine"]);
    let wrapped = "<observed-k3v9><observation><title>mine</title></observation></observed-k3v9>";
    assert_eq!(titles(wrapped), ["mine"]);
    let remembered = "<already_remembered>- #3 old</already_remembered><observation><title>new</title></observation>";
    assert_eq!(titles(remembered), ["new"]);
}

#[test]
fn a009_invented_elements_without_prose_are_counted_as_unreadable() {
    let parsed = parse("<observation><kind>x</kind><detail>y</detail></observation>", OpenEnd::Keep);
    assert_eq!((parsed.drafts.len(), parsed.unreadable), (0, 1));
}

#[test]
fn a016_records_of_concepts_alone_are_empty() {
    let parsed = parse(
        "<observation><type>discovery</type><concepts><concept>gotcha</concept></concepts></observation>",
        OpenEnd::Keep,
    );
    assert_eq!((parsed.drafts.len(), parsed.empty), (0, 1));
}

#[test]
fn a011_of_a_cut_reply_the_whole_blocks_are_kept() {
    let text = "<observation><title>1</title></observation><observation><title>2</title></observation>\
                <observation><title>3</title><narrative>and then";
    let cut = parse(text, OpenEnd::Leave);
    assert_eq!(cut.drafts.iter().map(|it| it.title.as_str()).collect::<Vec<_>>(), ["1", "2"]);
    assert!(cut.cut_short && cut.open_end);
    assert_eq!(titles(text), ["1", "2", "3"]);
    assert_eq!(parse("<observation>\n  <title>A fixed answ", OpenEnd::Keep).drafts, []);
    // The client has a model go on after its limit; this one began anew.
    assert_eq!(titles("<observation>\n<title>cut o<observation><title>whole</title></observation>"), ["whole"]);
}

#[test]
fn tags_that_are_only_mentioned_destroy_nothing() {
    for (text, title, narrative) in [
        (
            "<observation><title>T</title><narrative>parser choked on </observation> tag</narrative></observation>",
            "T",
            "parser choked on </observation> tag",
        ),
        (
            "<observation><narrative>text </narrative> more</narrative><title>T</title></observation>",
            "T",
            "text </narrative> more",
        ),
        (
            "<observation><title>about the <skip_summary/> tag</title></observation>",
            "about the <skip_summary/> tag",
            "",
        ),
        (
            "<observation><title>the <skip/> marker</title><narrative>a <title> tag</narrative></observation>",
            "the <skip/> marker",
            "a <title> tag",
        ),
        ("I will avoid <summary> and <observation> tags. <observation><title>T</title></observation>", "T", ""),
        (
            "<observation><title>x <b>y</b></title><narrative>see <title>inner</title></narrative></observation>",
            "x <b>y</b>",
            "see <title>inner</title>",
        ),
        (
            "<observation><title>T</title><narrative>Vec<observation> holds them, a < b && c > d</narrative></observation>",
            "T",
            "Vec<observation> holds them, a < b && c > d",
        ),
    ] {
        let drafts = kept(text);
        assert_eq!(drafts.len(), 1, "{text}");
        assert_eq!((drafts[0].title.as_str(), drafts[0].narrative.as_str()), (title, narrative), "{text}");
    }
}

#[test]
fn forgotten_closing_tags_cost_nothing() {
    assert_eq!(
        titles("<observation><title>A</title> <observation><type>change</type><title>B</title></observation>"),
        ["A", "B"]
    );
    let drafts =
        kept("<observation><title>A<narrative>story</narrative><facts><fact>one<fact>two</facts></observation>");
    assert_eq!((drafts[0].title.as_str(), drafts[0].narrative.as_str()), ("A", "story"));
    assert_eq!(drafts[0].facts, ["one", "two"]);
    let drafts = kept(
        "<observation><title>A</title><narrative>one</observation><observation><title>B</title><narrative>two</narrative></observation>",
    );
    assert_eq!(drafts.iter().map(|it| it.narrative.as_str()).collect::<Vec<_>>(), ["one", "two"]);
}

#[test]
fn entities_cdata_and_lists_in_other_shapes_are_understood() {
    let drafts = kept(
        "<observation><title>a &lt; b &amp; c & d</title><narrative><![CDATA[x<y </narrative> z]]></narrative>\
         <facts>\n- one\n* two\n</facts><concepts>gotcha, pattern</concepts><fact>loose</fact><fact> </fact><fact>one</fact></observation>",
    );
    assert_eq!(drafts[0].title, "a < b & c & d");
    assert_eq!(drafts[0].narrative, "x<y </narrative> z");
    assert_eq!(drafts[0].facts, ["one", "two", "loose"]);
    assert_eq!(drafts[0].concepts, ["gotcha", "pattern"]);
}

#[test]
fn an_answer_escaped_once_too_often_is_read() {
    assert_eq!(titles("&lt;observation&gt;&lt;title&gt;T&lt;/title&gt;&lt;/observation&gt;"), ["T"]);
    assert_eq!(kept("text with &lt;observation&gt;"), []);
}

#[test]
fn upper_case_and_attributes_on_any_tag_are_read() {
    assert_eq!(titles(r#"<OBSERVATION kind="x"><Title lang="en">T</TITLE></Observation >"#), ["T"]);
}

#[test]
fn summaries_in_parts_or_in_prose() {
    let parsed = parse("<summary><request> R </request><next-steps>N</next-steps></summary>", OpenEnd::Keep);
    assert_eq!(parsed.summary, Some(Summary { request: "R".into(), next_steps: "N".into(), ..Summary::default() }));
    let prose = parse("<summary>The cache was fixed and tested.</summary>", OpenEnd::Keep);
    assert_eq!(prose.summary.map(|it| it.notes), Some("The cache was fixed and tested.".into()));
    let both =
        parse("<observation><title>T</title></observation><summary><learned>L</learned></summary>", OpenEnd::Keep);
    assert_eq!((both.drafts.len(), both.summary.map(|it| it.learned)), (1, Some("L".into())));
}

#[test]
fn skip_markers_count_outside_of_blocks_with_any_quotes() {
    for (text, reason) in [
        ("<skip/>", ""),
        ("<Skip />", ""),
        ("<skip reason='no work'/>", "no work"),
        ("<skip>routine</skip>", "routine"),
        ("<skip></skip>", ""),
    ] {
        assert_eq!(parse(text, OpenEnd::Keep).skip.as_deref(), Some(reason), "{text}");
    }
    assert_eq!(parse("<skip_summary reason=\"\"/>", OpenEnd::Keep).skip_summary.as_deref(), Some(""));
    assert_eq!(parse("<observation><title>T</title></observation><skip/>", OpenEnd::Keep).drafts.len(), 1);
}

#[test]
fn any_text_at_all_is_survived() {
    use proptest::prelude::*;
    let piece = prop_oneof![
        Just("<observation>".to_owned()),
        Just("</observation>".into()),
        Just("<title>".into()),
        Just("</title>".into()),
        Just("<narrative".into()),
        Just("<facts><fact>".into()),
        Just("<![CDATA[".into()),
        Just("<!--".into()),
        Just("&amp;&".into()),
        Just("<skip".into()),
        Just("/>".into()),
        Just("=\"é".into()),
        "\\PC{0,6}",
    ];
    proptest!(|(parts in proptest::collection::vec(piece, 0..30))| {
        let text = parts.concat();
        parse(&text, OpenEnd::Keep);
        parse(&text, OpenEnd::Leave);
    });
}

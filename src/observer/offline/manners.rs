//! Manners: words around what is said, in the languages we know some of. Taken off or passed over; a language that
//! is missing here only keeps its manners.

/// Words that open an answer without saying anything. Only whole words count, followed by a sign or the end.
#[rustfmt::skip]
pub const OPENERS: &[&str] = &[
    "done", "all done", "perfect", "great", "excellent", "good", "yes", "yep", "yeah", "no problem", "ok", "okay",
    "sure", "sure thing", "got it", "understood", "success", "ah", "ah yes", "right", "you're right",
    "you're absolutely right", "you are right", "good catch", "good point", "good question", "great question",
    "my mistake", "sorry", "apologies", "found it", "found the issue", "found the problem", "absolutely", "of course",
    "certainly", "interesting", "fair point", "fair enough", "makes sense", "confirmed", "nice", "awesome", "alright",
    "hmm", "i see", "i see the issue", "i see the problem", "i understand", "now i see what's happening", "fixed",
    "finished", "complete", "completed", "great news", "good news", "in summary", "to summarize", "in short", "tl;dr",
    "tldr", "summary", "short answer", "actually", "well", "so", "exactly", "correct", "wait", "oops", "huh", "huh?",
    "so yes", "so no", "the change is done", "the fix is done", "the change is complete", "all changes are complete",
    "the implementation is complete", "implementation complete", "implemented", "classic issue", "in other words", "interestingly", "importantly", "however", "to directly answer your question", "to answer your question", "direct answer", "answer", "no", "nope",
    "key point", "tl; dr", "ready", "all set", "thanks", "thank you", "that's it", "there it is",
    "now i have the full picture", "now i understand", "this explains everything", "erledigt", "fertig", "gut", "ja",
    "klar", "alles klar", "perfekt", "verstanden", "du hast recht", "sehr gut", "natürlich", "gefunden", "stimmt",
    "好的", "好", "完成", "完成了", "已完成", "搞定", "搞定了", "明白了", "明白", "没问题", "是的", "对", "你说得对", "当然", "找到了", "找到问题了", "可以",
    "收到", "总结", "修好了", "全部完成", "はい", "わかりました", "分かりました", "承知しました", "了解しました", "了解です", "完了しました", "完了です", "できました",
    "見つかりました", "見つけました", "問題ありません", "その通りです", "もちろん", "なるほど", "네", "알겠습니다", "완료했습니다", "완료되었습니다",
];

/// How sentences begin that announce, offer, ask or introduce.
#[rustfmt::skip]
pub const ANNOUNCERS: &[&str] = &[
    "let me", "i now ", "i have ", "i've got", "i understand", "i think ", "i believe ", "i'll", "i’ll", "i will",
    "i'm going to", "i am going to", "i'd", "i would", "i need to", "i should", "i can ", "i could", "i want to",
    "i'm now", "i'm on", "now let", "now i", "now to", "now add", "now update", "now fix", "now run", "now the",
    "next, i", "next i", "next up", "would you", "want me", "should i", "shall i", "shall we", "should we", "do you",
    "does that", "does this", "could you", "can you", "may i", "is there anything", "are you", "what would", "what's",
    "which ", "how would", "how does that", "here's", "here’s", "here is", "here are", "below", "feel free", "let's",
    "let’s", "let us", "if you'd", "if you want", "if you would", "if you need", "if you like", "just let", "please ",
    "ready to", "ready for", "have been implemented", "changes have been", "successfully implemented", "is complete", "implemented the plan", "all changes", "done successfully", "happy to", "looking at", "for now", "i see you", "i see that you", "step ",
    "you can now", "you can run", "you can view", "you can use", "to run", "to test", "try ", "note that i",
    "anything else", "thanks", "thank you", "sources:", "options:", "the following", "lass mich", "ich werde",
    "soll ich", "möchtest du", "willst du", "hier ist", "hier sind", "wenn du", "als nächstes", "jetzt", "falls du",
    "kann ich", "sag bescheid", "gerne", "让我", "我来", "我将", "我会", "我先", "接下来", "如果你", "如果您", "如需", "如有", "需要我", "是否",
    "要不要", "以下是", "下面是", "请", "现在", "您可以", "你可以", "还有什么", "要我", "では", "それでは", "次に", "必要であれば", "必要なら", "もし", "以下",
    "他に", "何か", "まず", "이제", "다음은", "원하시면", "필요하시면",
];

/// What stands before a finding: the finding itself starts behind it.
#[rustfmt::skip]
pub const FINDERS: &[&str] = &[
    "I found that ", "I've found that ", "I can see that ", "I can confirm that ", "I can confirm ", "I see that ",
    "It turns out that ", "It turns out ", "Turns out ", "It looks like ", "Looks like ", "This confirms that ",
    "I've confirmed that ", "I confirmed that ", "I noticed that ", "I realized that ", "Note that ", "Note: ",
    "Key finding: ", "Result: ",
];

/// What stands before a deed in the past form.
#[rustfmt::skip]
pub const DOERS: &[&str] = &[
    "I've now ", "I've also ", "I've just ", "I've successfully ", "I've ", "I’ve ", "I have now ",
    "I have successfully ", "I have ", "I also ", "I just ", "I successfully ", "We've ", "We have ", "I ",
];

/// Marks of a finished deed in languages that put the verb last or have no past form of our list.
#[rustfmt::skip]
pub const DONE: &[&str] = &[
    "修复", "添加了", "新增", "改为", "更新了", "删除了", "实现了", "しました", "された", "hinzugefügt", "behoben", "geändert", "entfernt",
    "했습니다",
];

/// Results that are no findings.
#[rustfmt::skip]
pub const ROUTINE: &[&str] = &[
    "tests pass", "tests passed", "test passes", "tests are passing", "tests still pass", "build succeeds",
    "build passes", "lint is clean", "lint passes", "checks pass", "compiles", "no errors", "working as expected",
    "ready for", "production ready", "ready to", "everything works", "committed successfully", "pushed successfully",
    "clean working", "is clean", "测试通过", "全部通过", "测试全部", "テストは全て", "テストが通り", "tests laufen", "tests sind grün",
];

/// Words of courtesy and transition in front of a request.
#[rustfmt::skip]
pub const POLITE: &[&str] = &[
    "can you please ", "could you please ", "can you ", "could you ", "would you ", "will you ", "please ", "pls ",
    "plz ", "can we ", "could we ", "i want you to ", "i'd like you to ", "i would like you to ", "i need you to ",
    "help me ", "hey, ", "hi, ", "hello, ", "hey ", "hi ", "hello ", "ok, ", "ok. ", "ok ", "okay, ", "okay ", "so, ",
    "so ", "and ", "then ", "also, ", "also ", "now, ", "now ", "yes, ", "yes. ", "yes ", "no, ", "uh. ", "um, ",
    "huh, ", "great, ", "alright, ", "cool, ", "thanks, ", "perfect, ", "finally ", "oh, ", "ah, ", "just ",
    "kannst du bitte ", "kannst du ", "könntest du ", "bitte ", "请你帮我", "请帮我", "帮我", "麻烦你", "麻烦", "请",
];

/// Requests that say nothing by themselves.
#[rustfmt::skip]
pub const BARE: &[&str] = &[
    "yes", "y", "no", "ok", "okay", "sure", "go", "go ahead", "do it", "do that", "do so", "please do", "continue",
    "proceed", "go on", "next", "again", "try again", "retry", "lgtm", "ship it", "commit", "commit this",
    "commit it", "commit and push", "push", "push it", "yes please", "yep", "yeah", "right", "correct", "thanks",
    "thank you", "good", "great", "perfect", "nice", "cool", "sounds good", "looks good", "keep going", "carry on",
    "both", "all", "all of them", "resume", "ping", "好", "好的", "是", "是的", "继续", "开始", "执行", "可以", "提交", "谢谢", "行",
    "はい", "続けて", "お願いします", "ありがとう", "ja", "weiter", "danke",
];

/// Headings that every answer has.
#[rustfmt::skip]
pub const GENERIC_HEADINGS: &[&str] = &[
    "summary", "what changed", "changes", "changes made", "final status", "result", "results", "status", "overview",
    "next steps", "files", "files changed", "files modified", "verification", "tests", "testing", "options",
    "recommendation", "analysis", "problem", "solution", "implementation complete", "completed", "key changes",
    "details", "usage", "总结", "修改内容", "まとめ", "変更内容", "変更点", "zusammenfassung", "änderungen", "ergebnis",
];

/// Parts of headings and lead-ins that announce proposals, not deeds.
#[rustfmt::skip]
pub const PROPOSALS: &[&str] = &[
    "option", "should", "could", "would", "recommend", "suggest", "proposal", "propose", "consider", "future", "ideal", "to fix this", "you can", "you may",
    "alternativ", "empfehl", "vorschl", "optional", "könnte", "sollte", "方案", "建议", "可以考虑", "可选", "提案", "おすすめ", "推奨", "案",
];

/// Ends of a head that wait for the next word.
#[rustfmt::skip]
pub const DANGLING: &[&str] = &[
    " is", " are", " was", " were", " the", " a", " to", " of", " that", " when", " if", " and", " only", " not", " be", " in", " on", " for",
    "ため", "ので", "から", "て", "が", "けど", "因为", "由于", "如果", "虽然", "当",
];

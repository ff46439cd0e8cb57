//! Words that hint at what a text is about, in the languages we know some of. Hints only: evidence from tools weighs
//! more, and a text in another language simply gives none.
//!
//! One automaton over all words, one pass a text.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

/// What a word hints at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cue {
    /// Something is broken, or is being mended.
    Fix,
    /// Something new.
    Feature,
    /// Another shape, same behaviour.
    Refactor,
    /// Documents, settings, chores.
    Chore,
    /// A choice.
    Decide,
    /// A weakness.
    Weakness,
    /// Safety in general.
    Safety,
    /// A reason or cause.
    Cause,
    /// A trap, a surprise.
    Trap,
    /// Asks for an explanation.
    Explain,
    /// What is left to do.
    Left,
}

const KINDS: usize = 11;

/// How often each cue was met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cues([u16; KINDS]);

impl Cues {
    /// Number of words that hint at `cue`.
    pub fn of(&self, cue: Cue) -> u16 {
        self.0[cue as usize]
    }

    /// Whether any does.
    pub fn has(&self, cue: Cue) -> bool {
        self.of(cue) > 0
    }
}

/// The cues in `text`.
pub fn cues(text: &str) -> Cues {
    let mut found = Cues::default();
    for hit in AUTOMATON.find_iter(text) {
        let (cue, word) = WORDS[hit.pattern().as_usize()];
        if !word.is_ascii() || stands_alone(text, hit.start(), hit.end()) {
            let count = &mut found.0[cue as usize];
            *count = count.saturating_add(1);
        }
    }
    found
}

/// Latin words count only as whole words.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    let part = |ch: Option<char>| ch.is_some_and(|ch| ch.is_alphanumeric() || ch == '_' || ch == '-');
    // A CJK neighbour is another word: these scripts write no spaces.
    let part = |ch: Option<char>| part(ch) && !ch.is_some_and(super::sentence::is_cjk);
    !part(before) && !part(after)
}

static AUTOMATON: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(WORDS.iter().map(|(_, word)| word))
        .expect("the word list is constant and small")
});

use Cue::{Cause, Chore, Decide, Explain, Feature, Fix, Left, Refactor, Safety, Trap, Weakness};

#[rustfmt::skip]
const WORDS: &[(Cue, &str)] = &[
    // English
    (Fix, "fix"), (Fix, "fixed"), (Fix, "fixes"), (Fix, "fixing"), (Fix, "bug"), (Fix, "bugs"), (Fix, "broken"),
    (Fix, "broke"), (Fix, "breaks"), (Fix, "fails"), (Fix, "failing"), (Fix, "failed"), (Fix, "failure"), (Fix, "crash"),
    (Fix, "crashes"), (Fix, "crashed"), (Fix, "panics"), (Fix, "regression"), (Fix, "doesn't work"), (Fix, "does not work"),
    (Fix, "not working"), (Fix, "doesnt work"), (Fix, "isn't working"), (Fix, "wrong"), (Fix, "incorrect"), (Fix, "incorrectly"),
    (Fix, "hangs"), (Fix, "stuck"), (Fix, "race condition"), (Fix, "resolve the"), (Fix, "not rendered correctly"),
    (Fix, "error"), (Fix, "errors"), (Fix, "flaky"), (Fix, "deadlock"), (Fix, "off-by-one"),
    (Feature, "add"), (Feature, "added"), (Feature, "adds"), (Feature, "implement"), (Feature, "implemented"),
    (Feature, "create"), (Feature, "created"), (Feature, "support"), (Feature, "introduce"), (Feature, "introduced"),
    (Feature, "build a"), (Feature, "write a"), (Feature, "new feature"), (Feature, "allow"), (Feature, "enable"),
    (Refactor, "refactor"), (Refactor, "refactored"), (Refactor, "refactoring"), (Refactor, "rename"), (Refactor, "renamed"),
    (Refactor, "extract"), (Refactor, "extracted"), (Refactor, "split"), (Refactor, "simplify"), (Refactor, "simplified"),
    (Refactor, "clean up"), (Refactor, "cleanup"), (Refactor, "cleaned up"), (Refactor, "deduplicate"), (Refactor, "reorganize"),
    (Refactor, "reorganise"), (Refactor, "restructure"), (Refactor, "move"), (Refactor, "moved"), (Refactor, "inline"),
    (Refactor, "consolidate"), (Refactor, "consolidated"), (Refactor, "dead code"), (Refactor, "unused"), (Refactor, "duplicated"),
    (Chore, "readme"), (Chore, "changelog"), (Chore, "docs"), (Chore, "documentation"), (Chore, "comment"), (Chore, "comments"),
    (Chore, "bump"), (Chore, "bumped"), (Chore, "upgrade"), (Chore, "dependency"), (Chore, "dependencies"), (Chore, "config"),
    (Chore, "configuration"), (Chore, "gitignore"), (Chore, "ci"), (Chore, "workflow"), (Chore, "lint"), (Chore, "typo"),
    (Decide, "let's use"), (Decide, "lets use"), (Decide, "let's go with"), (Decide, "lets go with"),
    (Decide, "we should use"),  (Decide, "decided"), (Decide, "decide"),
    (Decide, "i prefer"), (Decide, "i'd prefer"), (Decide, "always use"), (Decide, "never use"), (Decide, "from now on"),
    (Decide, "don't use"), (Decide, "do not use"), (Decide, "let's keep"), (Decide, "let's not"), (Decide, "stick with"),
    (Weakness, "vulnerability"), (Weakness, "vulnerabilities"), (Weakness, "vulnerable"), (Weakness, "exploit"),
    (Weakness, "exploitable"), (Weakness, "sql injection"), (Weakness, "command injection"), (Weakness, "xss"),
    (Weakness, "csrf"), (Weakness, "ssrf"), (Weakness, "path traversal"), (Weakness, "leaked secret"), (Weakness, "leaked key"),
    (Weakness, "exposed secret"), (Weakness, "hardcoded password"), (Weakness, "hard-coded password"), (Weakness, "security hole"),
    (Weakness, "security issue"), (Weakness, "privilege escalation"), (Weakness, "auth bypass"), (Weakness, "authentication bypass"),
    (Weakness, "remote code execution"), (Weakness, "leaks credentials"), (Weakness, "leaked credentials"),
    (Safety, "security"), (Safety, "secure"), (Safety, "sanitize"), (Safety, "sanitise"), (Safety, "harden"), (Safety, "hardened"),
    (Safety, "encryption"), (Safety, "threat model"),
    (Cause, "because"), (Cause, "root cause"), (Cause, "caused by"), (Cause, "the cause"), (Cause, "the reason"),
    (Cause, "the issue is"), (Cause, "the issue was"), (Cause, "the problem is"), (Cause, "the problem was"), (Cause, "due to"),
    (Cause, "turns out"), (Cause, "causing"), (Cause, "this happens when"), (Cause, "which means"), (Cause, "explains"),
    (Trap, "gotcha"), (Trap, "caveat"), (Trap, "careful"), (Trap, "beware"), (Trap, "surprisingly"), (Trap, "race"),
    (Trap, "edge case"), (Trap, "pitfall"), (Trap, "silently"), (Trap, "workaround"), (Trap, "limitation"), (Trap, "not supported"),
    (Explain, "why"), (Explain, "how"), (Explain, "what"), (Explain, "where"), (Explain, "which"), (Explain, "explain"),
    (Explain, "understand"), (Explain, "investigate"), (Explain, "find out"), (Explain, "analyze"), (Explain, "analyse"),
    (Left, "next step"), (Left, "next steps"), (Left, "remaining"), (Left, "still need"), (Left, "still needs"), (Left, "todo"),
    (Left, "not yet"), (Left, "follow-up"), (Left, "left to do"), (Left, "deferred"),
    // German
    (Fix, "beheben"), (Fix, "behoben"), (Fix, "behebe"), (Fix, "reparieren"), (Fix, "repariere"), (Fix, "repariert"), (Fix, "fehler"),
    (Fix, "kaputt"), (Fix, "funktioniert nicht"), (Fix, "geht nicht"), (Fix, "abstürzt"), (Fix, "absturz"), (Fix, "schlägt fehl"),
    (Feature, "hinzufügen"), (Feature, "hinzugefügt"), (Feature, "füge"), (Feature, "implementiere"), (Feature, "implementiert"),
    (Feature, "erstelle"), (Feature, "erstellt"), (Feature, "ergänze"), (Feature, "ergänzt"), (Feature, "baue"), (Feature, "neue"),
    (Refactor, "umbenennen"), (Refactor, "umbenannt"), (Refactor, "benenne"), (Refactor, "aufräumen"), (Refactor, "aufgeräumt"),
    (Refactor, "vereinfache"), (Refactor, "vereinfacht"), (Refactor, "verschieben"), (Refactor, "verschoben"), (Refactor, "auslagern"),
    (Chore, "dokumentation"), (Chore, "konfiguration"), (Chore, "abhängigkeit"), (Chore, "kommentar"),
    (Decide, "nehmen wir"), (Decide, "wir nehmen"), (Decide, "entschieden"), (Decide, "stattdessen"),
    (Decide, "lieber"),
    (Weakness, "sicherheitslücke"), (Weakness, "schwachstelle"), (Safety, "sicherheit"), (Safety, "verschlüsselung"),
    (Cause, "weil"), (Cause, "ursache"), (Cause, "der grund"), (Cause, "liegt daran"), (Cause, "verursacht"),
    (Explain, "warum"), (Explain, "wieso"), (Explain, "weshalb"), (Explain, "wie"), (Explain, "erkläre"), (Explain, "untersuche"),
    (Trap, "vorsicht"), (Trap, "achtung"), (Left, "nächste schritte"), (Left, "offen"),
    // Chinese
    (Fix, "修复"), (Fix, "修正"), (Fix, "报错"), (Fix, "错误"), (Fix, "崩溃"), (Fix, "失败"), (Fix, "不工作"), (Fix, "不生效"), (Fix, "异常"),
    (Fix, "卡住"), (Fix, "解决"), (Fix, "竞态"), (Fix, "问题"), (Fix, "修一下"), (Fix, "不对"),
    (Feature, "添加"), (Feature, "新增"), (Feature, "实现"), (Feature, "增加"), (Feature, "加上"), (Feature, "创建"), (Feature, "支持"),
    (Feature, "加一个"), (Feature, "写一个"), (Feature, "新建"),
    (Refactor, "重构"), (Refactor, "重命名"), (Refactor, "拆分"), (Refactor, "抽取"), (Refactor, "提取"), (Refactor, "简化"), (Refactor, "清理"),
    (Refactor, "移动到"), (Refactor, "合并重复"), (Refactor, "改名"),
    (Chore, "文档"), (Chore, "注释"), (Chore, "配置"), (Chore, "依赖"), (Chore, "升级"),
    (Decide, "用这个"), (Decide, "改用"), (Decide, "决定"), (Decide, "我们用"), (Decide, "还是用"), (Decide, "不要用"), 
    (Decide, "就用"), (Decide, "以后都"),
    (Weakness, "漏洞"), (Weakness, "注入攻击"), (Weakness, "密钥泄露"), (Weakness, "密码泄露"), (Weakness, "信息泄露"), (Safety, "安全"), (Safety, "加密"),
    (Cause, "因为"), (Cause, "原因"), (Cause, "由于"), (Cause, "导致"), (Cause, "根因"),
    (Explain, "为什么"), (Explain, "怎么"), (Explain, "如何"), (Explain, "哪里"), (Explain, "什么"), (Explain, "解释"), (Explain, "看看"), (Explain, "分析"),
    (Trap, "注意"), (Trap, "坑"), (Trap, "限制"), (Left, "下一步"), (Left, "后续"), (Left, "尚未"), (Left, "待办"),
    // Japanese
    (Fix, "直して"), (Fix, "直す"), (Fix, "バグ"), (Fix, "エラー"), (Fix, "動かない"), (Fix, "動作しない"), (Fix, "落ちる"), (Fix, "失敗"), (Fix, "不具合"),
    (Feature, "追加"), (Feature, "実装"), (Feature, "作成"), (Feature, "作って"), (Feature, "対応"),
    (Refactor, "リファクタ"), (Refactor, "名前を変更"), (Refactor, "リネーム"), (Refactor, "分割"), (Refactor, "整理"), (Refactor, "切り出"),
    (Chore, "ドキュメント"), (Chore, "コメント"), (Chore, "設定"), (Chore, "依存"), (Chore, "アップグレード"),
    (Decide, "にしよう"), (Decide, "を使おう"), (Decide, "にします"), (Decide, "決め"), (Decide, "採用"),
    (Weakness, "脆弱性"), (Weakness, "漏洩"), (Safety, "セキュリティ"), (Safety, "暗号"),
    (Cause, "原因"), (Cause, "ため、"), (Cause, "なぜなら"), (Cause, "によるもの"), (Cause, "理由"),
    (Explain, "なぜ"), (Explain, "どうして"), (Explain, "どこ"), (Explain, "どう"), (Explain, "教えて"), (Explain, "調べて"), (Explain, "説明"),
    (Trap, "注意"), (Trap, "制限"), (Left, "次のステップ"), (Left, "残り"), (Left, "未対応"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_whole_and_in_any_language() {
        assert!(cues("please fix the login").has(Cue::Fix));
        assert!(!cues("prefix and suffix").has(Cue::Fix));
        assert!(cues("修复refresh的竞态").has(Cue::Fix));
        assert!(cues("请fix一下").has(Cue::Fix));
        assert!(cues("なぜ落ちるのか調べて").has(Cue::Explain));
        assert!(cues("Warum schlägt der Test fehl?").has(Cue::Explain));
        assert!(cues("Let's use Redis instead of memory").has(Cue::Decide));
        assert_eq!(cues("").of(Cue::Fix), 0);
    }
}

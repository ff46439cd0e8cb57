-- Schema 1. Times are milliseconds since 1970 in UTC, 0 where unknown; empty text where there is none.
-- Row numbers named `id` are never handed out twice.

-- A project is a canonical repository or a directory. A linked worktree is a row of its own beside its main
-- checkout (same root), so that it can be told apart, counted and folded back.
CREATE TABLE project (
    id       INTEGER PRIMARY KEY,
    root     TEXT    NOT NULL CHECK (root <> ''),
    name     TEXT    NOT NULL,
    worktree TEXT    NOT NULL DEFAULT '',
    alias_of INTEGER NOT NULL DEFAULT 0, -- the project it was renamed or merged into; never a chain
    excluded INTEGER NOT NULL DEFAULT 0, -- by the user: not recorded, not injected, not found
    UNIQUE (root, worktree)
) STRICT;

CREATE TABLE session (
    id          INTEGER PRIMARY KEY,
    key         TEXT    NOT NULL UNIQUE CHECK (key <> ''),
    project     INTEGER NOT NULL DEFAULT 0,
    title       TEXT    NOT NULL DEFAULT '',
    started_ms  INTEGER NOT NULL DEFAULT 0,
    last_ms     INTEGER NOT NULL DEFAULT 0,
    prompts     INTEGER NOT NULL DEFAULT 0,
    last_prompt TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX session_last ON session (last_ms);

-- What lists, counts and the search-as-you-type read: small rows. The rest of a memory is in memory_body.
CREATE TABLE memory (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    ord           INTEGER NOT NULL UNIQUE, -- place in time: 8 places a millisecond; also the rowid in memory_fts
    created_ms    INTEGER NOT NULL,
    kind          INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2),     -- observation, summary, prompt
    type          TEXT    NOT NULL,
    project       INTEGER NOT NULL DEFAULT 0,
    session       INTEGER NOT NULL DEFAULT 0,
    prompt_number INTEGER NOT NULL DEFAULT 0,
    agent         TEXT    NOT NULL DEFAULT '',
    source        INTEGER NOT NULL CHECK (source BETWEEN 0 AND 4),   -- observer, offline, manual, import, fallback
    evidence      INTEGER NOT NULL CHECK (evidence BETWEEN 0 AND 2), -- files, none, unknown
    tokens        INTEGER NOT NULL DEFAULT 0,
    work_tokens   INTEGER NOT NULL DEFAULT 0,
    pinned        INTEGER NOT NULL DEFAULT 0,
    excluded      INTEGER NOT NULL DEFAULT 0,
    edited        INTEGER NOT NULL DEFAULT 0,
    abandoned     INTEGER NOT NULL DEFAULT 0,
    superseded_by INTEGER NOT NULL DEFAULT 0, -- holds as long as that row is there
    folded_into   INTEGER NOT NULL DEFAULT 0, -- the row that stands for this near-equal finding
    count         INTEGER NOT NULL DEFAULT 1, -- how many rows it stands for, itself included
    title         TEXT    NOT NULL,
    subtitle      TEXT    NOT NULL DEFAULT '',
    facts         TEXT    NOT NULL DEFAULT '[]',
    concepts      TEXT    NOT NULL DEFAULT '[]'
) STRICT;
CREATE INDEX memory_project ON memory (project, ord);
CREATE INDEX memory_session ON memory (session, ord);
CREATE INDEX memory_type ON memory (type, ord);
CREATE INDEX memory_pinned ON memory (ord) WHERE pinned = 1;
CREATE INDEX memory_summary ON memory (project, ord) WHERE kind = 1;
CREATE INDEX memory_manual ON memory (project, ord) WHERE source = 2;
CREATE INDEX memory_folded ON memory (folded_into) WHERE folded_into <> 0;
CREATE INDEX memory_superseded ON memory (superseded_by) WHERE superseded_by <> 0;

CREATE TABLE memory_body (
    id             INTEGER PRIMARY KEY,
    hash           BLOB    NOT NULL UNIQUE CHECK (length(hash) = 16), -- of the content as it was recorded
    recorded_ms    INTEGER NOT NULL,
    narrative      TEXT    NOT NULL DEFAULT '',
    files_read     TEXT    NOT NULL DEFAULT '[]',
    files_modified TEXT    NOT NULL DEFAULT '[]',
    cwd            TEXT    NOT NULL DEFAULT '',
    branch         TEXT    NOT NULL DEFAULT '',
    model          TEXT    NOT NULL DEFAULT '',
    raw_type       TEXT    NOT NULL DEFAULT '',
    summary        TEXT    NOT NULL DEFAULT '', -- the parts of a summary as JSON
    events         BLOB    NOT NULL DEFAULT x'' -- ledger rows it rests on, as packed numbers
) STRICT;
CREATE INDEX memory_body_wild ON memory_body (id) WHERE raw_type <> '';

-- Fed by the application with tokenised text (store/terms.rs) in the transaction that writes the row. Holds no
-- copy of the text; `secure-delete` takes entries out of the index at once.
CREATE VIRTUAL TABLE memory_fts USING fts5(
    scope, title, subtitle, narrative, facts, concepts, files,
    content = '', tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO memory_fts (memory_fts, rank) VALUES ('secure-delete', 1);

-- One small row per event: what became of it and why. No payload.
CREATE TABLE ledger (
    id          INTEGER PRIMARY KEY,
    key         BLOB    NOT NULL UNIQUE CHECK (length(key) > 1), -- packed (store/pack.rs)
    session     INTEGER NOT NULL,
    kind        INTEGER NOT NULL, -- word
    time_ms     INTEGER NOT NULL DEFAULT 0,
    recorded_ms INTEGER NOT NULL,
    outcome     INTEGER NOT NULL CHECK (outcome BETWEEN 0 AND 3), -- stored, skipped, dropped, quarantined
    gate        INTEGER NOT NULL,
    reason      INTEGER NOT NULL, -- word
    call        INTEGER NOT NULL DEFAULT 0,
    memories    BLOB    NOT NULL DEFAULT x'' -- memories that rest on it, as packed numbers
) STRICT;
CREATE INDEX ledger_quarantined ON ledger (id) WHERE outcome = 3;

-- Second names of events: copies that were given new uuids are known by one of these.
CREATE TABLE ledger_alias (
    key   BLOB    PRIMARY KEY CHECK (length(key) > 1),
    event INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Words that repeat in every ledger row.
CREATE TABLE word (
    id   INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE cursor (
    file_id        TEXT    PRIMARY KEY,
    path           TEXT    NOT NULL,
    session        TEXT    NOT NULL DEFAULT '',
    offset         INTEGER NOT NULL,
    generation     INTEGER NOT NULL DEFAULT 0,
    fingerprint    TEXT    NOT NULL DEFAULT '',
    state          TEXT    NOT NULL DEFAULT '',
    gone           INTEGER NOT NULL DEFAULT 0,
    backlog_end    INTEGER NOT NULL DEFAULT 0,
    backlog_events INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- Spans in which recording was off by the user's wish. Empty session: all.
CREATE TABLE pause (
    id       INTEGER PRIMARY KEY,
    session  TEXT    NOT NULL DEFAULT '',
    since_ms INTEGER NOT NULL,
    until_ms INTEGER NOT NULL DEFAULT 0
) STRICT;

-- One run of the observer, and each call to a model in it.
CREATE TABLE run (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    session    TEXT    NOT NULL DEFAULT '',
    provider   TEXT    NOT NULL DEFAULT '',
    model      TEXT    NOT NULL DEFAULT '',
    started_ms INTEGER NOT NULL,
    ended_ms   INTEGER NOT NULL DEFAULT 0,
    end_reason TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE call (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms         INTEGER NOT NULL,
    run           INTEGER NOT NULL DEFAULT 0,
    session       TEXT    NOT NULL DEFAULT '',
    project_root  TEXT    NOT NULL DEFAULT '',
    provider      TEXT    NOT NULL DEFAULT '',
    model         TEXT    NOT NULL DEFAULT '',
    outcome       TEXT    NOT NULL,
    reason        TEXT    NOT NULL DEFAULT '',
    input_tokens  INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cost          REAL    NOT NULL DEFAULT 0,
    millis        INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX call_at ON call (at_ms);

-- Numbers that add up: lines read, gate verdicts, unknown types. In total, and by hour for "today".
CREATE TABLE counter (
    name TEXT PRIMARY KEY,
    n    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE counter_hour (
    hour INTEGER NOT NULL,
    name TEXT    NOT NULL,
    n    INTEGER NOT NULL,
    PRIMARY KEY (hour, name)
) STRICT, WITHOUT ROWID;

-- Memories by type and by hour of event time (UTC), kept on every insert and delete so that no screen counts.
CREATE TABLE type_count (
    project INTEGER NOT NULL,
    kind    INTEGER NOT NULL,
    type    TEXT    NOT NULL,
    n       INTEGER NOT NULL,
    tokens  INTEGER NOT NULL,
    PRIMARY KEY (project, kind, type)
) STRICT, WITHOUT ROWID;
CREATE TABLE hour_count (
    project     INTEGER NOT NULL,
    hour        INTEGER NOT NULL,
    kind        INTEGER NOT NULL,
    type        TEXT    NOT NULL,
    n           INTEGER NOT NULL,
    tokens      INTEGER NOT NULL,
    work_tokens INTEGER NOT NULL,
    PRIMARY KEY (project, hour, kind, type)
) STRICT, WITHOUT ROWID;

-- Small facts with a name: heartbeat of the collector, why it is paused, version of the index.
CREATE TABLE state (
    key   TEXT PRIMARY KEY,
    value TEXT    NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE vector_model (
    id   INTEGER PRIMARY KEY,
    name TEXT    NOT NULL,
    dim  INTEGER NOT NULL,
    UNIQUE (name, dim)
) STRICT;
CREATE TABLE vector (
    memory INTEGER PRIMARY KEY,
    model  INTEGER NOT NULL,
    scale  REAL    NOT NULL,
    data   BLOB    NOT NULL -- one signed byte a dimension
) STRICT;

-- Deleted memories, whole, until they are purged. Their words stay in the index meanwhile (taking words out costs
-- more than all the rest; a search finds no row for them), so their place stays reserved.
CREATE TABLE trash (
    id           INTEGER PRIMARY KEY, -- the memory's
    ord          INTEGER NOT NULL UNIQUE,
    indexed      INTEGER NOT NULL,    -- its words are in the index
    deleted_ms   INTEGER NOT NULL,
    step         INTEGER NOT NULL,
    actor        TEXT    NOT NULL,
    merged_into  INTEGER NOT NULL DEFAULT 0,
    folded_into  INTEGER NOT NULL DEFAULT 0,
    image        TEXT    NOT NULL,
    vector_model INTEGER NOT NULL DEFAULT 0,
    vector_scale REAL    NOT NULL DEFAULT 0,
    vector       BLOB    NOT NULL DEFAULT x''
) STRICT;
CREATE INDEX trash_deleted ON trash (deleted_ms);
CREATE INDEX trash_folded ON trash (folded_into) WHERE folded_into <> 0;

-- What must not come back: by content, and by the events it rested on.
CREATE TABLE tombstone (
    hash   BLOB    PRIMARY KEY,
    memory INTEGER NOT NULL,
    at_ms  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX tombstone_memory ON tombstone (memory);
CREATE TABLE tombstone_event (
    event  INTEGER NOT NULL,
    kind   INTEGER NOT NULL,
    memory INTEGER NOT NULL,
    PRIMARY KEY (event, kind, memory)
) STRICT, WITHOUT ROWID;

-- The undo journal: one step per act of a person, its changes with what was before and after. A change says itself
-- whether it is undone, so that an undo that was killed half-way goes on where it stopped.
CREATE TABLE step (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    actor TEXT    NOT NULL,
    verb  TEXT    NOT NULL,
    label TEXT    NOT NULL,
    rows  INTEGER NOT NULL DEFAULT 0,
    state INTEGER NOT NULL DEFAULT 0 -- done, undone, gone (cannot be undone or done again)
) STRICT;
CREATE TABLE change (
    id     INTEGER PRIMARY KEY,
    step   INTEGER NOT NULL,
    what   TEXT    NOT NULL,
    target INTEGER NOT NULL,
    undone INTEGER NOT NULL DEFAULT 0,
    before TEXT    NOT NULL DEFAULT '',
    after  TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX change_step ON change (step, id);
CREATE INDEX change_target ON change (target);
CREATE INDEX change_undone ON change (step, id) WHERE undone = 1;

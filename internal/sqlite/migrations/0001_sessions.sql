-- What an append changes. The row stays narrow, because every append rewrites it.
CREATE TABLE session (
    sno       INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again, so that a stale number hits nothing
    id        TEXT    NOT NULL UNIQUE,
    parent_no INTEGER,
    fork_seq  INTEGER NOT NULL DEFAULT 0,
    base_hash BLOB    NOT NULL, -- hash before event 1: zero, or the parent's at the fork
    holder    TEXT,
    epoch     INTEGER NOT NULL DEFAULT 0,
    head_seq  INTEGER NOT NULL DEFAULT 0,
    head_hash BLOB    NOT NULL,
    mark      INTEGER NOT NULL DEFAULT 0,
    updated   INTEGER NOT NULL,
    bytes     INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX session_updated ON session (updated);
CREATE INDEX session_parent ON session (parent_no) WHERE parent_no IS NOT NULL;
CREATE INDEX session_holder ON session (holder) WHERE holder IS NOT NULL;

-- What a listing shows and filters by; written only when it differs.
CREATE TABLE listing (
    sno       INTEGER PRIMARY KEY,
    owner     TEXT    NOT NULL,
    created   INTEGER NOT NULL,
    title     TEXT    NOT NULL,
    lifecycle TEXT    NOT NULL,
    activity  TEXT    NOT NULL,
    cwd       TEXT    NOT NULL,
    model     TEXT    NOT NULL,
    turns     INTEGER NOT NULL,
    cost_nano INTEGER,
    labels    TEXT    NOT NULL, -- JSON object
    extra     BLOB
);
CREATE INDEX listing_title ON listing (title);
CREATE INDEX listing_cwd ON listing (cwd);
CREATE INDEX listing_lifecycle ON listing (lifecycle);
CREATE INDEX listing_activity ON listing (activity);

CREATE TABLE label (
    key   TEXT    NOT NULL,
    value TEXT    NOT NULL,
    sno   INTEGER NOT NULL,
    PRIMARY KEY (key, value, sno)
) WITHOUT ROWID;
CREATE INDEX label_session ON label (sno);

-- The log. Rows go in at the end, whatever session they belong to: that is what lets a group of sessions share
-- pages, and what makes one commit cheap.
CREATE TABLE event (
    gid        INTEGER PRIMARY KEY,
    session_no INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    time       INTEGER NOT NULL,
    flags      INTEGER NOT NULL,
    actor_type TEXT    NOT NULL,
    actor_id   TEXT    NOT NULL,
    codec      INTEGER NOT NULL,
    digest     BLOB    NOT NULL,
    hash       BLOB    NOT NULL,
    body       BLOB, -- NULL: erased
    UNIQUE (session_no, seq)
);

CREATE TABLE inbox (
    session_no INTEGER NOT NULL,
    n          INTEGER NOT NULL,
    key        TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    actor_type TEXT    NOT NULL,
    actor_id   TEXT    NOT NULL,
    time       INTEGER NOT NULL,
    body       BLOB,
    digest     BLOB    NOT NULL,
    drained    INTEGER, -- when, ms UTC
    PRIMARY KEY (session_no, n),
    UNIQUE (session_no, key)
) WITHOUT ROWID;
CREATE INDEX inbox_drained ON inbox (drained) WHERE drained IS NOT NULL;

CREATE TABLE snapshot (
    gid          INTEGER PRIMARY KEY AUTOINCREMENT, -- order of saving
    session_no   INTEGER NOT NULL,
    seq          INTEGER NOT NULL,
    fold_version INTEGER NOT NULL,
    hash         BLOB    NOT NULL,
    digest       BLOB    NOT NULL, -- of state: a damaged cache must not be taken for truth
    state        BLOB    NOT NULL,
    UNIQUE (session_no, seq, fold_version)
);

CREATE TABLE reader (
    session_no INTEGER NOT NULL,
    task       TEXT    NOT NULL,
    reader     TEXT    NOT NULL,
    position   INTEGER NOT NULL,
    PRIMARY KEY (session_no, task, reader)
) WITHOUT ROWID;

-- Sessions that are gone but whose rows are still being removed, a bounded number at a time.
CREATE TABLE garbage (
    session_no INTEGER PRIMARY KEY
);

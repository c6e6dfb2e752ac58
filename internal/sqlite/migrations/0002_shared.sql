-- Values that sessions share, written in the same transaction as the events that they come with.
CREATE TABLE shared (
    scope TEXT NOT NULL,
    key   TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (scope, key)
) WITHOUT ROWID;

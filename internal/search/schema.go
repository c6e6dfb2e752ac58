package search

import (
	"fmt"
)

const (
	// application marks the file as ours ("perx").
	application = 0x70657278
	// version changes with the tables, with what is a word and with what is a text.
	version = 1
)

// The table of words has no text of its own. Its tokenizer parts words at blanks alone: they come as [Words] gives them.
const schema = `
CREATE TABLE source (
	no      INTEGER PRIMARY KEY,
	kind    TEXT NOT NULL,
	name    TEXT NOT NULL,
	title   TEXT NOT NULL,
	cwd     TEXT NOT NULL,
	updated INTEGER NOT NULL,
	seq     INTEGER NOT NULL, -- read so far
	state   INTEGER NOT NULL,
	hash    TEXT NOT NULL,    -- at seq
	UNIQUE (kind, name)
);
CREATE TABLE doc (
	id    INTEGER PRIMARY KEY AUTOINCREMENT,
	no    INTEGER NOT NULL,
	seq   INTEGER NOT NULL, -- 0: the title of the source
	turn  INTEGER NOT NULL,
	time  INTEGER NOT NULL,
	place TEXT NOT NULL,
	title TEXT NOT NULL
);
CREATE INDEX doc_no ON doc (no, seq);
CREATE TABLE pending (what TEXT PRIMARY KEY) WITHOUT ROWID; -- words: some of deleted texts may be in the file
CREATE VIRTUAL TABLE word USING fts5 (text, content='', contentless_delete=1, tokenize='ascii');
`

// create makes the tables, all of them or none.
func (d *db) create() error {
	err := d.script(fmt.Sprintf("BEGIN IMMEDIATE; %s PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT;", schema, application, version))
	if err != nil {
		_ = d.script("ROLLBACK") // there may be none
	}
	return err
}

// check reports whether the tables are those of this version.
func (d *db) check() error {
	app, err := d.number("PRAGMA application_id")
	if err != nil {
		return err
	}
	v, err := d.number("PRAGMA user_version")
	if err != nil {
		return err
	}
	if app != application || v != version {
		return errVersion
	}
	return nil
}

package sqlite

import (
	"database/sql/driver"
	"embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/perdure/perdure/store"
)

const (
	databaseName = "perdure.db"
	// application marks the file as ours ("perd"), for file(1) and against opening somebody else's database.
	application = 0x70657264
	// schemaVersion is the number of the newest migration.
	schemaVersion = 2
	// minSQLite is the first release without the WAL-reset race, which can corrupt a database that two connections
	// use (3.7.0 to 3.51.2).
	minSQLite = 3_051_003
)

//go:embed migrations/*.sql
var migrations embed.FS

// The process that closes the database as the last one takes the WAL away, and the next one makes it anew. Who opens it
// in just that moment is told so at once, whatever busy_timeout says, and tries again.
const (
	recoverPause = 2 * time.Millisecond
	recoverTries = 2500
)

// openDatabase opens the writing connection and brings the schema up to date.
func openDatabase(cfg Config, path string, lock *writeLock) (*conn, error) {
	if err := cfg.engine.create(path, cfg.syncDir); err != nil {
		return nil, err
	}
	defer lock.enter()()
	c, err := openConn(cfg, path, readWrite)
	for range recoverTries {
		if code, _ := cfg.engine.code(err); err == nil || code != codeBusyRecovery {
			break
		}
		time.Sleep(recoverPause) //nolint:forbidigo // there is nothing to wait for
		c, err = openConn(cfg, path, readWrite)
	}
	if err != nil {
		return nil, err
	}
	if err := migrate(c, lock); err != nil {
		_ = c.close() // The error that matters is the first one.
		return nil, err
	}
	return c, nil
}

// openConn opens a connection and sets what every connection needs.
func openConn(cfg Config, path string, how access) (*conn, error) {
	raw, err := cfg.engine.connect(path, how)
	if err != nil {
		return nil, err
	}
	c := newConn(cfg.engine, raw)
	if err = checkVersion(c); err == nil {
		err = c.script(pragmas(cfg, how))
	}
	if err == nil && how == readWrite && len(cfg.pragmas) == 0 {
		err = checkDurable(c)
	}
	if err != nil {
		_ = c.close()
		return nil, err
	}
	return c, nil
}

// pragmas are the settings of a connection. Checkpoints are ours alone: SQLite's own swallows a failed sync. So are the
// syncs of commits (see writer.sync): with NORMAL, SQLite makes those that keep the file sound, before and after a
// checkpoint and at the beginning of a log, and none in a commit, which holds the lock.
func pragmas(cfg Config, how access) string {
	var b strings.Builder
	set := func(name, value string) {
		if v, ok := cfg.pragmas[name]; ok {
			value = v
		}
		fmt.Fprintf(&b, "PRAGMA %s = %s;\n", name, value)
	}
	set("busy_timeout", "10000")
	set("temp_store", "MEMORY")
	if how != readWrite {
		set("cache_size", "-8192")
		set("query_only", "ON")
		return b.String()
	}
	set("page_size", "4096")
	set("journal_mode", "WAL")
	set("synchronous", "NORMAL")
	set("fullfsync", "ON") // Only macOS knows the difference.
	set("checkpoint_fullfsync", "ON")
	set("wal_autocheckpoint", "0")
	set("journal_size_limit", "67108864")
	set("cache_size", "-65536")
	set("secure_delete", "FAST") // What is deleted is overwritten where that costs no write.
	return b.String()
}

// checkDurable reads back what durability stands on: SQLite answers a journal mode it cannot use with another one,
// without an error.
func checkDurable(c *conn) error {
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "1"} {
		if _, err := c.one("PRAGMA "+pragma, nil, func(v []driver.Value) error {
			if got := fmt.Sprint(v[0]); got != want {
				return fmt.Errorf("%s is %s: want %s", pragma, got, want)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

func checkVersion(c *conn) error {
	var version string
	if _, err := c.one("SELECT sqlite_version()", nil, func(v []driver.Value) error {
		version = text(v[0])
		return nil
	}); err != nil {
		return err
	}
	number := 0
	for _, part := range strings.SplitN(version, ".", 3) {
		n, err := strconv.Atoi(part)
		if err != nil {
			return fmt.Errorf("sqlite version %q: %w", version, err)
		}
		number = number*1000 + n
	}
	if number < minSQLite {
		return fmt.Errorf("sqlite %s can corrupt a database that two connections use: 3.51.3 or newer is needed", version)
	}
	return nil
}

// migrate brings the schema from whatever it is to schemaVersion, in one transaction. Only a store that needs it
// waits for the writers of other processes.
func migrate(c *conn, lock *writeLock) error {
	if version, err := currentVersion(c); err != nil || version == schemaVersion {
		return err
	}
	if err := lock.acquire(); err != nil {
		return err
	}
	defer lock.release()
	version, err := currentVersion(c)
	if err != nil || version == schemaVersion {
		return err
	}
	return migrateFrom(c, version)
}

func migrateFrom(c *conn, version int) error {
	var script strings.Builder
	script.WriteString("BEGIN IMMEDIATE;\n")
	for n := version + 1; n <= schemaVersion; n++ {
		step, err := migration(n)
		if err != nil {
			return err
		}
		script.WriteString(step)
	}
	fmt.Fprintf(&script, "PRAGMA application_id = %d;\nPRAGMA user_version = %d;\nCOMMIT;\n", application, schemaVersion)
	if err := c.script(script.String()); err != nil {
		_ = c.script("ROLLBACK")
		return fmt.Errorf("migrate schema from version %d to %d: %w", version, schemaVersion, err)
	}
	return nil
}

// migration returns the text of one numbered step.
func migration(n int) (string, error) {
	entries, err := migrations.ReadDir("migrations")
	if err != nil {
		return "", err
	}
	prefix := fmt.Sprintf("%04d_", n)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			b, err := migrations.ReadFile("migrations/" + e.Name())
			return string(b), err
		}
	}
	return "", fmt.Errorf("no migration %d", n)
}

// currentVersion reads the schema's version and refuses what is not ours to open.
func currentVersion(c *conn) (int, error) {
	var version, app, tables int64
	read := func(query string, to *int64) error {
		_, err := c.one(query, nil, func(v []driver.Value) error {
			*to = number(v[0])
			return nil
		})
		return err
	}
	if err := read("PRAGMA user_version", &version); err != nil {
		return 0, err
	}
	if err := read("PRAGMA application_id", &app); err != nil {
		return 0, err
	}
	if err := read("SELECT count(*) FROM sqlite_schema", &tables); err != nil {
		return 0, err
	}
	switch {
	case tables > 0 && app != application:
		return 0, fmt.Errorf("%s is a database of another program", databaseName)
	case version > schemaVersion:
		return 0, fmt.Errorf("%w: its schema is %d, this version knows %d; use the newer version", store.ErrNewer, version, schemaVersion)
	}
	return int(version), nil
}

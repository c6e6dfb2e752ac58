// Package sqlite keeps sessions in one SQLite database in a directory, the home.
//
// The model. A home is used by any number of processes at once; each opens one [Store]. All writes of a process go
// through one writer, which commits what is queued when it becomes free as one transaction (a group), and syncs it
// before anybody is told. Between processes the writers take turns at a file lock, which covers the transaction but not
// its sync. Readers never wait for writers; they may see what another process has committed and is about to sync.
//
// A Store that has written is a holder: it keeps a lock on a file of its own in the home for as long as its process
// lives. One that only reads changes nothing there, so that a full disk, a read-only one and a copy can be read: where
// SQLite cannot share the index of the write-ahead log, the database is read as it lies or copied aside. A session's
// row names the holder that may append to it. Whether a holder lives is asked of its lock, so a killed process is
// found dead at once, without clocks or timeouts.
//
// What the caller owes. It keeps the home on a local disk: the locks of a network filesystem cannot be trusted, and
// such a home is refused. It never copies or removes files of a home that is in use. After [store.ErrUncertain] it
// ends its process: a failed sync leaves the state of the disk unknown to this process for good, and nothing here
// touches the files again.
//
// Files of a home: perdure.db with -wal and -shm beside it, turn.lock, write.lock and door.lock for the writers, holders/
// with one file for each Store that has written, perdure.mark, perdure.lost and perdure.spare. The home is 0700 and the
// files are 0600, whatever the umask.
//
// What is noticed, and what is not. A database page that changed is found by SQLite, or by the hash chain when a log is
// read. Of the write-ahead log SQLite drops the first damaged frame with all that follows, silently: the mark names what
// was acknowledged last, and its absence is told (see [Store.Lost]). Not noticed: a loss behind the mark, that is, of the
// change of one process that was acknowledged in the same moment as another one's; a leave or take of a session alone,
// which changes no log; and a home that was put back whole.
package sqlite

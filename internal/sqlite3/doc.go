// Package sqlite3 is SQLite's own interface in Go, as database/sql/driver names it: a [Conn] prepares a [Stmt], which
// gives [Rows]. Below it are SQLite's functions as modernc.org/sqlite/lib translated them from C.
//
// Why not the driver that comes with them: it registers itself as "sqlite" with database/sql, and a program that links
// another driver of that name then panics before main. This one registers nothing.
//
// A connection and what comes from it is used by one goroutine at a time. Values are int64, float64, string, []byte and
// nil; bytes and strings are the caller's. What is not closed is memory outside the garbage collector.
//
// Source: https://sqlite.org/c3ref/intro.html
package sqlite3

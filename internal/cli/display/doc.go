// Package display says how values look to people and to programs: text that is safe for a terminal, numbers, sizes and
// money, tables that fit, JSON lines, tasks in a few words. It writes to whatever it is handed and knows no command.
package display

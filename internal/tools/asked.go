package tools

// Patterned is implemented by tools that search by a pattern, for permission rules: the pattern that is matched below
// the tool's path, since one that climbs out of its directory must be judged.
type Patterned interface {
	Pattern(c Call) string
}

// Typer is implemented by tools that type into a task: what they type.
type Typer interface {
	Typed(c Call) string
}

// Reader is implemented by tools of which some calls only look: such a call has the effect of a read.
type Reader interface {
	Reads(c Call) bool
}

// Doubter is implemented by tools of which some calls need a person's agreement although no rule asks: why, or "".
type Doubter interface {
	Doubt(c Call, env Env) string
}

// TaskNamer is implemented by tools that read tasks, or steer them: the ids that a call names, and whether it does more
// than read.
type TaskNamer interface {
	TaskIDs(c Call) (ids []string, ends bool)
}

// Pattern is the glob without the plain directories at its start, which are in the path.
func (globFiles) Pattern(c Call) string {
	in := parse(c)
	_, rest := splitGlob(in.text("path"), in.text("pattern"))
	return rest
}

// Pattern is the glob that selects files, not the regular expression.
func (grepFiles) Pattern(c Call) string { return parse(c).text("glob") }

// TaskIDs is the one task that is read. Its position moves with each result, so reads of it do not overlap: its effect
// is not of the class read.
func (bashOutput) TaskIDs(c Call) ([]string, bool) { return parse(c).texts("bash_id"), false }

// TaskIDs is the one task that is written to.
func (bashInput) TaskIDs(c Call) ([]string, bool) { return parse(c).texts("bash_id"), true }

// Typed is what the call types, for permission rules: into a shell, it is a command.
func (bashInput) Typed(c Call) string {
	in := parse(c)
	return typed(in)
}

// TaskIDs are the tasks to end.
func (killBash) TaskIDs(c Call) ([]string, bool) { return parse(c).texts("shell_id"), true }

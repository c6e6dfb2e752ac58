package talk

// Thought is what a block of thinking says.
var Thought = thought

// Held is how many calls are held, or remembered as unknown.
func (f *Fold) Held() int { return len(f.calls) + len(f.tasks) + len(f.late) }

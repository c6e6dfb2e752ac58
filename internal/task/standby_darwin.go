package task

// standby: this system has none.
type standby struct{ pid int }

func (*standby) record() string          { return "" }
func (s *shim) nameStandIn()             {}
func (s *shim) standBy()                 {}
func (s *shim) standByAnew([][2]uintptr) {}
func (s *shim) dismiss()                 {}

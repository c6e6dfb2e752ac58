package command

// Valid reports whether no bound is negative.
func (l Limits) Valid() bool {
	return min(l.CPUSeconds, l.MemoryBytes, l.OpenFiles, l.WallMS) >= 0
}

// Narrow returns the smaller bound of each kind; 0 is none.
func (l Limits) Narrow(other Limits) Limits {
	least := func(a, b int64) int64 {
		if a == 0 || b > 0 && b < a {
			return b
		}
		return a
	}
	return Limits{
		CPUSeconds: least(l.CPUSeconds, other.CPUSeconds), MemoryBytes: least(l.MemoryBytes, other.MemoryBytes),
		OpenFiles: least(l.OpenFiles, other.OpenFiles), WallMS: least(l.WallMS, other.WallMS),
	}
}

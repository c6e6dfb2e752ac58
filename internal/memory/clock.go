package memory

import "time"

func systemClock() time.Time { return time.Now() }

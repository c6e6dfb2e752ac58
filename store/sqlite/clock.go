package sqlite

import "time"

func systemClock() time.Time { return time.Now() }

// monotonic measures how long a lock was held.
func monotonic() time.Time { return time.Now() }

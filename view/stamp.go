package view

import (
	"encoding/json"
	"time"
)

// Stamp is a time in milliseconds since the Unix epoch. Its JSON is RFC 3339 in UTC with milliseconds, null for none.
type Stamp int64

func (s Stamp) String() string {
	return time.UnixMilli(int64(s)).UTC().Format("2006-01-02T15:04:05.000Z")
}

// MarshalJSON writes the text form.
func (s Stamp) MarshalJSON() ([]byte, error) {
	if s == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(s.String())
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Stamp) UnmarshalJSON(b []byte) error {
	*s = 0
	if string(b) == "null" {
		return nil
	}
	var t time.Time
	if err := json.Unmarshal(b, &t); err != nil {
		return err
	}
	*s = Stamp(t.UnixMilli())
	return nil
}

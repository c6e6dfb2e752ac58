package sqlite

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"

	"github.com/perdure/perdure/store"
)

// The driver gives int64, string, []byte and nil. A value of another type means damage; it becomes a zero value,
// which the hash chain then reports.

func number(v driver.Value) int64 {
	n, _ := v.(int64)
	return n
}

func text(v driver.Value) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

func bytesOf(v driver.Value) []byte {
	switch v := v.(type) {
	case []byte:
		return v
	case string:
		return []byte(v)
	}
	return nil
}

func digest(v driver.Value) (d store.Digest) {
	if b, ok := v.([]byte); ok && len(b) == len(d) {
		copy(d[:], b)
	}
	return d
}

// body restores the difference between an empty body and an erased one, which some drivers drop: an empty body has
// the digest of nothing.
func body(v driver.Value, d store.Digest) []byte {
	b := bytesOf(v)
	if b == nil && d == store.Sum(nil) {
		return []byte{}
	}
	return b
}

// blob is the argument for bytes; nil is NULL.
func blob(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

func labelText(labels map[string]string) (string, error) {
	if len(labels) == 0 {
		return "{}", nil
	}
	b, err := json.Marshal(labels)
	return string(b), err
}

func labelMap(s string) (map[string]string, error) {
	if s == "{}" || s == "" {
		return nil, nil
	}
	var labels map[string]string
	if err := json.Unmarshal([]byte(s), &labels); err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	return labels, nil
}

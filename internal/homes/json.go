package homes

import "encoding/json"

// JSONValue gives raw JSON as a value that marshals to it; bytes that are no JSON become a string.
func JSONValue(raw []byte) any {
	if len(raw) == 0 {
		return nil
	}
	if json.Valid(raw) {
		return json.RawMessage(raw)
	}
	return string(raw)
}

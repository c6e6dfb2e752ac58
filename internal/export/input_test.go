package export

import "testing"

// Of a call's arguments, a command and what has several lines are text; the rest is JSON in its order, whatever it is.
func TestInputIsReadable(t *testing.T) {
	for in, want := range map[string]struct {
		rest string
		long []Field
	}{
		`{"command":"ls"}`: {"", []Field{{"command", "ls"}}},
		`{"file_path":"a","old_string":"x\ny","n":1,"new_string":"z"}`: {"{\n  \"file_path\": \"a\",\n  \"n\": 1,\n  \"new_string\": \"z\"\n}", []Field{{"old_string", "x\ny"}}},
		`{"command":["a"],"b":{"c":"d\ne"}}`:                           {"{\n  \"command\": [\n    \"a\"\n  ],\n  \"b\": {\n    \"c\": \"d\\ne\"\n  }\n}", nil},
		`{"big":12345678901234567890}`:                                 {"{\n  \"big\": 12345678901234567890\n}", nil},
		`{}`:                                                           {"", nil},
		`[1]`:                                                          {"[\n  1\n]", nil},
		`not JSON`:                                                     {"not JSON", nil},
		`{"a":"b\nc"`:                                                  {`{"a":"b\nc"`, nil},
		``:                                                             {"", nil},
	} {
		rest, long := parted([]byte(in))
		same := rest == want.rest && len(long) == len(want.long)
		for i := range want.long {
			same = same && long[i] == want.long[i]
		}
		if !same {
			t.Errorf("%s: %q %q, want %q %q", in, rest, long, want.rest, want.long)
		}
	}
}

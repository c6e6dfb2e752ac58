package tools

import (
	"bytes"
	"encoding/json"
)

// Builtin gives the tools that every agent has, in the order in which a model is told of them.
func Builtin() []Tool {
	return []Tool{
		bash{},
		bashOutput{},
		bashInput{},
		killBash{},
		await{},
		readFile{},
		writeFile{},
		editFile{},
		globFiles{},
		grepFiles{},
		todoWrite{},
		note{},
		history{},
		askUser{},
	}
}

// Find gives the tool with this name, or nil.
func Find(tools []Tool, name string) Tool {
	for _, t := range tools {
		if t.Spec().Name == name {
			return t
		}
	}
	return nil
}

// Describe gives the tools as the JSON array that model APIs take: [{"name","description","input_schema"}]. The same
// tools give the same bytes in every build, for they are part of what a session freezes.
func Describe(tools []Tool) []byte {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, t := range tools {
		if i > 0 {
			b.WriteByte(',')
		}
		s := t.Spec()
		b.WriteString(`{"name":`)
		writeString(&b, s.Name)
		b.WriteString(`,"description":`)
		writeString(&b, s.Description)
		b.WriteString(`,"input_schema":`)
		if err := json.Compact(&b, []byte(s.Schema)); err != nil {
			b.WriteString(`{"type":"object"}`)
		}
		b.WriteByte('}')
	}
	b.WriteByte(']')
	return b.Bytes()
}

// writeString writes a JSON string, with <, > and & as they are.
func writeString(b *bytes.Buffer, s string) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)       // a string always encodes
	b.Truncate(b.Len() - 1) // the encoder's newline
}

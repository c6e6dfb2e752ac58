package session_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"

	"pgregory.net/rapid"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// kinds are all of this version's.
var kinds = session.Kinds()

// emptyBody makes the body of a kind, to be filled.
func emptyBody(k store.Kind) session.Body {
	var b session.Body
	err := session.ErrCorruptBody
	for raw := byte(0); raw < 3 && err != nil; raw++ { // as many raw parts as it has
		body := append([]byte("\x02{}"), raw)
		b, err = session.Decode(store.Event{Kind: k, Codec: session.Codec1, Body: append(body, make([]byte, raw)...)})
	}
	if err != nil {
		panic(err)
	}
	if _, unknown := b.(*session.Unknown); unknown {
		panic("no body for " + k)
	}
	return b
}

// words are what random text is made of: ids that mean something to a fold, so that events meet, and bad bytes.
var words = []string{
	"", "t1.s1.b0.a1", "t1.s1.b1.a1", "t1.s1.b1.a2", "t1.s1.b2.a1", "t1.s1.b0.a1.wake", "t1.s2.b0.a1", "c1", "c1.a1", "c1.a1.wake", "summary", "asked", "context", "x", "turn",
	"bash_1", "await_1", "await_1.wake", "end", "line", "timer.x", "Read", "Bash", "allow", "deny", "default", "bypassPermissions", "open", "paused", "read",
	"process", "ok", "error", "text", "tool_use", "end_turn", "pause_turn", "refusal", "running", "exited", "absent",
	"/w/f", "\xff\xfe", "a\x00b", ".a", "t1.s1", "naïve ☃", "<&>",
}

// source gives random values: rapid's, or a fixed series for fixtures.
type source interface {
	number(n int) int // 0 ≤ result < n
}

type series struct{ *rand.Rand }

func (s series) number(n int) int { return s.IntN(n) }

// seeded is a series that rapid chose.
func seeded(t *rapid.T) source {
	return series{rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))}
}

// randomBody fills a body of a random kind.
func randomBody(s source) session.Body {
	b := emptyBody(kinds[s.number(len(kinds))])
	fill(s, reflect.ValueOf(b).Elem())
	return b
}

// fill gives every field of v a value from a small domain.
func fill(s source, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			switch f, name := v.Field(i), v.Type().Field(i).Name; {
			case !f.CanSet():
			case name == "Act": // mostly an act that may be open
				f.SetString(words[1+s.number(3)*s.number(3)])
			case name == "Turn" || name == "N" || name == "Step" || name == "Attempt":
				f.SetInt(int64(1 + s.number(2)*s.number(2)))
			default:
				fill(s, f)
			}
		}
	case reflect.Pointer:
		if s.number(2) == 1 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(s, v.Elem())
		}
	case reflect.Slice:
		n := s.number(4) - 1
		if n < 0 {
			return // nil and empty are both tried
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(s, v.Index(i))
		}
	case reflect.Map:
		n := s.number(4) - 1
		if n < 0 {
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for range n {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(s, key)
			fill(s, value)
			v.SetMapIndex(key, value)
		}
	case reflect.Array:
		if s.number(2) == 1 {
			v.Index(0).SetUint(7)
		}
	case reflect.String:
		v.SetString(words[s.number(len(words))])
	case reflect.Bool:
		v.SetBool(s.number(2) == 1)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(s.number(6)) - 1)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(s.number(200)))
	default:
		panic(fmt.Sprintf("fill: no value for %s", v.Type()))
	}
}

// fuzzed is a series that a fuzzer chose.
type fuzzed struct{ seed uint64 }

func (f *fuzzed) number(n int) int {
	f.seed = f.seed*6364136223846793005 + 1442695040888963407
	return int(f.seed>>33) % n
}

func (f *fuzzed) into(b session.Body) { fill(f, reflect.ValueOf(b).Elem()) }

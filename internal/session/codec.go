package session

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/perdure/perdure/store"
)

// Codec1 is the first body encoding: a JSON head with our fields, then raw parts that the head accounts for by
// index. Provider bytes are only ever parts: encoding/json compacts and escapes an embedded message, a part comes
// back byte for byte.
//
//	uvarint len(head) · head · uvarint n · n × uvarint len(part) · parts
const Codec1 uint8 = 1

// Bounds of a body. They keep a corrupt length from asking for memory.
const (
	maxParts = 1 << 16
	maxBody  = 1 << 30
)

// ErrCorruptBody tells that a body's bytes are not a valid encoding.
var ErrCorruptBody = errors.New("corrupt event body")

// Body is the typed content of an event. It is sealed: the kinds of this package are all there are, plus [Unknown].
//
//sumtype:decl
type Body interface {
	// parts points at the raw fields in their fixed order. It is called again after the head was decoded, when
	// slices of parts have their length.
	parts() []*[]byte
	// apply folds the event into the state. It must be total: a body that does not fit the state is noted as a
	// fault, never a panic.
	apply(s *State, e store.Event)
	// summary says in a few words what the event is about. It may hold text of the model and of programs.
	summary() string
	// show puts the raw parts into the body's JSON, where they belong.
	show(m map[string]any)
}

// headOnly is embedded by bodies that have no raw parts.
type headOnly struct{}

func (headOnly) parts() []*[]byte    { return nil }
func (headOnly) show(map[string]any) {}

// Encode gives the Codec1 bytes of a body.
func Encode(b Body) ([]byte, error) {
	if u, ok := b.(*Unknown); ok {
		return u.Raw, nil
	}
	head, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	parts := b.parts()
	size := len(head) + 2*binary.MaxVarintLen64
	for _, p := range parts {
		size += len(*p) + binary.MaxVarintLen64
	}
	if size > maxBody || len(parts) > maxParts {
		return nil, fmt.Errorf("body of %d bytes in %d parts is over the bound", size, len(parts))
	}
	out := make([]byte, 0, size)
	out = binary.AppendUvarint(out, uint64(len(head)))
	out = append(out, head...)
	out = binary.AppendUvarint(out, uint64(len(parts)))
	for _, p := range parts {
		out = binary.AppendUvarint(out, uint64(len(*p)))
	}
	for _, p := range parts {
		out = append(out, *p...)
	}
	return out, nil
}

// Decode reads the body of an event. An unknown kind or codec gives an [Unknown] that re-encodes to the same bytes;
// an erased body gives an [Unknown] without bytes.
func Decode(e store.Event) (Body, error) {
	b := emptyBody(e.Kind)
	if b == nil || e.Codec != Codec1 || e.Body == nil {
		return &Unknown{Name: e.Kind, Raw: e.Body}, nil
	}
	head, parts, err := split(e.Body)
	if err != nil {
		return nil, fmt.Errorf("event %d (%s): %w", e.Seq, e.Kind, err)
	}
	if q, ok := b.(quick); !ok || !readQuick(q, head) {
		b = emptyBody(e.Kind) // afresh: what was read quickly may be half of it
		if err := json.Unmarshal(head, b); err != nil {
			return nil, fmt.Errorf("event %d (%s): %w: %w", e.Seq, e.Kind, ErrCorruptBody, err)
		}
	}
	want := b.parts()
	if len(want) > len(parts) {
		return nil, fmt.Errorf("event %d (%s): %w: head names %d parts, body has %d", e.Seq, e.Kind, ErrCorruptBody, len(want), len(parts))
	}
	for i, p := range want {
		*p = parts[i]
	}
	return b, nil
}

// split cuts an encoded body into its head and parts, which alias b.
func split(b []byte) (head []byte, parts [][]byte, err error) {
	next := func() (int, bool) {
		n, w := binary.Uvarint(b)
		if w <= 0 || n > maxBody {
			return 0, false
		}
		b = b[w:]
		return int(n), true
	}
	n, ok := next()
	if !ok || n > len(b) {
		return nil, nil, fmt.Errorf("%w: head length", ErrCorruptBody)
	}
	head, b = b[:n:n], b[n:]
	count, ok := next()
	if !ok || count > maxParts || count > len(b) {
		return nil, nil, fmt.Errorf("%w: part count", ErrCorruptBody)
	}
	sizes := make([]int, count)
	total := 0
	for i := range sizes {
		if sizes[i], ok = next(); !ok {
			return nil, nil, fmt.Errorf("%w: part length", ErrCorruptBody)
		}
		if total += sizes[i]; total > maxBody {
			break // a sum of corrupt lengths must not overflow
		}
	}
	if total != len(b) {
		return nil, nil, fmt.Errorf("%w: parts take %d bytes, %d are there", ErrCorruptBody, total, len(b))
	}
	parts = make([][]byte, count)
	for i, n := range sizes {
		parts[i], b = b[:n:n], b[n:]
	}
	return head, parts, nil
}

// Unknown carries an event of a kind or codec that this version does not know, or whose body was erased.
type Unknown struct {
	Name store.Kind
	Raw  []byte
}

func (u *Unknown) parts() []*[]byte { return nil }

func (u *Unknown) show(map[string]any) {}

func (u *Unknown) summary() string {
	return fmt.Sprintf("not known to this version, %d bytes", len(u.Raw))
}

func (u *Unknown) apply(s *State, e store.Event) {
	erased := e.Body == nil && e.Codec == Codec1 && emptyBody(e.Kind) != nil
	if e.Flags&store.Critical != 0 && !erased {
		s.ReadOnly = fmt.Sprintf("event %d has kind %q, which needs a newer version", e.Seq, e.Kind)
	}
}

package lineage

import (
	"hash/maphash"
	"slices"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Said is what one event brought into a session, and what its calls handed to tools.
type Said struct {
	Texts, Inputs []string
	From          From
	// Of what a session is given: the words of others, and those of its own project's files.
	Others, Project []string
}

// Said is [Log.Brings] with the calls' inputs, of an event that is not decoded yet.
func (l *Log) Said(ev store.Event) (Said, error) {
	if Mute(ev.Kind) {
		return Said{}, nil
	}
	body, err := session.Decode(ev)
	if err != nil {
		return Said{}, err
	}
	return l.Of(ev, body), nil
}

// Of is Said of an event that is decoded. Of what a session is given only the words of others count.
func (l *Log) Of(ev store.Event, body session.Body) Said {
	texts, from := l.Brings(ev, body)
	others, project := Given(body)
	switch {
	case len(others) > 0:
		return Said{From: Outside, Others: others, Project: project}
	case len(project) > 0:
		return Said{From: Inside, Project: project}
	}
	return Said{Texts: texts, Inputs: Inputs(body), From: from}
}

// Mute tells of a kind that its events need not be decoded: they neither bring words nor say whose others are.
func Mute(kind store.Kind) bool {
	return kind != session.KindConfigured && kind != session.KindToolDecided && slices.Contains(silent, kind)
}

// maxIndex bounds what an index holds of words, in bytes. Of what comes beyond it every claim is looked for.
const maxIndex = 32 << 20

// Index knows of each event that brought words which claims it cannot repeat, so that only the others are read again. It
// holds no text: 10 bits for each different word of an event. What it rules out repeats nothing for certain; what it does
// not may not repeat anything either, and has to be read.
type Index struct {
	log    Log
	places []Place
	words  []filter
	size   int // of words, in bytes
}

// Place is an event that brought words.
type Place struct {
	Session string
	Seq     int64
	From    From
}

// Add takes the next event of a session's log, an ancestor's first.
func (x *Index) Add(id string, ev store.Event) error {
	said, err := x.log.Said(ev)
	if err != nil {
		return &store.CorruptError{Session: id, Seq: ev.Seq, Cause: err}
	}
	all := slices.Concat(said.Texts, said.Inputs, said.Others, said.Project)
	if len(all) == 0 || said.From == Nowhere && len(said.Inputs) == 0 {
		return nil
	}
	var f filter
	if x.size < maxIndex {
		f = filterOf(all)
		x.size += 8 * len(f)
	}
	x.places, x.words = append(x.places, Place{id, ev.Seq, said.From}), append(x.words, f)
	return nil
}

// Look is a walk over the events that may repeat one of some claims.
type Look struct {
	x      *Index
	at     int
	claims []sought
}

type sought struct {
	words []uint64
	need  int
}

// Look begins a walk.
func (x *Index) Look(claims []string) *Look {
	l := &Look{x: x}
	for _, text := range claims {
		known := map[uint64]bool{}
		for w := range words(text) {
			known[sum(w)] = true
		}
		s := sought{need: needed(len(known))}
		for h := range known {
			s.words = append(s.words, h)
		}
		l.claims = append(l.claims, s)
	}
	return l
}

// Next gives the next events, at most so many, in the order of the log, that may repeat a claim for which open is true.
// None: there are no more.
func (l *Look) Next(most int, open func(claim int, from From) bool) (out []Place) {
	for ; l.at < len(l.x.places) && len(out) < most; l.at++ {
		p, f := l.x.places[l.at], l.x.words[l.at]
		for i, c := range l.claims {
			if len(c.words) > 0 && open(i, p.From) && f.mayHold(c) {
				out = append(out, p)
				break
			}
		}
	}
	return out
}

// filter is a set of words that may hold more than it was given, never less. Nil holds everything.
type filter []uint64

// A filter has that many bits for each word, and each word sets that many of them: one word in a hundred is found in
// vain, and a claim needs several.
const (
	bitsOfWord = 10
	setOfWord  = 5
)

var seed = maphash.MakeSeed()

func sum(word string) uint64 { return maphash.String(seed, word) }

func filterOf(texts []string) filter {
	known := map[uint64]bool{}
	for _, text := range texts {
		for _, way := range readings(text) {
			for w := range words(way) {
				known[sum(w)] = true
			}
		}
	}
	f := make(filter, (len(known)*bitsOfWord+63)/64+1)
	for h := range known {
		f.bits(h, func(word int, bit uint64) bool {
			f[word] |= bit
			return true
		})
	}
	return f
}

// bits goes through the bits of a word, as long as it is told to.
func (f filter) bits(h uint64, do func(word int, bit uint64) bool) bool {
	n, a, b := uint64(len(f))*64, h&0xffffffff, h>>32|1
	for i := range uint64(setOfWord) {
		at := (a + i*b) % n
		if !do(int(at/64), 1<<(at%64)) {
			return false
		}
	}
	return true
}

func (f filter) mayHold(c sought) bool {
	if f == nil {
		return true
	}
	missing := len(c.words) - c.need
	for _, h := range c.words {
		if !f.bits(h, func(word int, bit uint64) bool { return f[word]&bit != 0 }) {
			if missing--; missing < 0 {
				return false
			}
		}
	}
	return true
}

package knowledge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Proposal is something to remember that a person has not accepted yet. It is data: no session is given it.
type Proposal struct {
	ID      string        `json:"id"`
	Tag     string        `json:"tag,omitempty"` // DECISION, GOTCHA, REUSE, CORRECTION; empty: by the memory tool
	Text    string        `json:"text"`
	Reason  string        `json:"reason,omitempty"`
	Topic   string        `json:"topic,omitempty"`
	Scope   string        `json:"scope"` // project or user
	Source  Source        `json:"source"`
	Session string        `json:"session,omitempty"`
	Seq     int64         `json:"seq,omitzero"`
	Date    string        `json:"date"` // RFC 3339, UTC
	State   ProposalState `json:"state"`
	Why     string        `json:"why,omitempty"`     // it was left out
	Key     string        `json:"key,omitempty"`     // of the entry that it became
	Edited  bool          `json:"edited,omitempty"`  // a person put it into words
	Accepts int           `json:"accepts,omitempty"` // how often it was accepted
}

// ProposalState is where a proposal stands.
type ProposalState string

// The states of a proposal.
const (
	ProposalWaits    ProposalState = "waiting"
	ProposalLeft     ProposalState = "left"
	ProposalAccepted ProposalState = "accepted"
	ProposalRefused  ProposalState = "refused"
)

// Trusted reports whether nobody but the user and the model is behind it.
func (p Proposal) Trusted() bool { return p.Source == SourceUser || p.Source == SourceModel }

// Body is the whole text that is noted when it is accepted: on one line, if it fits there.
func (p Proposal) Body() string {
	switch line := p.Text + " (" + p.Reason + ")"; {
	case p.Reason == "":
		return p.Text
	case len(line) <= maxSummary && !strings.Contains(line, "\n"):
		return line
	}
	return p.Text + "\n\nReason: " + p.Reason
}

// Bounds of the proposals of a project.
const (
	MaxProposal    = 2000 // bytes of a text, and of a reason
	MaxWaiting     = 200
	maxDecided     = 200  // of each other state that are still shown
	maxRefusals    = 5000 // texts that are not proposed again
	maxProposeOnce = 200  // of one call
	maxInboxBytes  = 32 << 20
)

const (
	inboxName    = "proposals.json"
	inboxVersion = 1
)

// ErrNoProposal says that no proposal has this id.
var ErrNoProposal = errors.New("no such proposal")

// Inbox holds the proposals of a project. They lie in the home, beside what is known of the project, wherever that is.
type Inbox struct{ m *Memory }

// Inbox is that of the memory's project.
func (m *Memory) Inbox() Inbox { return Inbox{m} }

// Proposals are what an inbox holds, the oldest first.
type Proposals struct {
	List    []Proposal
	Expired int // that nobody looked at in time
}

type inboxFile struct {
	Version int        `json:"version"`
	Next    int        `json:"next"`
	Expired int        `json:"expired,omitempty"`
	Refused []string   `json:"refused,omitempty"` // digests of what texts say, the oldest first
	Seen    []Seen     `json:"seen,omitempty"`    // the newest last
	List    []Proposal `json:"proposals"`
}

func (i Inbox) path() []string { return i.m.Project.changes[:2] }

// File is where it lies.
func (i Inbox) File() string {
	return filepath.Join(append(append([]string{i.m.Project.cfg.Home}, i.path()...), inboxName)...)
}

// List gives the proposals. Nothing is made on disk.
func (i Inbox) List() (Proposals, error) {
	base, err := openAt(i.m.Project.cfg.Home, i.path(), false, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Proposals{}, nil
	}
	if err != nil {
		return Proposals{}, err
	}
	defer base.Close()
	f, err := i.read(base)
	return Proposals{List: f.List, Expired: f.Expired}, err
}

// Get gives one proposal.
func (i Inbox) Get(id string) (Proposal, error) {
	all, err := i.List()
	if err != nil {
		return Proposal{}, err
	}
	for _, p := range all.List {
		if p.ID == id {
			return p, nil
		}
	}
	return Proposal{}, fmt.Errorf("%q: %w", clip(id), ErrNoProposal)
}

func (i Inbox) read(base *os.Root) (f inboxFile, err error) {
	file, err := openFile(base, inboxName, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return inboxFile{Version: inboxVersion, Next: 1}, nil
	}
	if err != nil {
		return f, fmt.Errorf("%s: %w", i.File(), err)
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxInboxBytes+1))
	if err == nil && len(b) > maxInboxBytes {
		err = fmt.Errorf("over %d bytes", maxInboxBytes)
	}
	if err == nil {
		f, err = parseInbox(b)
	}
	if err != nil {
		return f, fmt.Errorf("%s: %w", i.File(), err)
	}
	return f, nil
}

// parseInbox reads the file of proposals. One that is not as this version writes it is an error: nothing of it is lost by
// writing over it.
func parseInbox(b []byte) (inboxFile, error) {
	var f inboxFile
	if err := json.Unmarshal(bytes.TrimSpace(b), &f); err != nil {
		return f, fmt.Errorf("not a list of proposals: put it right, or delete it: %w", err)
	}
	if f.Version != inboxVersion {
		return f, fmt.Errorf("version %d, this is for version %d", f.Version, inboxVersion)
	}
	ids := map[string]bool{}
	for _, p := range f.List {
		switch {
		case p.ID == "" || ids[p.ID]:
			return f, fmt.Errorf("the id %q is there twice, or empty", clip(p.ID))
		case rank(p.Source) < 0:
			return f, fmt.Errorf("%s is of the unknown source %q", clip(p.ID), clip(string(p.Source)))
		case !slices.Contains([]ProposalState{ProposalWaits, ProposalLeft, ProposalAccepted, ProposalRefused}, p.State):
			return f, fmt.Errorf("%s has the unknown state %q", clip(p.ID), clip(string(p.State)))
		}
		ids[p.ID] = true
	}
	if f.Next < 1 || f.Next > 1<<40 {
		f.Next = 1
	}
	return f, nil
}

// change runs one change of the inbox under the lock of its directory.
func (i Inbox) change(ctx context.Context, do func(f *inboxFile) error) error {
	s := i.m.Project
	base, err := openAt(s.cfg.Home, i.path(), true, 0o700)
	if err != nil {
		return err
	}
	defer base.Close()
	lock, err := lockDir(ctx, base)
	if err != nil {
		return fmt.Errorf("lock %s: %w", filepath.Dir(i.File()), err)
	}
	defer lock.Close()
	f, err := i.read(base)
	if err != nil {
		return err
	}
	if err := do(&f); err != nil {
		return err
	}
	f.bound()
	b, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	return (&files{s: s}).put(base, inboxName, append(b, '\n'), 0o600)
}

// bound drops what is too much: of those that wait the oldest that no person has touched, which is counted.
func (f *inboxFile) bound() {
	for _, state := range []ProposalState{ProposalWaits, ProposalLeft, ProposalAccepted, ProposalRefused} {
		n, most := 0, maxDecided
		if state == ProposalWaits {
			most = MaxWaiting
		}
		for _, p := range f.List {
			if p.State == state {
				n++
			}
		}
		for _, touched := range []bool{false, true} {
			f.List = slices.DeleteFunc(f.List, func(p Proposal) bool {
				if n <= most || p.State != state || p.Edited != touched {
					return false
				}
				n--
				if state == ProposalWaits {
					f.Expired++
				}
				return true
			})
		}
	}
	if over := len(f.Refused) - maxRefusals; over > 0 {
		f.Refused = slices.Delete(f.Refused, 0, over)
	}
}

func (f *inboxFile) find(id string) *Proposal {
	for i := range f.List {
		if f.List[i].ID == id {
			return &f.List[i]
		}
	}
	return nil
}

// says is the mark of what a text says, for comparing.
func says(text string) string { return digest([]byte(norm(text)))[:16] }

// checkProposal refuses a text that no proposal can hold.
func checkProposal(text string) error {
	switch {
	case norm(text) == "":
		return refuse("there is nothing to note")
	case len(text) > MaxProposal:
		return refuse("a proposal has at most %d bytes, this one has %d", MaxProposal, len(text))
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return refuse("a proposal must be text")
	}
	return nil
}

package adkgo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
	adk "google.golang.org/adk/v2/session"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/store"
)

// Namespace is that of the app events that hold ADK's events, as JSON.
const Namespace = "adk"

// The labels by which sessions are found. An application's name, a user's and a session's may be any text.
const (
	labelApp, labelUser, labelID = "adk.app", "adk.user", "adk.session"
)

// Options say how a service works.
type Options struct {
	// Fence refuses an event for a session handle that is not as new as the session: somebody else has appended since it
	// was got. The error wraps store.ErrConflict.
	Fence bool
}

// Service implements ADK's session.Service on a home. It is safe for concurrent use.
type Service struct {
	home *perdure.Home
	opt  Options
}

var _ adk.Service = (*Service)(nil)

// New returns a service on a home, which stays the caller's.
func New(home *perdure.Home, opt Options) *Service { return &Service{home, opt} }

// idOf names a session: the three names of ADK may hold anything, an id of Perdure may not.
func idOf(app, user, id string) string {
	h := sha256.New()
	for _, s := range []string{app, user, id} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return "adk-" + hex.EncodeToString(h.Sum(nil)[:16])
}

// Create makes a session; an empty id is a new one.
func (s *Service) Create(ctx context.Context, r *adk.CreateRequest) (*adk.CreateResponse, error) {
	if r.AppName == "" || r.UserID == "" {
		return nil, fmt.Errorf("create session: an application and a user are needed, there are %q and %q", r.AppName, r.UserID)
	}
	id := strings.TrimSpace(r.SessionID)
	if id == "" {
		id = uuid.NewString()
	}
	entries, shared, err := changes(r.AppName, r.UserID, r.State)
	if err != nil {
		return nil, fmt.Errorf("create session %s: %w", id, err)
	}
	_, err = s.home.Create(ctx, perdure.Spec{
		ID: idOf(r.AppName, r.UserID, id), Owner: r.UserID, Title: id, Agent: perdure.Agent{Name: r.AppName},
		Labels: map[string]string{labelApp: r.AppName, labelUser: r.UserID, labelID: id}, Events: entries, Shared: shared,
	})
	if err != nil {
		return nil, fmt.Errorf("create session %s: %w", id, err)
	}
	got, err := s.Get(ctx, &adk.GetRequest{AppName: r.AppName, UserID: r.UserID, SessionID: id})
	if err != nil {
		return nil, err
	}
	return &adk.CreateResponse{Session: got.Session}, nil
}

// Get returns a session with its events, or the newest of them.
func (s *Service) Get(ctx context.Context, r *adk.GetRequest) (*adk.GetResponse, error) {
	if r.AppName == "" || r.UserID == "" || r.SessionID == "" {
		return nil, fmt.Errorf("get session: application, user and session are needed, there are %q, %q and %q", r.AppName, r.UserID, r.SessionID)
	}
	h, err := s.handle(ctx, idOf(r.AppName, r.UserID, r.SessionID))
	if err != nil {
		return nil, fmt.Errorf("get session %s: %w", r.SessionID, err)
	}
	events, err := s.events(ctx, h.key, h.head.Seq, r.NumRecentEvents)
	if err != nil {
		return nil, fmt.Errorf("get session %s: %w", r.SessionID, err)
	}
	if !r.After.IsZero() {
		events = slices.DeleteFunc(events, func(e *adk.Event) bool { return e.Timestamp.Before(r.After) })
	}
	h.events = events
	return &adk.GetResponse{Session: h}, nil
}

// events reads the last n events up to a seq, all if n is 0.
func (s *Service) events(ctx context.Context, key string, to int64, n int) ([]*adk.Event, error) {
	if to == 0 {
		return nil, nil
	}
	var out []*adk.Event
	for ev, err := range s.home.Events(ctx, key, perdure.Range{Through: to, Kinds: []string{"app"}, Reverse: n > 0}) {
		if err != nil {
			return nil, err
		}
		e, err := decode(ev)
		if err != nil {
			return nil, err
		}
		if e != nil {
			out = append(out, e)
		}
		if n > 0 && len(out) == n {
			break
		}
	}
	if n > 0 {
		slices.Reverse(out)
	}
	return out, nil
}

// decode gives ADK's event that an event holds; nil: it holds none.
func decode(ev perdure.Event) (*adk.Event, error) {
	namespace, data, ok := ev.App()
	if !ok || namespace != Namespace {
		return nil, nil
	}
	e := &adk.Event{}
	if err := e.UnmarshalJSON(data); err != nil { // as json.Unmarshal, which would read the bytes once more before
		return nil, fmt.Errorf("event %d: %w", ev.Seq, err)
	}
	return e, nil
}

// handle reads what is known of a session but for its events.
func (s *Service) handle(ctx context.Context, key string) (*handle, error) {
	v, err := s.home.View(ctx, key, false)
	if err != nil {
		return nil, err
	}
	h := &handle{
		key: key, app: v.Labels[labelApp], user: v.Labels[labelUser], id: v.Labels[labelID], head: v.Head,
		updated: int64(v.Updated), state: map[string]any{},
	}
	values := map[string][]byte{}
	for _, scope := range []struct{ name, prefix string }{
		{appScope(h.app), adk.KeyPrefixApp}, {userScope(h.app, h.user), adk.KeyPrefixUser},
	} {
		shared, err := s.home.Shared(ctx, scope.name)
		if err != nil {
			return nil, err
		}
		for k, v := range shared {
			values[scope.prefix+k] = v
		}
	}
	for k, scratch := range v.Scratch {
		if values[k], err = json.Marshal(scratch); err != nil {
			return nil, fmt.Errorf("state %q: %w", k, err)
		}
	}
	for k, v := range values {
		var value any
		if err := json.Unmarshal(v, &value); err != nil {
			return nil, fmt.Errorf("state %q: %w", k, err)
		}
		h.state[k] = value
	}
	return h, nil
}

// List returns the sessions of an application, or of one of its users, without their events.
func (s *Service) List(ctx context.Context, r *adk.ListRequest) (*adk.ListResponse, error) {
	if r.AppName == "" {
		return nil, errors.New("list sessions: an application is needed")
	}
	labels := map[string]string{labelApp: r.AppName}
	if r.UserID != "" {
		labels[labelUser] = r.UserID
	}
	out := &adk.ListResponse{Sessions: []adk.Session{}}
	for l, err := range s.home.List(ctx, store.Query{Labels: labels}) {
		var h adk.Session
		if err == nil {
			h, err = s.handle(ctx, l.ID)
		}
		switch {
		case errors.Is(err, store.ErrNotFound): // deleted meanwhile
		case err != nil:
			return nil, fmt.Errorf("list sessions of %s: %w", r.AppName, err)
		default:
			out.Sessions = append(out.Sessions, h)
		}
	}
	return out, nil
}

// Delete removes a session for good. One that is not there is no error.
func (s *Service) Delete(ctx context.Context, r *adk.DeleteRequest) error {
	if r.AppName == "" || r.UserID == "" || r.SessionID == "" {
		return fmt.Errorf("delete session: application, user and session are needed, there are %q, %q and %q", r.AppName, r.UserID, r.SessionID)
	}
	err := s.home.Delete(ctx, idOf(r.AppName, r.UserID, r.SessionID))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("delete session %s: %w", r.SessionID, err)
	}
	return nil
}

// AppendEvent adds an event and the state that it changes, in one commit, and brings the handle up to it. The same event
// again, by its id, changes nothing more. Partial events are not kept, nor is state with the prefix temp:.
func (s *Service) AppendEvent(ctx context.Context, cur adk.Session, event *adk.Event) error {
	switch {
	case cur == nil:
		return errors.New("append event: there is no session")
	case event == nil:
		return errors.New("append event: there is no event")
	case event.Partial:
		return nil
	}
	if event.ID == "" {
		event.ID = uuid.NewString()
	}
	h, own := cur.(*handle)
	if own {
		h.merge(event.Actions.StateDelta) // temp: is for the invocation
	}
	maps.DeleteFunc(event.Actions.StateDelta, func(k string, _ any) bool { return strings.HasPrefix(k, adk.KeyPrefixTemp) })
	entries, shared, err := changes(cur.AppName(), cur.UserID(), event.Actions.StateDelta)
	if err != nil {
		return fmt.Errorf("append event %s: %w", event.ID, err)
	}
	data, err := json.Marshal(event)
	if err != nil {
		return fmt.Errorf("append event %s: %w", event.ID, err)
	}
	opt := perdure.AppendOptions{Key: "adk." + event.ID, Shared: shared}
	if own && s.opt.Fence {
		head := h.newest()
		opt.Expect = &head
	}
	actor := store.Actor{Type: store.ActorModel, ID: event.Author}
	if event.Author == "user" {
		actor.Type = store.ActorUser
	}
	head, err := s.home.Append(ctx, idOf(cur.AppName(), cur.UserID(), cur.ID()), opt, actor,
		append([]perdure.Entry{perdure.AppEvent(Namespace, data)}, entries...)...)
	if err != nil {
		return fmt.Errorf("append event %s to session %s: %w", event.ID, cur.ID(), err)
	}
	if own {
		h.appended(event, head)
	}
	return nil
}

// changes are what a change of state comes to: of the session's own, and of what is shared.
func changes(app, user string, delta map[string]any) (entries []perdure.Entry, shared []store.Shared, err error) {
	for _, k := range slices.Sorted(maps.Keys(delta)) {
		value, err := json.Marshal(delta[k])
		if err != nil {
			return nil, nil, fmt.Errorf("state %q: %w", k, err)
		}
		switch name, rest := scopeOf(app, user, k); {
		case strings.HasPrefix(k, adk.KeyPrefixTemp):
		case name != "":
			shared = append(shared, store.Shared{Scope: name, Key: rest, Value: value})
		default:
			entries = append(entries, perdure.ScratchEvent(k, value))
		}
	}
	return entries, shared, nil
}

// scopeOf tells in which scope a key of the state is shared, and its name there; "" if it is the session's own.
func scopeOf(app, user, key string) (scope, rest string) {
	if rest, ok := strings.CutPrefix(key, adk.KeyPrefixApp); ok {
		return appScope(app), rest
	}
	if rest, ok := strings.CutPrefix(key, adk.KeyPrefixUser); ok {
		return userScope(app, user), rest
	}
	return "", ""
}

func appScope(app string) string        { return fmt.Sprintf("adk.app.%d.%s", len(app), app) }
func userScope(app, user string) string { return fmt.Sprintf("adk.user.%d.%s.%s", len(app), app, user) }

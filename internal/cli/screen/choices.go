package screen

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/search"
	"github.com/perdure/perdure/internal/ui/chat"
)

// maxFound bounds what a search shows.
const maxFound = 100

// search finds words in all sessions and in what is known beside them. Of what it finds a session can be gone to, and the
// rest be read.
func (l *link) search(ctx context.Context, words string) (chat.Reply, error) {
	found, err := l.home.Search(ctx, homes.SearchOptions{Query: words, Limit: maxFound, InProject: l.cfg.Set.Knowledge.InProject() || l.cfg.Set.Knowledge.Asks()})
	if err != nil {
		return chat.Reply{}, err
	}
	r := chat.Reply{Title: "found: " + plain.Line(words, 60)}
	for _, hit := range found.Hits {
		c := chat.Choice{Line: l.app.Age(hit.Time) + "  " + hit.Kind + "  " + hit.Source.Title, About: hit.Snippet.Text}
		if hit.Text.Title != "" && hit.Text.Title != hit.Source.Title {
			c.Line += ": " + hit.Text.Title
		}
		if hit.Kind == search.Sessions {
			c.Go = &chat.Goal{Session: hit.Name}
			if hit.Name == l.session() {
				c.Line += " (this session: ctrl+f finds it)"
			}
		} else {
			c.Text = hit.Name + "\n\n" + hit.Snippet.Text
		}
		r.Choices = append(r.Choices, c)
	}
	if len(r.Choices) == 0 {
		r.Note = "nothing has these words: " + plain.Line(words, 200)
	}
	return r, nil
}

// models are those that can be chosen: what the settings name, and what is known of their providers.
func (l *link) models(now string) chat.Reply {
	r := chat.Reply{Title: "the model is " + now}
	for _, m := range l.home.Models() {
		c := chat.Choice{Line: m.Name, About: "price unknown", Command: "model", Args: m.Name}
		if m.Name == now {
			c.Line += "  (this one)"
		}
		if p := m.Price; p != nil {
			c.About = fmt.Sprintf("$%g in, $%g out for a million tokens", float64(p.Input)/1000, float64(p.Output)/1000)
		}
		if m.Window > 0 {
			c.About = plain.Grouped(m.Window) + " tokens; " + c.About
		}
		if m.Missing != "" {
			c.About += "; needs " + m.Missing
		}
		r.Choices = append(r.Choices, c)
	}
	if !slices.ContainsFunc(r.Choices, func(c chat.Choice) bool { return c.Args == now }) {
		r.Choices = append(r.Choices, chat.Choice{Line: now + "  (this one)", About: "no price is known", Command: "model", Args: now})
	}
	slices.SortStableFunc(r.Choices, func(a, b chat.Choice) int { // the one that holds is selected first
		return boolOf(b.Args == now) - boolOf(a.Args == now)
	})
	return r
}

func boolOf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Remember adds a line to the memory of the project that the session works in.
func (l *link) Remember(ctx context.Context, fact string) error {
	ctx, cancel := context.WithTimeout(ctx, rememberWithin)
	defer cancel()
	_, err := l.run(ctx, "memory", "add", "--cwd", l.dir, "--", fact)
	return err
}

// rememberWithin bounds how long that may take.
const rememberWithin = 30 * time.Second

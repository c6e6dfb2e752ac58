package notes

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/knowledge"
)

// LearnCommand is perdure learn.
func LearnCommand(a *app.App) *cobra.Command {
	p, all := &place{}, false
	c := &cobra.Command{
		Use: "learn", Short: "What sessions propose to remember: list, show, accept, edit, refuse, from SESSION",
		Long: `Sessions propose what is worth knowing later: lines tagged [DECISION], [GOTCHA], [REUSE] or [CORRECTION] and lasting
facts. Nothing of it is in the memory before you accept it. What a tool, the web or a file said is marked, and accepted
only by its id.`,
		Example: `  perdure learn                          # what waits; --all: also what was left out, and why
  perdure learn show p3                  # as a change of MEMORY.md
  perdure learn accept p3 p4
  perdure learn edit p5 "Use X, because Y"
  perdure learn refuse p6                # it is not proposed again
  perdure learn from SESSION             # look through a session now`,
		Args: app.ExactArgs(0, "no arguments: learn lists; or one of list, show, accept, edit, refuse, from"),
		RunE: func(*cobra.Command, []string) error { return listProposals(a, p, all) },
	}
	list := &cobra.Command{
		Use: "list", Short: "List what waits; --all: also what was left out or decided", Args: app.ExactArgs(0, "no arguments"), Aliases: []string{"ls"},
		RunE: func(*cobra.Command, []string) error { return listProposals(a, p, all) },
	}
	for _, l := range []*cobra.Command{c, list} {
		l.Flags().BoolVar(&all, "all", false, "also what was left out with the reason, and what was decided")
		l.Flags().BoolVar(&p.json, "json", false, "print one JSON object a line")
	}
	c.PersistentFlags().StringVar(&p.cwd, "cwd", "", "the project of `DIR` instead of the current directory")
	c.AddCommand(list, showProposal(a, p), acceptCommand(a, p), editProposal(a, p), refuseCommand(a, p), fromCommand(a))
	return c
}

// inbox is that of the project that was named.
func (p *place) inbox(a *app.App) (knowledge.Inbox, error) {
	m, err := a.Knowledge(p.cwd)
	if err != nil {
		return knowledge.Inbox{}, err
	}
	return m.Inbox(), nil
}

// unknown words an id that names nothing.
func unknown(in knowledge.Inbox, id string, err error) error {
	if !errors.Is(err, knowledge.ErrNoProposal) {
		return refused(err)
	}
	e := &app.ExitError{Code: app.ExitMissing, Text: "no proposal " + display.Quote(id), Hint: "perdure learn lists what waits"}
	if all, err := in.List(); err == nil && len(all.List) == 0 {
		e.Hint = "nothing is proposed here"
	}
	return e
}

func listProposals(a *app.App, p *place, all bool) error {
	in, err := p.inbox(a)
	if err != nil {
		return err
	}
	held, err := in.List()
	if err != nil {
		return err
	}
	shown, left, foreign := 0, 0, 0
	for _, one := range held.List {
		switch {
		case one.State == knowledge.ProposalLeft && !all:
			left++
			continue
		case one.State != knowledge.ProposalWaits && !all:
			continue
		}
		shown++
		if one.State == knowledge.ProposalWaits && !one.Trusted() {
			foreign++
		}
		if p.json {
			if err := a.JSON(one); err != nil {
				return err
			}
			continue
		}
		printProposal(a, one)
	}
	if p.json {
		return nil
	}
	if shown == 0 {
		a.Note("nothing waits here")
	}
	if foreign > 0 {
		a.Note("%d of them only repeat what a tool or another text said: perdure learn accept takes those by their ids alone", foreign)
	}
	if left > 0 {
		a.Note("%s left out: perdure learn list --all says why", display.Count(int64(left), "finding"))
	}
	if held.Expired > 0 {
		a.Note("%d are gone that nobody looked at: at most %d wait", held.Expired, knowledge.MaxWaiting)
	}
	return nil
}

// printProposal shows one as it waits: what it says stands behind a bar, whatever it is.
func printProposal(a *app.App, one knowledge.Proposal) {
	head := one.ID
	for _, w := range []string{one.Tag, sourceWords(one), stateWords(one)} {
		if w != "" {
			head += "  " + w
		}
	}
	say(a, "%s", head)
	for line := range strings.Lines(one.Body()) {
		say(a, "  | %s", display.Visible(strings.TrimRight(line, "\n")))
	}
}

// sourceWords says who is behind a proposal.
func sourceWords(one knowledge.Proposal) string {
	words := map[knowledge.Source]string{
		knowledge.SourceUser: "yours", knowledge.SourceModel: "by the model", knowledge.SourceTool: "UNCHECKED: repeats what a tool or a file said",
		knowledge.SourceImport: "UNCHECKED: from elsewhere",
	}[one.Source]
	if one.Session != "" {
		words += ", session " + one.Session
		if one.Seq > 0 {
			words += fmt.Sprintf(" event %d", one.Seq)
		}
	}
	if one.Scope == "user" {
		words += ", for your own memory"
	}
	return words
}

func stateWords(one knowledge.Proposal) string {
	switch one.State {
	case knowledge.ProposalLeft:
		return "left out: " + one.Why
	case knowledge.ProposalAccepted:
		return "accepted as " + one.Key
	case knowledge.ProposalRefused:
		return "refused"
	case knowledge.ProposalWaits:
	}
	return ""
}

func showProposal(a *app.App, p *place) *cobra.Command {
	c := &cobra.Command{
		Use: "show ID", Short: "Show a proposal as a change of MEMORY.md", Args: app.ExactArgs(1, "the id of a proposal"),
		RunE: func(_ *cobra.Command, args []string) error {
			in, err := p.inbox(a)
			if err != nil {
				return err
			}
			one, err := in.Get(args[0])
			switch {
			case err != nil:
				return unknown(in, args[0], err)
			case p.json:
				return a.JSON(one)
			}
			printProposal(a, one)
			before, after, e, err := in.Preview(one)
			if err != nil {
				return refused(err)
			}
			say(a, "")
			for _, line := range diff("MEMORY.md", before, after) {
				say(a, "%s", display.Visible(line))
			}
			for _, line := range diff(e.File, "", "# "+e.Key+"\n\n"+one.Body()+"\n") {
				say(a, "%s", display.Visible(line))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&p.json, "json", false, "print a JSON object")
	return c
}

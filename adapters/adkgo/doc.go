// Package adkgo keeps the sessions of agents that are built with ADK for Go (google.golang.org/adk) in Perdure: it
// implements session.Service. What AppendEvent has acknowledged is durable, whoever is killed; the event and the state that
// it changes are one commit; several processes may use one home.
//
//	home, err := perdure.Open(ctx, dir, perdure.Config{})
//	service := adkgo.New(home, adkgo.Options{})
//
// An ADK session is one Perdure session: its events are app events of the namespace [Namespace], its state is scratch
// state, and so `perdure list`, show, log, verify and fork work on it. State with the prefixes app: and user: is shared by
// the sessions of an application and of a user, as ADK has it; state with temp: is not kept.
package adkgo

// Package providertest is the contract of [modelapi.Provider] as code. An implementation runs it from a test of its own:
//
//	providertest.Run(t, providertest.Peer{Model: "some-model", Start: func(t *testing.T, replies []providertest.Reply) (modelapi.Provider, func() [][]byte) { … }})
//
// What the implementation hands in is a [Peer]: the other side of its API, played in the test, usually by an HTTP server
// on loopback. The suite says what is replied, in words that every API has; the peer puts them into the API's own.
package providertest

import (
	"testing"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// Reply is what the API answers one call with. The zero value is a reply without blocks.
type Reply struct {
	// Blocks are text, thinking and calls of tools, by Type, Text and Tool. A call's Input is sent byte for byte, and need
	// be no whole JSON; one with an empty ID is sent without an id, two may have the same. Raw is empty: what the API sends
	// for a block is the peer's affair.
	Blocks []model.Block
	Stop   modelapi.StopReason // end_turn, tool_use or max_tokens
	Usage  model.Usage
	Status int  // of HTTP, from 400 on: a failure in place of the reply
	Break  bool // the connection ends in the middle of the last block
	Stall  bool // nothing comes until the caller gives up
}

// Peer is the other side of an API.
type Peer struct {
	// Start gives a provider that speaks to a new other side, which answers its calls by the replies in their order and all
	// further ones by the last; and a function that gives the bodies of the requests that came, in their order. What it
	// starts ends with the test.
	Start func(t *testing.T, replies []Reply) (p modelapi.Provider, sent func() [][]byte)
	// Model is the name of a model that it knows.
	Model string
	// NoThinking says that the API has no thinking: replies of it are left out.
	NoThinking bool
	// NoMissingIDs says that the API cannot leave out the id of a call, nor send one twice.
	NoMissingIDs bool
}

// Run runs the whole suite.
func Run(t *testing.T, peer Peer) {
	for _, tt := range []struct {
		name string
		run  func(t *testing.T, peer Peer)
	}{
		{"a reply comes whole", whole},
		{"calls are as the model wrote them", calls},
		{"a reply goes back as it came", back},
		{"the same request is the same bytes", sameBytes},
		{"the prefix is that of what is sent", prefix},
		{"a request is not changed", unchanged},
		{"replies of others are told by their thin view", foreign},
		{"a call that was cut off is none", cutOff},
		{"ids are made where they are missing", missingIDs},
		{"failures have their class", failures},
		{"a call is made once", once},
		{"a reply that breaks off is a failure", breaks},
		{"a call ends with its context", ends},
		{"many calls at once", atOnce},
		{"results may hold images and errors", results},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, peer) })
	}
}

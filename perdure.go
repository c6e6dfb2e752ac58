// Package perdure is a stop-gap: aliases of what moved.
package perdure

import (
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/view"
)

// All of it.
type (
	Home          = homes.Home
	Config        = homes.Config
	Spec          = homes.Spec
	RunOptions    = homes.RunOptions
	HoldOptions   = homes.HoldOptions
	AppendOptions = homes.AppendOptions
	Listing       = view.Listing
	Waiting       = view.Waiting
	Approval      = homes.Approval
	Session       = homes.Session
	Update        = homes.Update
)

// All of it.
var (
	Open           = homes.Open
	RunShimIfAsked = homes.RunShimIfAsked
	AppEvent       = homes.AppEvent
	Text           = homes.Text
	User           = homes.User
)

package homes

import (
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/view"
)

// failureView is the failure of the open turn, or nil.
func failureView(st *session.State) *view.Failure {
	f := st.Failure()
	if f == nil {
		return nil
	}
	return &view.Failure{
		Model: st.Agent.Provider + "/" + st.Agent.Model, Class: f.Class, Status: f.Status, Message: f.Message,
		Since: view.Stamp(f.Since), Tries: f.Tries, Rests: f.Rests, RetryAt: view.Stamp(f.RetryAt), Remedy: remedy(f, st.Agent),
	}
}

// keyVariables are where the providers' keys come from.
var keyVariables = map[string]string{"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}

// addressVariables are where the providers' addresses come from.
var addressVariables = map[string]string{
	"anthropic": "ANTHROPIC_BASE_URL", "openai": "OPENAI_BASE_URL", "ollama": "OLLAMA_HOST",
}

// remedy says what helps against a failure, apart from waiting.
func remedy(f *session.Failure, a session.Agent) string {
	key, address := keyVariables[a.Provider], addressVariables[a.Provider]
	switch modelapi.Class(f.Class) {
	case modelapi.ClassAuth:
		switch {
		case f.Status == 402 || f.Status == 429:
			return "the account behind the key has no credit left"
		case key != "":
			return "check the key in " + key + ", and what it may use"
		}
		return "the server refuses these credentials"
	case modelapi.ClassNotFound:
		if address != "" {
			return "check the model's name, " + a.Model + ", and the address in " + address
		}
		return "check the model's name, " + a.Model
	case modelapi.ClassContext:
		return "the conversation is larger than the model's window"
	case modelapi.ClassInvalid:
		return "the API refuses this request as it is"
	case modelapi.ClassUnreached, modelapi.ClassTimeout, modelapi.ClassDisconnect:
		if address != "" {
			return "check the network, and the address in " + address + " if it is set"
		}
		return "check the network"
	case modelapi.ClassRateLimit:
		return "the API asks for fewer requests"
	case modelapi.ClassServer:
		return "the API has a fault of its own, or is overloaded"
	case modelapi.ClassProtocol:
		return "what answered does not speak this API"
	}
	return ""
}

// Package modeltest is a strict model server for tests: it plays a script over
// the Anthropic Messages API and over the OpenAI-compatible Chat Completions
// API, and refuses every request that a real provider would refuse for good.
//
// # The model
//
// A conversation is known by its first user message, which a test makes unique;
// no header and no cookie names it, so a client that was killed is recognised
// by its bytes alone. Inside a conversation a step is the number of assistant
// messages in the history. The answer to a request is a function of that history
// (Script, or Config.Respond) and never of how often it was asked: a client that
// crashed and asks again gets the same blocks, ids and signature. Only faults
// depend on the attempt: Step.Faults[i] strikes attempt i+1.
//
// An answer is sealed once its last frame (message_stop, or the chunk with the
// finish reason) is handed to the network. What was not sealed must never come
// back in a history.
//
// # The rules
//
// A violated rule answers 400 in the API's envelope, with the rule's name in the
// message and in the header X-Modeltest-Rule, and is kept in Server.Violations.
// Rules() lists them all, each with its sentence. They fall into three groups:
//
//   - shape: version header, required and unknown fields, roles, first message
//     user, no empty text, tool definitions, at most 4 cache markers;
//   - pairing: each tool call is answered exactly once, in the very next user
//     message (Anthropic, results first) or by tool messages before any other
//     role (OpenAI); ids are unique in the history;
//   - history: system, tools and each message before a sealed answer are
//     byte-identical to the request which that answer was made for, cache markers
//     aside; each assistant message is what was sent, thinking and signatures
//     verbatim and in order, tool input byte for byte; and once a client has
//     sent it back in some spelling, that spelling never changes.
//
// Blocks are compared by meaning for key order and string escapes, because a
// client assembles them from a stream; tool input is compared byte by byte. Two
// liberties are the providers' own: thinking may be dropped after a change of
// model, and blocks that the API refuses to see again (blank text, a tool call
// cut by max_tokens) must be left out.
//
// # The caller's duties
//
// Start a Server in the test's process, or spawn one (Spawn, with
// ServeIfAsked first in TestMain) so that it outlives killed clients. Make the
// first user message of each conversation unique. After the run assert on
// Report: no violations, Usage equal to the session's, ChangedRetries zero,
// Sealed equal to the steps expected. Respond must be a pure function of its
// argument. Close the Server; Close waits for its handlers and may be called
// twice.
//
// The server mimics the wire format and the refusals; it does not count real
// tokens, cache prompts or check that a model's answer makes sense. A
// compaction that rewrites the history is refused, as it changes the prefix.
package modeltest

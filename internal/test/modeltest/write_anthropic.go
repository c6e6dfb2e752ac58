package modeltest

import (
	"fmt"
	"strconv"
)

// A frame is one server-sent event as it goes over the wire.
type frame struct {
	bytes []byte
	opens bool // from here on the call is billed
	seals bool // from here on a client may keep the answer
	ends  bool // nothing follows
}

func event(name, format string, args ...any) frame {
	return frame{bytes: fmt.Appendf(nil, "event: "+name+"\ndata: "+format+"\n\n", args...)}
}

// anthropicFrames spells an answer as the stream of the Messages API, with what
// real streams hold besides: a ping, a comment, an empty first fragment.
func anthropicFrames(id string, r *ParsedRequest, a answer) []frame {
	start := event("message_start", `{"type":"message_start","message":%s}`,
		anthropicMessage(id, r.Model, answer{usage: Usage{
			Input: a.usage.Input, Output: 1, CacheRead: a.usage.CacheRead, CacheWrite: a.usage.CacheWrite,
		}}))
	start.opens = true
	out := []frame{start, event("ping", `{"type": "ping"}`), {bytes: []byte(": keep-alive\n\n")}}
	for i, b := range a.blocks {
		out = append(out, anthropicBlock(i, b)...)
	}
	out = append(out, event("message_delta",
		`{"type":"message_delta","delta":{"stop_reason":%s,"stop_sequence":null},"usage":{"output_tokens":%d}}`,
		quote(a.stop), a.usage.Output))
	stop := event("message_stop", `{"type":"message_stop"}`)
	stop.seals, stop.ends = true, true
	return append(out, stop)
}

func anthropicBlock(i int, b sentBlock) []frame {
	begin := func(content string) frame {
		return event("content_block_start", `{"type":"content_block_start","index":%d,"content_block":%s}`, i, content)
	}
	delta := func(content string) frame {
		return event("content_block_delta", `{"type":"content_block_delta","index":%d,"delta":%s}`, i, content)
	}
	var out []frame
	switch b.Type {
	case "text":
		out = append(out, begin(`{"type":"text","text":""}`))
		for _, f := range fragments(b.Text) {
			out = append(out, delta(`{"type":"text_delta","text":`+string(quote(f))+`}`))
		}
	case "thinking":
		out = append(out, begin(`{"type":"thinking","thinking":"","signature":""}`))
		for _, f := range fragments(b.Text) {
			out = append(out, delta(`{"type":"thinking_delta","thinking":`+string(quote(f))+`}`))
		}
		out = append(out, delta(`{"type":"signature_delta","signature":`+string(quote(b.Signature))+`}`))
	case "tool_use":
		out = append(out, begin(`{"type":"tool_use","id":`+string(quote(b.ID))+`,"name":`+string(quote(b.Name))+`,"input":{}}`))
		pieces := fragments(string(b.Input))
		if string(b.Input) == "{}" {
			pieces = nil // a call without input has one empty fragment
		}
		for _, f := range append([]string{""}, pieces...) {
			out = append(out, delta(`{"type":"input_json_delta","partial_json":`+string(quote(f))+`}`))
		}
	default:
		out = append(out, begin(string(b.Raw)))
	}
	return append(out, event("content_block_stop", `{"type":"content_block_stop","index":%d}`, i))
}

// anthropicMessage spells an answer as one message object. An answer without
// stop reason is the one of message_start.
func anthropicMessage(id, model string, a answer) []byte {
	out := append([]byte(`{"id":`), quote(id)...)
	out = append(append(out, `,"type":"message","role":"assistant","model":`...), quote(model)...)
	out = append(out, `,"content":[`...)
	for i, b := range a.blocks {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, b.Raw...)
	}
	out = append(out, `],"stop_reason":`...)
	if a.stop == "" {
		out = append(out, "null"...)
	} else {
		out = append(out, quote(a.stop)...)
	}
	return fmt.Appendf(out, `,"stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":%d,`+
		`"cache_read_input_tokens":%d,"output_tokens":%d}}`,
		a.usage.Input, a.usage.CacheWrite, a.usage.CacheRead, a.usage.Output)
}

// anthropicError is the API's error envelope.
func anthropicError(status int, message, requestID string) []byte {
	types := map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
		404: "not_found_error", 408: "timeout_error", 409: "conflict_error", 413: "request_too_large",
		429: "rate_limit_error", 529: "overloaded_error",
	}
	typ, ok := types[status]
	if !ok {
		typ = "api_error"
	}
	return []byte(`{"type":"error","error":{"type":"` + typ + `","message":` + string(quote(message)) +
		`},"request_id":` + strconv.Quote(requestID) + `}`)
}

package modeltest

import "fmt"

// openaiFrames spells an answer as the stream of the Chat Completions API. The
// fragments of parallel calls alternate, which their index allows.
func openaiFrames(id string, r *ParsedRequest, a answer) []frame {
	chunk := func(choices, usage string) frame {
		return frame{bytes: fmt.Appendf(nil, `data: {"id":%s,"object":"chat.completion.chunk","created":1,"model":%s,"choices":[%s]%s}`+"\n\n",
			quote(id), quote(r.Model), choices, usage)}
	}
	noUsage := ""
	if r.call.includeUsage {
		noUsage = `,"usage":null`
	}
	delta := func(d string) frame {
		return chunk(`{"index":0,"delta":`+d+`,"finish_reason":null}`, noUsage)
	}
	first := delta(`{"role":"assistant","content":""}`)
	first.opens = true
	out := []frame{first, {bytes: []byte(": keep-alive\n\n")}}
	var calls [][]frame
	for _, b := range a.blocks {
		switch b.Type {
		case "thinking":
			for _, f := range fragments(b.Text) {
				out = append(out, delta(`{"reasoning_content":`+string(quote(f))+`}`))
			}
		case "text":
			for _, f := range fragments(b.Text) {
				out = append(out, delta(`{"content":`+string(quote(f))+`}`))
			}
		case "tool_use":
			calls = append(calls, openaiCall(len(calls), b, delta))
		}
	}
	for more := true; more; {
		more = false
		for i, c := range calls {
			if len(c) > 0 {
				out, calls[i], more = append(out, c[0]), c[1:], true
			}
		}
	}
	finish := chunk(`{"index":0,"delta":{},"finish_reason":`+string(quote(finishReason(a.stop)))+`}`, noUsage)
	finish.seals = true
	out = append(out, finish)
	if r.call.includeUsage {
		out = append(out, chunk("", `,"usage":`+openaiUsage(a.usage)))
	}
	return append(out, frame{bytes: []byte("data: [DONE]\n\n"), ends: true})
}

func openaiCall(i int, b sentBlock, delta func(string) frame) []frame {
	out := []frame{delta(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]}`,
		i, quote(b.ID), quote(b.Name)))}
	for _, f := range fragments(string(b.Input)) {
		out = append(out, delta(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, quote(f))))
	}
	return out
}

// openaiCompletion spells an answer as one completion object.
func openaiCompletion(id, model string, a answer) []byte {
	content, reasoning, calls := "null", "", ""
	for _, b := range a.blocks {
		switch b.Type {
		case "thinking":
			reasoning = `,"reasoning_content":` + string(quote(b.Text))
		case "text":
			content = string(quote(b.Text))
		case "tool_use":
			if calls != "" {
				calls += ","
			}
			calls += fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`,
				quote(b.ID), quote(b.Name), quote(string(b.Input)))
		}
	}
	if calls != "" {
		calls = `,"tool_calls":[` + calls + `]`
	}
	return fmt.Appendf(nil, `{"id":%s,"object":"chat.completion","created":1,"model":%s,"choices":[{"index":0,`+
		`"message":{"role":"assistant","content":%s%s%s},"finish_reason":%s}],"usage":%s}`,
		quote(id), quote(model), content, reasoning, calls, quote(finishReason(a.stop)), openaiUsage(a.usage))
}

// openaiUsage counts cached tokens inside the prompt, as the API does.
func openaiUsage(u Usage) string {
	u = wireUsage(OpenAI, u)
	prompt := u.Input + u.CacheRead
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,`+
		`"prompt_tokens_details":{"cached_tokens":%d},"completion_tokens_details":{"reasoning_tokens":0}}`,
		prompt, u.Output, prompt+u.Output, u.CacheRead)
}

func finishReason(stop string) string {
	switch stop {
	case "tool_use":
		return "tool_calls"
	case "max_tokens", "model_context_window_exceeded":
		return "length"
	case "refusal":
		return "content_filter"
	}
	return "stop"
}

// openaiError is the API's error envelope.
func openaiError(status int, message, code string) []byte {
	typ := "invalid_request_error"
	switch {
	case status == 429:
		typ = "rate_limit_error"
	case status >= 500:
		typ = "server_error"
	}
	return fmt.Appendf(nil, `{"error":{"message":%s,"type":%s,"param":null,"code":%s}}`, quote(message), quote(typ), quote(code))
}

package modeltest

// checkPairing checks that tool calls and results stand in pairs. Both APIs want
// each call answered at once; they differ in where results stand: in the blocks
// of one user message, or each in a message of its own.
func checkPairing(r *ParsedRequest) *refusal {
	ids := map[string]bool{}
	open := map[string]bool{} // calls of the newest assistant message; true once answered
	for i, m := range r.Messages {
		if bad := closeCalls(r.API, i, m, open); bad != nil {
			return bad
		}
		if m.Role == "assistant" || (r.API == Anthropic && m.Role == "user") {
			clear(open)
		}
		for _, b := range m.Blocks {
			if b.Type != "tool_use" {
				continue
			}
			if ids[b.ID] {
				return refuse(RuleToolIDUnique, "messages.%d: tool call ids must be unique: %s", i, b.ID)
			}
			ids[b.ID] = true
			open[b.ID] = false
		}
	}
	for id, answered := range open {
		if !answered {
			return refuse(RuleToolResultMissing, "the history ends with tool call %s open", id)
		}
	}
	return nil
}

// closeCalls marks in open the calls that message m answers, and refuses what it
// may not do while calls are open.
func closeCalls(api string, i int, m Message, open map[string]bool) *refusal {
	results, others := 0, 0
	for _, b := range m.Blocks {
		if b.Type != "tool_result" {
			others++
			continue
		}
		if others > 0 {
			return refuse(RuleToolResultFirst, "messages.%d: tool_result blocks must come first", i)
		}
		results++
		answered, known := open[b.ID]
		switch {
		case !known:
			return refuse(RuleToolResultOrphan, "messages.%d: unexpected tool result for %q, the message before has no such call", i, b.ID)
		case answered:
			return refuse(RuleToolResultDuplicate, "messages.%d: second result for %q", i, b.ID)
		}
		open[b.ID] = true
	}
	if api == OpenAI && m.Role == "tool" {
		return nil // more tool messages may follow
	}
	for id, answered := range open {
		if !answered {
			return refuse(RuleToolResultMissing, "messages.%d: tool call %s has no result immediately after (%d results here)", i, id, results)
		}
	}
	return nil
}

// checkPrefill refuses a history that ends with the assistant. Only the history
// knows whether the provider itself paused there.
func checkPrefill(r *ParsedRequest, paused bool) *refusal {
	if r.Last().Role == "assistant" && !paused {
		return refuse(RulePrefill, "the conversation must end with a user message")
	}
	return nil
}

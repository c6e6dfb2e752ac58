package modeltest

import (
	"context"
	"net/http"
	"strconv"
)

// A player writes one answer, with the fault that strikes this attempt.
type player struct {
	s     *Server
	w     http.ResponseWriter
	ctx   context.Context // the request's: done when the client is gone
	r     *ParsedRequest
	v     *variant
	fault Fault
	id    string

	inFlight bool // counted in v.inFlight
}

// play answers. It panics with http.ErrAbortHandler to cut the connection.
func (p *player) play() {
	if p.fault.After == 0 && !p.before() {
		return
	}
	defer p.finish()
	if !p.r.call.stream {
		p.whole()
		return
	}
	var frames []frame
	if p.r.API == Anthropic {
		frames = anthropicFrames(p.id, p.r, p.v.answer)
	} else {
		frames = openaiFrames(p.id, p.r, p.v.answer)
	}
	h := p.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	for i, f := range frames {
		if i == p.fault.After && i > 0 && !p.mid() {
			return
		}
		if p.ctx.Err() != nil || !p.write(f) {
			return
		}
	}
	if p.fault.After >= len(frames) {
		p.mid()
	}
}

// before lets the faults strike that come before any header, and reports whether
// the answer follows.
func (p *player) before() bool {
	switch p.fault.Kind {
	case FaultStatus:
		for k, v := range p.fault.Headers {
			p.w.Header().Set(k, v)
		}
		p.s.writeError(p.w, p.r.API, p.fault.Status, "scripted fault: status "+strconv.Itoa(p.fault.Status), "", p.id)
		return false
	case FaultDisconnect:
		panic(http.ErrAbortHandler)
	case FaultTruncate:
		p.w.WriteHeader(http.StatusOK) // an empty body
		return false
	case FaultStall:
		return p.stall()
	case FaultMalformed, FaultErrorEvent:
		return p.mid()
	}
	return true
}

// mid lets the faults strike that come between two frames.
func (p *player) mid() bool {
	if p.w.Header().Get("Content-Type") == "" {
		p.w.Header().Set("Content-Type", "text/event-stream")
	}
	switch p.fault.Kind {
	case FaultDisconnect:
		panic(http.ErrAbortHandler)
	case FaultTruncate:
		return false
	case FaultStall:
		return p.stall()
	case FaultMalformed:
		p.send([]byte("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"ind\n\ndata: }{\n\n"))
		return false
	case FaultErrorEvent:
		body := anthropicError(529, "Overloaded", p.id)
		if p.r.API == OpenAI {
			body = openaiError(529, "overloaded", "overloaded")
		}
		p.send([]byte("event: error\ndata: " + string(body) + "\n\n"))
		return false
	}
	return true
}

// stall waits for the release. When the client is gone or the server closes
// first, the connection is cut: a clean end would look like FaultTruncate.
func (p *player) stall() bool {
	name := p.fault.Name
	if name == "" {
		name = p.r.Key + "/" + strconv.Itoa(p.r.Step)
	}
	if !p.s.stalls.hold(p.ctx, name) {
		panic(http.ErrAbortHandler)
	}
	return true
}

// write sends a frame and counts what it means. The seal is counted before its
// bytes leave: the client's next request may arrive before this goroutine runs
// again. What could not be written is taken back.
func (p *player) write(f frame) bool {
	sealed := false // whether it is this write that made the answer sealable
	p.count(func(v *variant) {
		if f.opens {
			v.started++
			v.inFlight++
			p.inFlight = true
		}
		if f.seals && !v.sealable {
			v.sealable, sealed = true, true
		}
		if f.ends {
			v.completed++
			v.inFlight--
			p.inFlight = false
		}
	})
	if p.send(f.bytes) {
		return true
	}
	p.count(func(v *variant) {
		if f.ends {
			v.completed--
		}
		if sealed {
			v.sealable = false
		}
	})
	return false
}

// finish ends the count of a call that broke off.
func (p *player) finish() {
	p.count(func(v *variant) {
		if p.inFlight {
			v.inFlight--
			p.inFlight = false
		}
	})
}

// send writes and flushes, in small pieces when the fault is a drip.
func (p *player) send(b []byte) bool {
	piece := len(b)
	if p.fault.Kind == FaultDrip {
		piece = 7
	}
	rc := http.NewResponseController(p.w)
	for len(b) > 0 {
		n := min(piece, len(b))
		if _, err := p.w.Write(b[:n]); err != nil {
			return false
		}
		if rc.Flush() != nil {
			return false
		}
		b = b[n:]
		if len(b) > 0 && p.s.sleep(p.ctx, p.fault.delay()) != nil {
			return false
		}
	}
	return true
}

// whole answers without streaming. A fault after n frames becomes one in the
// middle of the body.
func (p *player) whole() {
	body := openaiCompletion(p.id, p.r.Model, p.v.answer)
	if p.r.API == Anthropic {
		body = anthropicMessage(p.id, p.r.Model, p.v.answer)
	}
	h := p.w.Header()
	h.Set("Content-Type", "application/json")
	half := len(body) / 2
	if p.fault.After == 0 || p.fault.Kind == FaultNone || p.fault.Kind == FaultDrip {
		half = 0
	}
	// A declared length lets the client see that a body is cut.
	if p.fault.Kind != FaultMalformed && p.fault.Kind != FaultTruncate && p.fault.Kind != FaultErrorEvent {
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	if half > 0 {
		if !p.write(frame{bytes: body[:half], opens: true}) || !p.mid() {
			return
		}
	}
	p.write(frame{bytes: body[half:], opens: half == 0, seals: true, ends: true})
}

func (p *player) count(f func(*variant)) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	f(p.v)
}

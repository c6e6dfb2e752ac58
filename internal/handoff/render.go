package handoff

// The headings of a document, in their order.
const (
	headTitle     = "# Session Handoff"
	headGoal      = "## Goal"
	headDone      = "## Done"
	headNot       = "## NOT Working (and why)"
	headFailed    = "## Failed Approaches (DO NOT retry)"
	headDecisions = "## Key Decisions"
	headNext      = "## Next Step"
	headState     = "## State"
)

// What stands in a section that has nothing in it.
const (
	noGoal  = "No goal was written down."
	noNext  = "No next step was written down."
	noItems = "Nothing was written down."
)

// Bounds of a document's parts.
const (
	maxNaming = 160  // bytes that are kept free for the names of other handoffs
	maxFailed = 1500 // failed approaches, and lines of other lists
	maxItems  = 200
	leastText = 240 // bytes of the goal and of the next step that stay
)

// Render writes a document: at most [MaxBytes], always with its six sections. What does not fit is left out by rule, and
// how many items that are is said: long items are cut first, then items of the longest list go, the least important first.
// Failed approaches go last of all: as long as they fit with as little as may be of the rest, each is there in full.
// Other is left out.
func Render(d Document) []byte {
	p := pages{header: header(d), parts: partsOf(d)}
	for _, limit := range []int{1000, 400, 200} {
		p.limit(limit)
		if p.fits() {
			break
		}
	}
	for !p.fits() && p.shrink() {
	}
	p.shrinkFailed()
	return signed(p.text())
}

// pages are a document while it is made to fit.
type pages struct {
	header string
	parts  []*part
}

func (p *pages) text() string {
	out := p.header
	for _, part := range p.parts {
		out += part.text()
	}
	return out
}

func (p *pages) over() int {
	n := len(p.header) + digestLength + maxNaming - MaxBytes
	for _, part := range p.parts {
		n += part.size()
	}
	return n
}

func (p *pages) fits() bool { return p.over() <= 0 }

// limit cuts items to so many bytes. Paths and failed approaches stay whole.
func (p *pages) limit(n int) {
	for _, part := range p.parts {
		if part.failed || part.paths {
			continue
		}
		most := n
		if part.prose {
			most = max(n, 400)
		}
		for i, item := range part.items {
			part.items[i] = cut(item, most)
		}
	}
}

// shrink makes the longest part shorter by its least important item; false: there is nothing left to take.
func (p *pages) shrink() bool {
	var longest *part
	size := 0
	for _, part := range p.parts {
		n := 0
		for _, item := range part.items {
			n += len(item) + 2
		}
		if part.prose && n <= leastText+2 || part.failed {
			continue
		}
		if n > size {
			longest, size = part, n
		}
	}
	if longest == nil {
		return false
	}
	longest.drop()
	return true
}

// drop takes an item out; of prose, half.
func (p *part) drop() {
	last := len(p.items) - 1
	switch {
	case p.prose:
		p.items[0] = cut(p.items[0], max(leastText, len(p.items[0])/2))
	case p.last:
		p.items, p.left = p.items[1:], p.left+1
	default:
		p.items, p.left = p.items[:last], p.left+1
	}
}

// shrinkFailed takes failed approaches out, the oldest first, when they do not even fit alone. The newest is cut.
func (p *pages) shrinkFailed() {
	for _, part := range p.parts {
		if !part.failed {
			continue
		}
		for len(part.items) > 1 && !p.fits() {
			part.drop()
		}
		if over := p.over(); over > 0 && len(part.items) == 1 {
			part.items[0] = cut(part.items[0], max(len(part.items[0])-over, 0))
		}
	}
}

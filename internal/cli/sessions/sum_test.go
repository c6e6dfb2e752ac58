package sessions

import "testing"

// An unknown price makes a sum unknown, in JSON null.
func TestUsageOfUnknownPrice(t *testing.T) {
	if got := addCost(new(float64), nil); got != nil {
		t.Errorf("sum %v", *got)
	}
}

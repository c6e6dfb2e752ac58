package ports

import "testing"

// BenchmarkTake is what a command's start pays: reading the reservation, and looking at ten ports.
func BenchmarkTake(b *testing.B) {
	tab := Table{Dir: b.TempDir()}
	for b.Loop() {
		if _, err := tab.Take("s", true); err != nil {
			b.Fatal(err)
		}
	}
}

package store

import (
	"regexp"
	"testing"
)

func TestIdsAreEightHexDigitsAndDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := NewID()
		if !regexp.MustCompile(`^[0-9a-f]{8}$`).MatchString(id) {
			t.Fatal(id)
		}
		seen[id] = true
	}
	if len(seen) < 999 {
		t.Errorf("only %d of 1000 differ", len(seen))
	}
}

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

func TestASessionIDIsARandomUUID(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := NewUUID()
		if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) || seen[id] {
			t.Fatal(id)
		}
		seen[id] = true
	}
}

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
	seen, digits := map[string]bool{}, map[int]map[rune]bool{}
	for range 1000 {
		id := NewUUID()
		for at, digit := range id {
			if digits[at] == nil {
				digits[at] = map[rune]bool{}
			}
			digits[at][digit] = true
		}
		if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) || seen[id] {
			t.Fatal(id)
		}
		seen[id] = true
	}
	for at, got := range digits {
		want := 16
		switch at {
		case 8, 13, 14, 18, 23: // the hyphens and the version
			want = 1
		case 19: // the variant
			want = 4
		}
		if len(got) != want {
			t.Errorf("%d different digits at %d, want %d", len(got), at, want)
		}
	}
}

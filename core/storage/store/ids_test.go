package store

import (
	"regexp"
	"testing"
)

func TestIDsHaveTheirFormDifferAndUseEveryDigit(t *testing.T) {
	for name, c := range map[string]struct {
		make    func() string
		form    string
		same    int         // of a thousand may be the same
		choices map[int]int // digits at a place, where that is not 16
	}{
		"an ID": {NewID, `^[0-9a-f]{8}$`, 1, nil},
		"a random UUID, for a session": {
			NewUUID, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, 0,
			map[int]int{8: 1, 13: 1, 14: 1, 18: 1, 23: 1, 19: 4}, // the hyphens, the version, the variant
		},
	} {
		form, seen, digits := regexp.MustCompile(c.form), map[string]bool{}, map[int]map[rune]bool{}
		for range 1000 {
			id := c.make()
			if !form.MatchString(id) {
				t.Fatalf("%s: %s", name, id)
			}
			seen[id] = true
			for at, digit := range id {
				if digits[at] == nil {
					digits[at] = map[rune]bool{}
				}
				digits[at][digit] = true
			}
		}
		if len(seen) < 1000-c.same {
			t.Errorf("%s: only %d of 1000 differ", name, len(seen))
		}
		for at, got := range digits {
			if want, fixed := c.choices[at]; len(got) != want && (fixed || len(got) != 16) {
				t.Errorf("%s: %d different digits at %d", name, len(got), at)
			}
		}
	}
}

package schedule

import (
	"strings"
	"testing"
)

// S21: the cut at sixty characters split a family.
func TestTheBeginningOfAPromptSplitsNoCharacter(t *testing.T) {
	const family = "👨\u200d👩\u200d👧"
	for lead, want := range map[int]string{55: family, 56: "", 57: "", 58: "", 59: "", 60: ""} {
		text := strings.Repeat("x", lead) + family + strings.Repeat("y", 30)
		if got := beginning(text); got != strings.Repeat("x", lead)+want+"..." {
			t.Errorf("after %d characters it is %q", lead, got)
		}
	}
}

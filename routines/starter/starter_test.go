package starter_test

import (
	"strings"
	"testing"

	"ollimbot/routines"
	"ollimbot/routines/starter"
)

func TestEveryStarterRoutineIsInOrder(t *testing.T) {
	files, err := starter.Files()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, f := range files {
		if !strings.HasPrefix(f.Path, "routines/") {
			continue
		}
		r, problems := routines.ParseRoutine(f.Path, f.Data)
		for _, p := range problems {
			t.Errorf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
		}
		if r.Description == "" || r.Body == "" {
			t.Errorf("%s: an example needs a description and a body", f.Path)
		}
		if other, taken := seen[r.ID]; taken {
			t.Errorf("%s and %s have the id %s", f.Path, other, r.ID)
		}
		seen[r.ID] = f.Path
	}
	if len(seen) < 5 {
		t.Errorf("%d example routines, want at least 5", len(seen))
	}
}

func TestTheStarterFilesHoldAProfile(t *testing.T) {
	files, err := starter.Files()
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, f := range files {
		have[f.Path] = len(f.Data) > 0
	}
	for _, want := range []string{"IDENTITY.md", "USER.md"} {
		if !have[want] {
			t.Errorf("%s is missing or empty", want)
		}
	}
}

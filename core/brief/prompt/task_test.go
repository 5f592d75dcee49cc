package prompt

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// anyWishes are those of the stories, in any combination.
var anyWishes = rapid.SliceOf(rapid.SampledFrom([]string{
	"mode always", "mode freely", "mode blocked", "mode odd", "unpingable", "isolated", "busy", "quiet 1h", "late 0s", "late 2h", "late 50h", "late 2000h",
	"check 1 of 1", "check 1 of 5", "check 5 of 5", "check 5 of 3", "allow", "allow Task WebFetch", "also Task", "unrestricted", "deny Task | WebFetch", "deny Agent",
	"unupdated", "skills", "free", "foreground", "muted", "googleless", "soundless", "sent", "essential", "habits at nine",
}))

func TestAMissingSectionLeavesNothingBehindAndABlockedTaskHearsOfNoReports(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		wishes := strings.Join(anyWishes.Draw(rt, "wishes"), " & ")
		body := rapid.StringMatching(`[^\s](.|\n){0,40}[^\s]`).Draw(rt, "body")
		body = strings.NewReplacer("; ", ";", " & ", "&", `\n`, "n").Replace(body)
		for _, kind := range []string{"routine", "reminder", "routine in the conversation", "reminder in the conversation"} {
			got := letter(t, kind, wishes+" & body "+body)
			head, ok := strings.CutSuffix(got, body)
			if !ok {
				rt.Fatalf("%s: the body is not verbatim at the end:\n%s", kind, got)
			}
			if strings.Contains(head, "\n\n\n") || strings.Contains(head, " \n") || strings.Contains(head, "  [") {
				rt.Fatalf("%s: something missing left its space behind:\n%q", kind, head)
			}
			if !strings.HasSuffix(head, "\n\n") && !strings.HasSuffix(head, ":a1b2c3d4] ") {
				rt.Fatalf("%s: the body is not parted from what is before it:\n%q", kind, head)
			}
			if blocked := letter(t, kind, wishes+" & unupdated & mode blocked"); strings.Contains(blocked, "report_updates") {
				rt.Fatalf("%s: a blocked task hears of reports:\n%s", kind, blocked)
			}
		}
	})
}

func BenchmarkBackgroundPromptWith100Tasks(b *testing.B) {
	p := background(b, routines.KindRoutine)
	p.Forward.Entries = nil
	for i := range 100 {
		at := p.Now.Add(time.Duration(i) * time.Minute)
		p.Forward.Last = at
		p.Forward.Entries = append(p.Forward.Entries, schedule.Entry{
			ID: fmt.Sprintf("%08x", i), FireTime: at, Label: "Routine",
			Description: "Review tasks and plan the day", FilePath: fmt.Sprintf("routines/task-%d.md", i),
		})
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(BackgroundPrompt(p)) < 5000 {
			b.Fatal("the prompt is too short to be whole")
		}
	}
}

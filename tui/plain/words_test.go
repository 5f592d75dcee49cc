package plain

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/command"
	"ollimbot/core/tail"
)

func TestCostsAreToldInSentences(t *testing.T) {
	got := costsText(command.Outcome{
		Message: "last 7 days: 5 runs, 51k tokens, $0.12; the runs that are known begin on Sat 2026-11-21 16:19",
		Costs: []command.TaskCost{
			{Title: "Email sweep", ID: "aaaa1111", Runs: 4, Tokens: 45_200, Dollars: 0.12, Share: 0.88},
			{Title: "Tea", Runs: 1, Tokens: 1_200_000, Share: 0.12},
		},
	})
	want := `last 7 days: 5 runs, 51 thousand tokens, 0.12 dollars; the runs that are known begin on Sat 2026-11-21 16:19
Email sweep (aaaa1111): 4 runs, 45 thousand tokens, 0.12 dollars, 0.0300 dollars a run, 88 percent of all
Tea: 1 run, 1.2 million tokens, 0.00 dollars, 0.00 dollars a run, 12 percent of all`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSignsAndColumnsBecomeWords(t *testing.T) {
	got := spoken("capacity 5 → 6 · full — soon\n/model [a|b]       show it\n**model**: a `a` `b`\nrun `init`")
	if want := "capacity 5 to 6, full, soon\n/model [a or b], show it\nmodel: a (a, b)\nrun init"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := spoken("Total cost:            $0.51\nUsage by model:"), "Total cost: $0.51\nUsage by model:"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := tailText(tail.Line{Kind: tail.Text, Text: "a → b"}); got != "a → b" {
		t.Errorf("the model's words became %q", got)
	}
}

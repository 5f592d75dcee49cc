package frontmatter

import (
	"os"
	"testing"
)

func BenchmarkParseRoutine(b *testing.B) {
	data, err := os.ReadFile("testdata/data-dir/routines/morning-task-review.md")
	must(b, err)
	for b.Loop() {
		if _, err := Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseWebhook(b *testing.B) {
	data, err := os.ReadFile("testdata/data-dir/webhooks/github-ci.md")
	must(b, err)
	for b.Loop() {
		if _, err := Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

package frontmatter

import (
	"os"
	"testing"

	"ollimbot/core/base/testkit"
)

func BenchmarkParseRoutine(b *testing.B) {
	data, err := os.ReadFile("testdata/data-dir/routines/morning-task-review.md")
	testkit.Must(b, err)
	for b.Loop() {
		if _, err := Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseWebhook(b *testing.B) {
	data, err := os.ReadFile("testdata/data-dir/webhooks/github-ci.md")
	testkit.Must(b, err)
	for b.Loop() {
		if _, err := Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}

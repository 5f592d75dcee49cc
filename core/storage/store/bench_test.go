package store

import (
	"fmt"
	"os"
	"testing"
)

func BenchmarkParseRoutine(b *testing.B) {
	data, err := os.ReadFile("testdata/data-dir/routines/morning-task-review.md")
	must(b, err)
	for b.Loop() {
		if _, err := ParseFrontMatter(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseWebhook(b *testing.B) {
	data, err := os.ReadFile("testdata/data-dir/webhooks/github-ci.md")
	must(b, err)
	for b.Loop() {
		if _, err := ParseFrontMatter(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadAndParse10000(b *testing.B) {
	d := prepared(b)
	names := make([]string, 10_000)
	for i := range names {
		names[i] = fmt.Sprintf("routines/r%d.md", i)
		put(b, d, names[i], string(FormatFrontMatter([]Out{
			{"id", fmt.Sprintf("%08x", i)}, {"cron", "0 9 * * *"}, {"background", true}, {"skills", []string{"a", "b"}},
		}, "Look at the list.")))
	}
	for b.Loop() {
		for _, name := range names {
			data, err := d.Read(name)
			must(b, err)
			if _, err := ParseFrontMatter(data); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	d := prepared(b)
	data := make([]byte, 400)
	for b.Loop() {
		must(b, d.Write("state/x.json", data))
	}
}

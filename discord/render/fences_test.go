package render

import "testing"

// P14
func TestFencesOfTildesBecomeBackticks(t *testing.T) {
	for text, want := range map[string]string{
		"plain ~~gone~~":                     "plain ~~gone~~",
		"see\n~~~go\nx := 1\n~~~\nend":       "see\n```go\nx := 1\n```\nend",
		"~~~~\n~~~ x\n```\n~~~~\n~~~":        "````\n~~~ x\n'''\n````\n```",
		"```\n~~~\nx\n```\n~~~\ny\n~~~":      "```\n~~~\nx\n```\n```\ny\n```",
		"a ```x``` b\n~~~\ny":                "a ```x``` b\n```\ny",
		"    ~~~ indented code, not a fence": "    ~~~ indented code, not a fence",
	} {
		if got := Fences(text); got != want || len(got) != len(text) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

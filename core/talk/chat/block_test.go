package chat

import "testing"

// D10: "(interrupted)" stood inside the code block that was interrupted.
func TestABlockThatAnAnswerLeavesOpenIsKnown(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"plain `code`":                    "",
		"```go\nx := 1":                   "\n```\n",
		"```go\nx := 1\n```\nend":         "",
		"```a``` is inline\nend":          "",
		"a\n~~~\n```\nb":                  "\n~~~\n",
		"> ```go\n> x":                    "\n> ```\n",
		"```\na\n```\n\n```python\nprint": "\n```\n",
	} {
		if got := openBlock(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

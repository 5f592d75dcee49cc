package toolset

import "testing"

// S36: a ping without ink made a sound and cost a token.
func TestATextWithoutInkIsBlank(t *testing.T) {
	for _, s := range []string{"", "** **", "\u2800", "\u3164", "# ", "> ", "-# ", "||\u200b||", "```\n```", "---", "\u00a0"} {
		if !Blank(Message(s)) {
			t.Errorf("%q is no blank", s)
		}
	}
	for _, s := range []string{"a", "?", "…", "👍", "**a**", "# 1", "日"} {
		if Blank(Message(s)) {
			t.Errorf("%q is a blank", s)
		}
	}
}

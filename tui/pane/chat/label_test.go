package chat

import (
	"strings"
	"testing"

	"ollimbot/core/talk/transcript"
	"ollimbot/tui/theme"
)

func TestAMessageMadeFromUntrustedTextNamesItsOrigin(t *testing.T) {
	text := func(e transcript.Entry) string {
		var b strings.Builder
		for _, s := range speaker(theme.New(theme.Options{}), e) {
			b.WriteString(s.Text)
		}
		return b.String()
	}
	e := transcript.Entry{Role: transcript.Bot, Text: "The build is red."}
	if got := text(e); got != "bot" {
		t.Errorf("without a label: %q", got)
	}
	e.Label = "webhook build → run 4f2a91c0 → update"
	if got := text(e); got != "bot · from webhook build" {
		t.Errorf("%q", got)
	}
}

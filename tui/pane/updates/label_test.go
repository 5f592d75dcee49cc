package updates

import (
	"strings"
	"testing"

	"ollimbot/core"
	"ollimbot/core/work/updates"
)

func TestAnUpdateFromUntrustedTextShowsItsOriginAndItsPath(t *testing.T) {
	u := updates.Update{Message: "The build is red."}
	if got := summary(&core.Snapshot{}, u); got != u.Message {
		t.Errorf("without a label: %q", got)
	}
	u.Label = "webhook build → run 4f2a91c0 → update"
	if got := summary(&core.Snapshot{}, u); got != "[from webhook build] The build is red." {
		t.Errorf("in the list: %q", got)
	}
	if got := Text(&core.Snapshot{}, u); !strings.Contains(got, "Made from untrusted text: webhook build → run 4f2a91c0 → update.") {
		t.Errorf("opened: %q", got)
	}
}

package google

import (
	"encoding/json"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

// An event shown as free in the calendar is recognised.
func TestAFreeEventLeavesTheUserFree(t *testing.T) {
	for text, free := range map[string]bool{`"transparency":"transparent",`: true, `"transparency":"opaque",`: false, "": false} {
		var e Event
		testkit.Must(t, json.Unmarshal([]byte(`{`+text+`"id":"1","start":{"dateTime":"2026-11-27T09:00:00Z"},"end":{"dateTime":"2026-11-27T10:00:00Z"}}`), &e))
		if i, ok := (&calendar{}).item(e, time.UTC); !ok || i.Free != free {
			t.Errorf("%s %+v, %v", text, i, ok)
		}
	}
}

package prompt

import (
	"testing"
	"time"

	"ollimbot/core/updates"
)

func TestADeliveryIsTheHeaderAndNothingElse(t *testing.T) {
	now := monday(t)
	golden(t, "delivery", Delivery(now, []updates.Update{
		{At: now.Add(-3 * time.Hour), Message: "CI webhook: build passed, no action needed"},
		{At: now.Add(-20 * time.Second), Message: "Email triage: 2 items need attention\nthe second is from the landlord"},
	}))
}

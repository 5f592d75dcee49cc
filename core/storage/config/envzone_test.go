package config

import (
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

// The undo of a change sets Before again.
func TestAChangeOfTheZoneReplacesThatOfEnvWhichCountsFirst(t *testing.T) {
	d := storetest.Prepared(t)
	storetest.Put(t, d, SettingsFile, `{"timezone": "Asia/Tokyo"}`)
	storetest.Put(t, d, EnvFile, "OLLIM_TIMEZONE=Europe/Berlin\n")
	_, c, err := Set(d, KeyZone, "Europe/Rome")
	testkit.Must(t, err)
	if c.Before != "Europe/Berlin" || c.After != "Europe/Rome" {
		t.Errorf("changed from %s to %s, want from Europe/Berlin to Europe/Rome", c.Before, c.After)
	}
}

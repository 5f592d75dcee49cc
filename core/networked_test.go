package core

import (
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/sandboxtest"
	"ollimbot/core/storage/config"
)

func TestAListOfHostsCountsAsANetwork(t *testing.T) {
	testkit.Alone(t)
	if !networked(nil, config.Runtime{}) {
		t.Error("without a sandbox commands are taken for ones without a network")
	}
	box := sandboxtest.Box(t, sandbox.Options{Dir: t.TempDir()})
	for value, wants := range map[string]bool{"": false, "on": true, "api.example.org,localhost:80": true} {
		if got := networked(box, config.Runtime{SandboxNetwork: value}); got != wants {
			t.Errorf("%q: %t", value, got)
		}
	}
}

// Package sandboxtest gives tests a sandbox that is one. Nothing else imports it.
package sandboxtest

import (
	"os"
	"testing"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/safety/sandbox"
)

// Box is a sandbox of bubblewrap with all its layers. Without one the test is
// skipped, or fails when OLLIM_REQUIRE_SANDBOX is 1. The package's TestMain has to answer
// to sandbox.HelperArg; see binarytest.Answer.
func Box(t testing.TB, o sandbox.Options) *sandbox.Box {
	t.Helper()
	if o.Executable == "" {
		o.Executable = binarytest.Path()
	}
	b := sandbox.New(o)
	if s := b.State(); s.Kind != sandbox.Bubblewrap || !s.Inner {
		missing(t, s.String())
	}
	return b
}

func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("OLLIM_REQUIRE_SANDBOX") == "1" {
		t.Fatalf("OLLIM_REQUIRE_SANDBOX is 1, but: %s", what)
	}
	t.Skip("needs bubblewrap: " + what)
}

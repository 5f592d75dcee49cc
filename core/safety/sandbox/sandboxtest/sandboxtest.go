// Package sandboxtest gives tests a real sandbox. Nothing else imports it.
package sandboxtest

import (
	"os"
	"testing"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/safety/sandbox"
)

// Box returns a bubblewrap sandbox with all its layers. If bubblewrap is missing, it skips the
// test, or fails it if OLLIM_REQUIRE_SANDBOX is 1. The package's TestMain must handle
// sandbox.HelperArg; see binarytest.Answer.
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

// Package sandboxtest gives tests a real sandbox. Nothing else imports it.
package sandboxtest

import (
	"testing"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
)

// Box returns a bubblewrap sandbox with all its layers. If bubblewrap is missing, it skips the
// test, or fails it on a machine that should have it. The package's TestMain must handle
// sandbox.HelperArg; see binarytest.Answer.
func Box(t testing.TB, o sandbox.Options) *sandbox.Box {
	t.Helper()
	if o.Executable == "" {
		o.Executable = binarytest.Path()
	}
	b := sandbox.New(o)
	if s := b.State(); s.Kind != sandbox.Bubblewrap || !s.Inner {
		testkit.Missing(t, "bubblewrap: "+s.String())
	}
	return b
}

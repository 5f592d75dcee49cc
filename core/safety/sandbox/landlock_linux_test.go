package sandbox_test

import (
	"os"
	"testing"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/safety/sandbox"
)

func TestMain(m *testing.M) {
	binarytest.Answer(binarytest.Hidden{sandbox.HelperArg: sandbox.Helper, keepArg: keep, callsArg: tryCalls, ringArg: ring, withoutArg: without, reachArg: reach})
	os.Exit(m.Run())
}

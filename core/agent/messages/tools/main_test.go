package tools

import (
	"os"
	"testing"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/safety/sandbox"
)

func TestMain(m *testing.M) {
	binarytest.Answer(binarytest.Hidden{sandbox.HelperArg: sandbox.Helper})
	os.Exit(m.Run())
}

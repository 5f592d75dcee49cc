package store

import (
	"testing"

	"ollimbot/core/base/testkit"
)

func BenchmarkWrite(b *testing.B) {
	d := prepared(b)
	data := make([]byte, 400)
	for b.Loop() {
		testkit.Must(b, d.Write("state/x.json", data))
	}
}

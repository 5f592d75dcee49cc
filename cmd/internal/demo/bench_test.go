package demo

import (
	"testing"
	"time"

	"ollimbot/core/storage/store/storetest"
)

func BenchmarkFurnish(b *testing.B) {
	for b.Loop() {
		if err := Furnish(Home{Dir: storetest.Dir(b), Now: time.Date(2026, 11, 24, 14, 2, 0, 0, time.UTC)}); err != nil {
			b.Fatal(err)
		}
	}
}

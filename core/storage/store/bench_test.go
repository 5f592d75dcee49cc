package store

import "testing"

func BenchmarkWrite(b *testing.B) {
	d := prepared(b)
	data := make([]byte, 400)
	for b.Loop() {
		must(b, d.Write("state/x.json", data))
	}
}

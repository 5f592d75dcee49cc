package wire

import (
	"io"
	"os"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

const deltaLine = `{"type":"stream_event","event":{"delta":{"text":"Hi there, this is a fake","type":"text_delta"},"index":1,"type":"content_block_delta"},` +
	`"session_id":"c98eca25-4ccf-4f98-8a76-612b79706614","parent_tool_use_id":null,"uuid":"d44aa746-ab6d-4cac-b392-fc73dd940ac6"}`

// BenchmarkDeltaLine measures the time from writing a line into a system pipe until it is decoded.
func BenchmarkDeltaLine(b *testing.B) {
	r, in, err := os.Pipe()
	testkit.Must(b, err)
	decoded := make(chan Stream)
	c := New(r, io.Discard, Options{Line: func(l Line) { decoded <- l.Stream() }})
	done := make(chan error, 1)
	go func() { done <- c.Run(b.Context()) }()
	b.SetBytes(int64(len(deltaLine)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := io.WriteString(in, deltaLine+"\n"); err != nil {
			b.Fatal(err)
		}
		<-decoded
	}
	b.StopTimer()
	_ = in.Close()
	testkit.Must(b, <-done)
}

func BenchmarkPeek(b *testing.B) {
	code := strings.Repeat(`func main() {\n\tfmt.Println(\"hello\")\n}\n`, 1<<18)
	for name, line := range map[string][]byte{"delta": []byte(deltaLine), "ten megabytes": []byte(`{"type":"assistant","message":"` + code + `"}`)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := peek(line); !ok {
					b.Fatal("not seen")
				}
			}
		})
	}
}

package fake_test

import (
	"testing"

	"ollimbot/discord/fake"
)

// BenchmarkSend is one whole request over loopback.
func BenchmarkSend(b *testing.B) {
	for name, o := range map[string]fake.Options{"bare": {NoContract: true}, "contract": {}} {
		b.Run(name, func(b *testing.B) {
			s, t := fake.Start(b, o), b
			path := "/channels/" + s.User().Channel() + "/messages"
			for b.Loop() {
				if r := do(t, s, "POST", path, text("hello")); r.status != 200 {
					b.Fatalf("%d %s", r.status, r.raw)
				}
			}
		})
	}
}

// BenchmarkSay is one message of the user with a session that listens.
func BenchmarkSay(b *testing.B) {
	s := fake.Start(b, fake.Options{NoContract: true})
	u := s.User()
	c := dial(b, s)
	c.login()
	for b.Loop() {
		u.Say("hello")
		c.expect("MESSAGE_CREATE")
	}
}

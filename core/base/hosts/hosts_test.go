package hosts

import (
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestAListAllowsWhatItNames(t *testing.T) {
	const text = "api.github.com, *.Example.org,localhost:8080 ,192.168.1.5,[::1]:9000,2606:4700::1111, deep.a.test:443"
	l, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := l.String(); got != "api.github.com,*.example.org,localhost:8080,192.168.1.5,[::1]:9000,[2606:4700::1111],deep.a.test:443" {
		t.Errorf("it reads %s", got)
	}
	for _, c := range []struct {
		host  string
		port  uint16
		wants bool
	}{
		{"api.github.com", 443, true},
		{"API.GitHub.com.", 22, true},
		{"github.com", 443, false},
		{"x.api.github.com", 443, false},
		{"api.github.com.evil.test", 443, false},
		{"evil-api.github.com", 443, false},
		{"a.example.org", 80, true},
		{"a.b.example.org", 80, true},
		{"example.org", 80, false},
		{"aexample.org", 80, false},
		{".example.org", 80, false},
		{"localhost", 8080, true},
		{"localhost", 8081, false},
		{"127.0.0.1", 8080, false},
		{"192.168.1.5", 1, true},
		{"::ffff:192.168.1.5", 1, true},
		{"192.168.1.6", 1, false},
		{"::1", 9000, true},
		{"0:0:0:0:0:0:0:1", 9000, true},
		{"::1", 9001, false},
		{"::1%lo", 9000, false},
		{"2606:4700::1111", 443, true},
		{"deep.a.test", 443, true},
		{"deep.a.test", 80, false},
		{"", 80, false},
	} {
		if got := l.Allows(c.host, c.port); got != c.wants {
			t.Errorf("%s, port %d: %t", c.host, c.port, got)
		}
	}
	if List(nil).Allows("api.github.com", 443) {
		t.Error("an empty list allows a host")
	}
}

func TestAnEntryThatIsWrongNamesItselfAndTheCure(t *testing.T) {
	for text, wants := range map[string]string{
		"":                                      "an entry is empty",
		"a.example.org,,b.example.org":          "an entry is empty",
		"*":                                     "set it to on",
		"on, a.example.org":                     "on must be",
		"a.example.org,OFF":                     "off must be",
		"*.com":                                 `"*.com" is too wide`,
		"*.co.uk":                               `"*.co.uk" is too wide`,
		"*.github.io":                           `"*.github.io" is too wide`,
		"*.localhost:80":                        "is too wide",
		"a.example.org, https://b.test/":        `"https://b.test/" is more than a host`,
		"b.test/path":                           `"b.test/path" is more than a host`,
		"10.0.0.0/8":                            "is more than a host",
		"user@b.test":                           "is more than a host",
		"b.test:0":                              "number from 1 to 65535",
		"b.test:65536":                          "number from 1 to 65535",
		"b.test:":                               "number from 1 to 65535",
		"b.test:a":                              "number from 1 to 65535",
		"1.2.3.4:0":                             "number from 1 to 65535",
		"localhost":                             "add a port, such as localhost:8080",
		"enable":                                "has no dot",
		"127.0.0.1":                             "needs a port, such as 127.0.0.1:8080",
		"::1":                                   "needs a port, such as [::1]:8080",
		"::ffff:127.0.0.1":                      "needs a port",
		"0.0.0.0:80":                            "not the address of one host",
		"224.0.0.1":                             "not the address of one host",
		"fe80::1%eth0":                          "not the address of one host",
		"a.*.example.org":                       "at the start only",
		"*a.example.org":                        "at the start only",
		"*.*.example.org":                       "at the start only",
		"münchen.example.org":                   "xn-- form",
		"a b.example.org":                       "not the name of a host",
		".example.org":                          "not the name of a host",
		"a..example.org":                        "not the name of a host",
		"127.1":                                 "not the name of a host",
		"a.0x7f000001":                          "not the name of a host",
		strings.Repeat("a", 64) + ".org":        "not the name of a host",
		strings.Repeat("a.", 127) + "org":       "not the name of a host",
		strings.Repeat("a.org,", 200) + "a.org": "list 200 at most",
	} {
		l, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), wants) {
			t.Errorf("%q gives %v, %v; not %q", text, l, err, wants)
		}
	}
}

// drawName draws a name of two to four labels with few letters, so that names often share
// suffixes.
func drawName(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "example", "org", "com"}), 2, 4).Draw(t, label), ".")
}

// A model that represents names as lists of labels agrees with the list.
func TestAListIsItsModel(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		entry, host := drawName(t, "entry"), drawName(t, "host")
		star := rapid.Bool().Draw(t, "star")
		port := rapid.SampledFrom([]uint16{0, 80, 443}).Draw(t, "port")
		r := rule{name: entry, below: star, port: port}
		l, err := Parse(r.String())
		if err != nil {
			if star {
				return // the suffix of many names
			}
			t.Fatal(err)
		}
		at := rapid.SampledFrom([]uint16{80, 443}).Draw(t, "at")
		labels, ends := strings.Split(host, "."), strings.Split(entry, ".")
		same := len(labels) >= len(ends)
		for i := 1; same && i <= len(ends); i++ {
			same = labels[len(labels)-i] == ends[len(ends)-i]
		}
		wants := same && (len(labels) > len(ends)) == star && (port == 0 || port == at)
		if got := l.Allows(host, at); got != wants {
			t.Fatalf("%s allows %s:%d: %t", l, host, at, got)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a.example.org", "*.example.org:80,[::1]:9", "localhost:1", "::ffff:1.2.3.4", "*.com", "a.b.", "1.2.3.4:5"} {
		f.Add(s, "x.example.org")
	}
	f.Fuzz(func(t *testing.T, text, host string) {
		l, err := Parse(text)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" || l != nil {
				t.Fatalf("%v, %v", l, err)
			}
			return
		}
		again, err := Parse(l.String())
		if err != nil || again.String() != l.String() {
			t.Fatalf("%q reads %s, and that %s, %v", text, l, again, err)
		}
		if l.Allows(host, 80) != again.Allows(host, 80) {
			t.Fatalf("%s and %s differ on %q", l, again, host)
		}
		// No name allows an address: an address must be listed as one.
		if addr, err := netip.ParseAddr(host); err == nil && l.Allows(host, 80) != l.AllowsAddr(addr, 80) {
			t.Fatalf("%s allows %s by name", l, host)
		}
	})
}

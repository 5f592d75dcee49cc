package google_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/work/google"
)

func TestMailIsReadInTheCharsetThatItNames(t *testing.T) {
	testkit.Alone(t)
	c, g, _ := account(t, google.Mail)
	for set, mail := range map[string]struct{ bytes, want string }{
		"utf-8":            {"Gr\xc3\xbc\xc3\x9fe", "Grüße"},
		"us-ascii":         {"Gr\xc3\xbc\xc3\x9fe", "Grüße"}, // Google converted it to UTF-8
		"ISO-8859-1":       {"Gr\xfc\xdfe", "Grüße"},
		"iso-8859-10":      {"\xe1\xbe", "áū"},
		"iso-8859-15":      {"5 \xa4", "5 €"},
		"\"Windows-1252\"": {"\x93Hi\x94 5 \x80", "“Hi” 5 €"},
		"latin1":           {"\xe9", "é"},
		"koi8-r":           {"\xf0\xd2\xc9\xd7\xc5\xd4", "Привет"},
		"cp1251":           {"\xcf\xf0\xe8", "При"},
		// G2
		"Shift_JIS":      {"\x93\xfa\x96\x7b", "日本"},
		"ISO-2022-JP":    {"\x1b$BF|K\\\x1b(B", "日本"}, // pure ASCII bytes
		"GB2312":         {"\xd6\xd0\xce\xc4", "中文"},
		"euc-kr":         {"\xc7\xd1\xb1\xdb", "한글"},
		"Big5":           {"\xa4\xa4\xa4\xe5", "中文"},
		"utf-16":         {"\xfe\xff\x00H\x4e\x2d", "H中"},
		"utf-16le":       {"H\x00i\x00", "Hi"},
		"hz-gb-2312":     {"\xff a", "[The charset of this text is not known (hz-gb-2312), so some characters may be wrong.]\n\ufffd a"},   // no decoder exists any more
		"x-nobody-knows": {"a\xff", "[The charset of this text is not known (x-nobody-knows), so some characters may be wrong.]\na\ufffd"}, // S24
	} {
		body := base64.StdEncoding.EncodeToString([]byte(mail.bytes)) // Google's is URL-safe and without =
		g.Mails = []map[string]any{{"id": "m", "payload": map[string]any{
			"mimeType": "text/plain", "headers": []any{map[string]any{"name": "Content-Type", "value": "text/plain; charset=" + set}},
			"body": map[string]any{"data": body},
		}}}
		if m, err := c.Mail.Get(context.Background(), "m"); err != nil || m.Body != mail.want {
			t.Errorf("%s: %q, %v", set, m.Body, err)
		}
	}
	for header, want := range map[string]string{
		"=?koi8-r?B?8NLJ18XU?=": "Привет", "=?ISO-8859-1?Q?Gr=FC=DFe?= you": "Grüße you", "=?x-none?Q?a?=": "=?x-none?Q?a?=", "Grüße": "Grüße",
		"=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=": "日本", // G2
	} {
		g.Mails = []map[string]any{{"id": "m", "payload": map[string]any{"headers": []any{map[string]any{"name": "Subject", "value": header}}}}}
		if m, err := c.Mail.Get(context.Background(), "m"); err != nil || m.Subject != want {
			t.Errorf("%s: %q, %v", header, m.Subject, err)
		}
	}
}

// G1
func TestASearchSaysHowManyThereAre(t *testing.T) {
	testkit.Alone(t)
	c, g, _ := account(t, google.Mail)
	for _, x := range []struct {
		in, most, listed, found int
		more                    bool
	}{{0, 20, 0, 0, false}, {20, 20, 20, 20, false}, {51, 20, 20, 51, false}, {3, 20, 3, 3, false}, {500, 20, 20, 500, false}, {501, 500, 500, 500, true}} {
		g.Mails = nil
		for i := range x.in {
			g.Mails = append(g.Mails, map[string]any{"id": fmt.Sprint("m", i), "payload": map[string]any{}})
		}
		found, err := c.Mail.Search(context.Background(), "", x.most)
		testkit.Must(t, err)
		n := 0
		for m, err := range found.Mails {
			if err != nil || m.ID != fmt.Sprint("m", n) {
				t.Fatal(m, err)
			}
			n++
		}
		if n != x.listed || found.Total != x.found || found.More != x.more {
			t.Errorf("of %d mails %d are listed, %d are found, more: %v", x.in, n, found.Total, found.More)
		}
	}
}

// G4
func TestALinkKeepsItsAddress(t *testing.T) {
	long := "https://example.com/" + strings.Repeat("x", 400)
	for page, want := range map[string]string{
		`<a href="https://a.example/x?id=1&utm_source=mail&fbclid=2#top">here</a> now`: "here (https://a.example/x?id=1#top) now",
		`<a href="https://a.example/?utm_campaign=x">here</a>`:                         "here (https://a.example/)",
		`<a href="https://a.example/">https://a.example</a>`:                           "https://a.example",
		`<a href="http://a.example/x">a.example/x</a>`:                                 "a.example/x",
		`<a href="https://evil.example/">https://bank.example</a>`:                     "https://bank.example (https://evil.example/)",
		`<a href="https://a.example/b"><img src=x></a>`:                                "(https://a.example/b)",
		`<a href="https://a.example/b"><div>Buy</div></a>`:                             "Buy\n(https://a.example/b)",
		`<div hidden><a href="https://a.example/b">x</a></div>y`:                       "y",
		`<a href="javascript:alert(1)">a</a><a href="#x">b</a><a name=c>c</a>`:         "a b c",
		`<a href="mailto:ann@example.com">Ann</a>`:                                     "Ann (mailto:ann@example.com)",
		`<a href="https://a.example/1">one<a href="https://a.example/2">two</a>`:       "one (https://a.example/1) two (https://a.example/2)",
		`<a href="` + long + `">far</a>`:                                               "far (https://example.com/…)",
	} {
		if got := google.Plain(page); got != want {
			t.Errorf("%.80q gives %q, want %q", page, got, want)
		}
	}
}

package google_test

import (
	"context"
	"encoding/base64"
	"testing"

	"ollimbot/core/work/google"
)

func TestMailIsReadInTheCharsetThatItNames(t *testing.T) {
	c, g, _ := account(t, google.Mail)
	for set, mail := range map[string]struct{ bytes, want string }{
		"utf-8":            {"Gr\xc3\xbc\xc3\x9fe", "Grüße"},
		"us-ascii":         {"Gr\xc3\xbc\xc3\x9fe", "Grüße"}, // it was Google that made UTF-8 of it
		"ISO-8859-1":       {"Gr\xfc\xdfe", "Grüße"},
		"iso-8859-10":      {"\xe1\xbe", "áū"},
		"iso-8859-15":      {"5 \xa4", "5 €"},
		"\"Windows-1252\"": {"\x93Hi\x94 5 \x80", "“Hi” 5 €"},
		"latin1":           {"\xe9", "é"},
		"koi8-r":           {"\xf0\xd2\xc9\xd7\xc5\xd4", "Привет"},
		"cp1251":           {"\xcf\xf0\xe8", "При"},
		"x-nobody-knows":   {"a\xff", "a\ufffd"},
	} {
		body := base64.StdEncoding.EncodeToString([]byte(mail.bytes)) // Google's is for URLs, and without =
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
	} {
		g.Mails = []map[string]any{{"id": "m", "payload": map[string]any{"headers": []any{map[string]any{"name": "Subject", "value": header}}}}}
		if m, err := c.Mail.Get(context.Background(), "m"); err != nil || m.Subject != want {
			t.Errorf("%s: %q, %v", header, m.Subject, err)
		}
	}
}

package google

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Message is a mail. Only Get sets Body and Attachments.
type Message struct {
	ID          string       `json:"id"`
	At          time.Time    `json:"at"`
	From        string       `json:"from"`
	To          string       `json:"to,omitempty"`
	Subject     string       `json:"subject"`
	Body        string       `json:"body,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
}

// Attachment is an attached file.
type Attachment struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Size int64  `json:"size"` // bytes
}

// Label is a label, or a folder.
type Label struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// rawMessage is a mail as Google returns it.
type rawMessage struct {
	ID      string `json:"id"`
	Date    string `json:"internalDate"` // milliseconds since 1970
	Payload part   `json:"payload"`
}

// part is a mail, or a part of one.
type part struct {
	Type    string                         `json:"mimeType"`
	File    string                         `json:"filename"`
	Headers []struct{ Name, Value string } `json:"headers"`
	Body    struct {
		Attachment string `json:"attachmentId"`
		Size       int64  `json:"size"`
		Data       string `json:"data"`
	} `json:"body"`
	Parts []part `json:"parts"`
}

// header is the decoded value of a header, or a default.
func (p part) header(name, otherwise string) string {
	for _, h := range p.Headers {
		if strings.EqualFold(h.Name, name) {
			if text, err := (&mime.WordDecoder{CharsetReader: decoded}).DecodeHeader(h.Value); err == nil {
				return text
			}
			return h.Value
		}
	}
	return otherwise
}

// MailAPI is Gmail.
type MailAPI struct{ api *api }

func onMail(query url.Values, path ...string) call {
	return call{scope: Mail, method: http.MethodGet, path: append([]string{"gmail", "v1", "users", "me"}, path...), query: query}
}

const (
	// mailsAtOnce are fetched concurrently.
	mailsAtOnce = 10
	// maxFound is how many results of a search are counted: what one call lists at most.
	maxFound = 500
)

// Found is the result of a search.
type Found struct {
	Mails iter.Seq2[Message, error] // the newest, without their bodies
	Total int
	More  bool // than Total
}

// Search returns the newest mails that match a Gmail query, and how many match.
func (s *MailAPI) Search(ctx context.Context, query string, most int) (Found, error) {
	var ids []string
	more := false
	for m, err := range pages[struct{ ID string }](ctx, s.api, onMail(url.Values{"q": {query}, "maxResults": {strconv.Itoa(maxFound)}}, "messages")) {
		if err != nil {
			return Found{}, err
		}
		if more = len(ids) == maxFound; more {
			break
		}
		ids = append(ids, m.ID)
	}
	return Found{Mails: s.heads(ctx, ids[:min(most, len(ids))]), Total: len(ids), More: more}, nil
}

// heads are mails without their bodies.
func (s *MailAPI) heads(ctx context.Context, ids []string) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for some := range slices.Chunk(ids, mailsAtOnce) {
			list := make([]Message, len(some))
			group, ctx := errgroup.WithContext(ctx)
			for i, id := range some {
				group.Go(func() (err error) {
					list[i], err = s.head(ctx, id)
					return err
				})
			}
			err := group.Wait()
			for _, m := range list {
				if !yield(m, err) || err != nil {
					return
				}
			}
		}
	}
}

// head is a mail without its body.
func (s *MailAPI) head(ctx context.Context, id string) (Message, error) {
	var raw rawMessage
	query := url.Values{"format": {"metadata"}, "metadataHeaders": {"From", "Subject"}}
	if err := s.api.do(ctx, onMail(query, "messages", id), &raw); err != nil {
		return Message{}, err
	}
	return raw.message(), nil
}

func (m rawMessage) message() Message {
	out := Message{
		ID: m.ID, From: m.Payload.header("From", "(unknown)"), To: m.Payload.header("To", ""),
		Subject: m.Payload.header("Subject", "(no subject)"),
	}
	if ms, err := strconv.ParseInt(m.Date, 10, 64); err == nil {
		out.At = time.UnixMilli(ms)
	}
	return out
}

// Get returns a mail with its text: the plain text, or that of the HTML.
func (s *MailAPI) Get(ctx context.Context, id string) (Message, error) {
	var raw rawMessage
	if err := s.api.do(ctx, onMail(url.Values{"format": {"full"}}, "messages", id), &raw); err != nil {
		return Message{}, unknown(err)
	}
	m := raw.message()
	var texts []part
	raw.Payload.walk(0, func(p part) {
		if p.File != "" {
			m.Attachments = append(m.Attachments, Attachment{Name: p.File, Type: p.Type, Size: p.Body.Size})
		} else {
			texts = append(texts, p)
		}
	})
	for _, kind := range []string{"text/plain", "text/html"} {
		i := slices.IndexFunc(texts, func(p part) bool {
			return strings.EqualFold(p.Type, kind) && (p.Body.Data != "" || p.Body.Attachment != "")
		})
		if i < 0 {
			continue
		}
		text, err := s.text(ctx, id, texts[i])
		if err != nil {
			return Message{}, err
		}
		if kind == "text/html" {
			text = Plain(text)
		}
		if m.Body = strings.TrimSpace(text); m.Body != "" {
			break
		}
	}
	return m, nil
}

// maxDepth is how deeply nested parts are read.
const maxDepth = 50

func (p part) walk(depth int, visit func(part)) {
	visit(p)
	for _, inner := range p.Parts {
		if depth < maxDepth {
			inner.walk(depth+1, visit)
		}
	}
}

// text is the text of a part. Google stores a long one apart from the mail.
func (s *MailAPI) text(ctx context.Context, id string, p part) (string, error) {
	if p.Body.Data == "" {
		if err := s.api.do(ctx, onMail(nil, "messages", id, "attachments", p.Body.Attachment), &p.Body); err != nil {
			return "", err
		}
	}
	data, err := base64.RawURLEncoding.DecodeString(urlSafe.Replace(p.Body.Data))
	if err != nil {
		return "", fmt.Errorf("read the text of mail %s: %w", id, err)
	}
	// Google returns most texts as UTF-8, whatever their headers say. Only ISO-2022 and UTF-16
	// look like it, and they contain what no text does.
	if utf8.Valid(data) && !bytes.ContainsAny(data, "\x00\x1b") {
		return string(data), nil
	}
	_, params, _ := mime.ParseMediaType(p.header("Content-Type", "")) // without one, the charset is unknown too
	r, err := decoded(params["charset"], bytes.NewReader(data))
	switch {
	case err == nil:
		data, _ = io.ReadAll(r) // it reads memory
	case params["charset"] != "" || !utf8.Valid(data):
		return fmt.Sprintf(textCharset, cmp.Or(params["charset"], "none")) + strings.ToValidUTF8(string(data), "\ufffd"), nil
	}
	return strings.ToValidUTF8(string(data), "\ufffd"), nil
}

// decoded reads text in a charset that browsers know.
func decoded(set string, text io.Reader) (io.Reader, error) {
	known, err := htmlindex.Get(set)
	if err != nil || known == encoding.Replacement { // which stands for charsets that are not read any more
		return nil, fmt.Errorf("unknown charset %q", set)
	}
	return transform.NewReader(text, unicode.BOMOverride(known.NewDecoder())), nil
}

// urlSafe turns other base64 variants into the one that Google uses.
var urlSafe = strings.NewReplacer("+", "-", "/", "_", "=", "", "\r", "", "\n", "")

// Labels are the user's labels.
func (s *MailAPI) Labels(ctx context.Context) ([]Label, error) {
	var answer struct{ Labels []Label }
	err := s.api.do(ctx, onMail(nil, "labels"), &answer)
	return answer.Labels, err
}

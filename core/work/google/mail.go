package google

import (
	"bytes"
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

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/sync/errgroup"
	"golang.org/x/text/encoding/charmap"
)

// Message is a mail. Body and Attachments are there where it was asked for alone.
type Message struct {
	ID          string       `json:"id"`
	At          time.Time    `json:"at"`
	From        string       `json:"from"`
	To          string       `json:"to,omitempty"`
	Subject     string       `json:"subject"`
	Body        string       `json:"body,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
}

// Attachment is a file that came along.
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

// rawMessage is a mail as Google gives it.
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

// header is the value of a header, decoded, or another text.
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

func onMail(query url.Values, path ...string) call {
	return call{scope: Mail, method: http.MethodGet, path: append([]string{"gmail", "v1", "users", "me"}, path...), query: query}
}

// mailsAtOnce are asked for beside each other.
const mailsAtOnce = 10

// Messages are the newest mails that a search in Gmail's words finds, at most so many,
// without their bodies.
func (c *Client) Messages(ctx context.Context, query string, most int) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		var ids []string
		for m, err := range pages[struct{ ID string }](ctx, c, onMail(url.Values{"q": {query}, "maxResults": {strconv.Itoa(min(most, 100))}}, "messages")) {
			if err != nil {
				yield(Message{}, err)
				return
			}
			if ids = append(ids, m.ID); len(ids) == most {
				break
			}
		}
		for some := range slices.Chunk(ids, mailsAtOnce) {
			list := make([]Message, len(some))
			group, ctx := errgroup.WithContext(ctx)
			for i, id := range some {
				group.Go(func() (err error) {
					list[i], err = c.head(ctx, id)
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
func (c *Client) head(ctx context.Context, id string) (Message, error) {
	var raw rawMessage
	query := url.Values{"format": {"metadata"}, "metadataHeaders": {"From", "Subject"}}
	if err := c.do(ctx, onMail(query, "messages", id), &raw); err != nil {
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

// Message is one mail with its text: the plain one, or what the HTML says.
func (c *Client) Message(ctx context.Context, id string) (Message, error) {
	var raw rawMessage
	if err := c.do(ctx, onMail(url.Values{"format": {"full"}}, "messages", id), &raw); err != nil {
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
		text, err := c.text(ctx, id, texts[i])
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

// maxDepth is how deep parts lie in each other that are looked at.
const maxDepth = 50

func (p part) walk(depth int, visit func(part)) {
	visit(p)
	for _, inner := range p.Parts {
		if depth < maxDepth {
			inner.walk(depth+1, visit)
		}
	}
}

// text is what a part says. A long one is kept by Google apart from the mail.
func (c *Client) text(ctx context.Context, id string, p part) (string, error) {
	if p.Body.Data == "" {
		if err := c.do(ctx, onMail(nil, "messages", id, "attachments", p.Body.Attachment), &p.Body); err != nil {
			return "", err
		}
	}
	data, err := base64.RawURLEncoding.DecodeString(urlSafe.Replace(p.Body.Data))
	if err != nil {
		return "", fmt.Errorf("read the text of mail %s: %w", id, err)
	}
	if utf8.Valid(data) { // as Google gives most texts, whatever their headers say
		return string(data), nil
	}
	if _, params, err := mime.ParseMediaType(p.header("Content-Type", "")); err == nil {
		if r, err := decoded(params["charset"], bytes.NewReader(data)); err == nil {
			data, _ = io.ReadAll(r) // it reads memory
		}
	}
	return strings.ToValidUTF8(string(data), "\ufffd"), nil
}

// decoded reads a text of which each byte is a character.
func decoded(set string, text io.Reader) (io.Reader, error) {
	plain := strings.NewReplacer("-", "", "_", "", " ", "", "cp", "windows", "latin1", "windows1252").Replace
	set = plain(strings.ToLower(set))
	for _, known := range charmap.All {
		if name, ok := known.(fmt.Stringer); ok && plain(strings.ToLower(name.String())) == set {
			return known.NewDecoder().Reader(text), nil
		}
	}
	return nil, fmt.Errorf("the charset %q is not known", set)
}

// urlSafe makes base64 as Google writes it of what others do.
var urlSafe = strings.NewReplacer("+", "-", "/", "_", "=", "", "\r", "", "\n", "")

// Labels are the user's labels.
func (c *Client) Labels(ctx context.Context) ([]Label, error) {
	var answer struct{ Labels []Label }
	err := c.do(ctx, onMail(nil, "labels"), &answer)
	return answer.Labels, err
}

// whose is the account's address, as far as the permissions tell it.
func (c *Client) whose(ctx context.Context, s State) (string, error) {
	if s.May(Mail) {
		var profile struct {
			Address string `json:"emailAddress"`
		}
		err := c.do(ctx, onMail(nil, "profile"), &profile)
		return profile.Address, err
	}
	var list struct {
		Summary string `json:"summary"` // of the primary calendar: the address
	}
	k := onEvent(http.MethodGet, "primary", nil)
	k.query.Set("maxResults", "1")
	err := c.do(ctx, k, &list)
	return list.Summary, err
}

// hiddenTags are elements whose text nobody sees.
var hiddenTags = map[atom.Atom]bool{
	atom.Style: true, atom.Script: true, atom.Head: true, atom.Title: true, atom.Template: true, atom.Noscript: true, atom.Iframe: true, atom.Svg: true,
}

// blockTags are elements that begin a line of their own.
var blockTags = map[atom.Atom]bool{
	atom.P: true, atom.Div: true, atom.Br: true, atom.Tr: true, atom.Table: true, atom.Li: true, atom.Ul: true, atom.Ol: true, atom.Hr: true,
	atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true, atom.Blockquote: true, atom.Pre: true, atom.Section: true,
}

// voidTags have no end.
var voidTags = map[atom.Atom]bool{
	atom.Br: true, atom.Hr: true, atom.Img: true, atom.Input: true, atom.Meta: true, atom.Link: true, atom.Area: true, atom.Base: true,
	atom.Col: true, atom.Embed: true, atom.Source: true, atom.Track: true, atom.Wbr: true,
}

// Plain is the text of an HTML page as a reader would see it: without what is hidden,
// a line for each block, and spaces collapsed.
func Plain(page string) string {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(page))
	var hidden []atom.Atom // the elements that hide what is in them, the outermost first
	for {
		switch z.Next() {
		case html.ErrorToken:
			return tidy(b.String())
		case html.TextToken:
			if len(hidden) == 0 {
				b.WriteString(strings.Join(strings.FieldsFunc(string(z.Text())+"\x00", isSpace), " "))
				b.WriteByte(' ')
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			if blockTags[t.DataAtom] {
				b.WriteByte('\n')
			}
			if t.Type == html.StartTagToken && !voidTags[t.DataAtom] && (len(hidden) > 0 && t.DataAtom == hidden[0] || len(hidden) == 0 && hides(t)) {
				hidden = append(hidden, t.DataAtom)
			}
		case html.EndTagToken:
			t := z.Token()
			if len(hidden) > 0 && t.DataAtom == hidden[0] {
				hidden = hidden[1:]
			} else if blockTags[t.DataAtom] {
				b.WriteByte('\n')
			}
		}
	}
}

func isSpace(r rune) bool {
	return r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\f' || r == 0 || r == '\u00a0'
}

// hides reports whether an element is not to be seen.
func hides(t html.Token) bool {
	if hiddenTags[t.DataAtom] {
		return true
	}
	for _, a := range t.Attr {
		style := strings.ReplaceAll(strings.ToLower(a.Val), " ", "")
		if a.Key == "hidden" || a.Key == "style" && (strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")) {
			return true
		}
	}
	return false
}

// tidy collapses spaces, and empty lines to one.
func tidy(s string) string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.Join(strings.Fields(line), " ")
		if line == "" && (len(out) == 0 || out[len(out)-1] == "") {
			continue
		}
		out = append(out, line)
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

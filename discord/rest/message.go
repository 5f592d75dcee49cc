package rest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
)

// Message is what the bot says, within Discord's limits; render makes it so.
type Message struct {
	Content string
	Embeds  []Embed
	// Components are up to five rows of up to five buttons.
	Components []Row
	// Nonce makes sending idempotent for some minutes: the same nonce is the same
	// message. Any text will do; empty is a new one. Only Send knows it.
	Nonce string
	// ReplyTo is the id of the message that is answered, or empty. One that was
	// deleted is no error.
	ReplyTo string
	Flags   Flags
	Files   []File
	// Before is called once before Send sends it for the first time, when no limit
	// is waited for any more; its error is Send's, and nothing is sent. Nil is fine.
	Before func() error
}

// Flags of a message.
type Flags int

// Ephemeral is for answers to interactions only. Silent sends no notification.
const (
	SuppressEmbeds Flags = 1 << 2
	Ephemeral      Flags = 1 << 6
	Silent         Flags = 1 << 12
)

// Embed is a card. Color is 0xRRGGBB.
type Embed struct {
	Title, Description string
	Color              int
	Fields             []Field
	Footer             string
}

// Field is a named value of a card.
type Field struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Inline bool   `json:"inline"`
}

// Row is up to five buttons beside each other.
type Row []Button

// Button sends its CustomID back when it is clicked.
type Button struct {
	Label, CustomID string
	Style           Style
	Disabled        bool
}

// Style is the look of a button.
type Style int

// The styles.
const (
	Primary Style = iota + 1
	Secondary
	Success
	Danger
)

// wire is a message as Discord reads it. Pointers tell what is left away from
// what is empty: in an edit, an empty list takes away and an absent one keeps.
type wire struct {
	Content     *string      `json:"content,omitempty"`
	Embeds      *[]wireEmbed `json:"embeds,omitempty"`
	Components  *[]wireRow   `json:"components,omitempty"`
	Attachments []wireFile   `json:"attachments,omitempty"`
	Flags       Flags        `json:"flags,omitempty"`
	Reference   *wireReply   `json:"message_reference,omitempty"`
	Nonce       string       `json:"nonce,omitempty"`
	Enforce     bool         `json:"enforce_nonce,omitempty"`
	// Mentions is always written: what the bot quotes must never notify anybody.
	Mentions struct {
		Parse []string `json:"parse"`
	} `json:"allowed_mentions"`
}

type wireEmbed struct {
	Title       string      `json:"title,omitempty"`
	Description string      `json:"description,omitempty"`
	Color       int         `json:"color,omitempty"`
	Fields      []Field     `json:"fields,omitempty"`
	Footer      *wireFooter `json:"footer,omitempty"`
}

type wireFooter struct {
	Text string `json:"text"`
}

type wireRow struct {
	Type       int          `json:"type"`
	Components []wireButton `json:"components"`
}

type wireButton struct {
	Type     int    `json:"type"`
	Style    Style  `json:"style"`
	Label    string `json:"label"`
	CustomID string `json:"custom_id"`
	Disabled bool   `json:"disabled,omitempty"`
}

type wireFile struct {
	ID   string `json:"id"`
	Name string `json:"filename"`
}

type wireReply struct {
	Message string `json:"message_id"`
	Must    bool   `json:"fail_if_not_exists"`
}

// fresh is a message that does not exist yet.
func (m *Message) fresh() wire {
	w := m.filled()
	if m.Content == "" {
		w.Content = nil
	}
	if len(m.Embeds) == 0 {
		w.Embeds = nil
	}
	if len(m.Components) == 0 {
		w.Components = nil
	}
	w.Flags = m.Flags
	if m.ReplyTo != "" {
		w.Reference = &wireReply{Message: m.ReplyTo}
	}
	return w
}

// filled is a message that replaces another: whatever it does not have is gone.
func (m *Message) filled() wire {
	embeds, rows := make([]wireEmbed, 0, len(m.Embeds)), make([]wireRow, 0, len(m.Components))
	for _, e := range m.Embeds {
		w := wireEmbed{Title: e.Title, Description: e.Description, Color: e.Color, Fields: e.Fields}
		if e.Footer != "" {
			w.Footer = &wireFooter{Text: e.Footer}
		}
		embeds = append(embeds, w)
	}
	for _, r := range m.Components {
		row := wireRow{Type: 1, Components: make([]wireButton, 0, len(r))}
		for _, b := range r {
			row.Components = append(row.Components, wireButton{Type: 2, Style: b.Style, Label: b.Label, CustomID: b.CustomID, Disabled: b.Disabled})
		}
		rows = append(rows, row)
	}
	w := wire{Content: &m.Content, Embeds: &embeds, Components: &rows, Flags: m.Flags & SuppressEmbeds}
	w.Mentions.Parse = []string{}
	for i, f := range m.Files {
		w.Attachments = append(w.Attachments, wireFile{ID: strconv.Itoa(i), Name: fileName(f.Name)})
	}
	return w
}

// maxNonce is Discord's limit, in characters.
const maxNonce = 25

// nonce is one that Discord takes for any text; a longer one is hashed, so that
// it stays the same over tries and restarts.
func nonce(s string) string {
	if s == "" {
		return rand.Text()[:maxNonce]
	}
	plain := strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f }) < 0
	if plain && len(s) <= maxNonce {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:maxNonce]
}

package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf16"
)

// Limits that Discord's description of its API does not contain, or states
// too generously (resources/message, components/reference).
const (
	maxContent = 2000 // UTF-16 units
	maxEmbeds  = 6000 // over all embeds of a message
	maxRows    = 5    // without the components flag
)

func checkCreate(c *call) *answer { return checkMessage(c, c.body, true) }

func checkEdit(c *call) *answer { return checkMessage(c, c.body, false) }

// checkCallback looks into the data of the callbacks that carry a message.
func checkCallback(c *call) *answer {
	var in callback
	if err := json.Unmarshal(c.body, &in); err != nil {
		c.problem(err.Error())
		return invalidForm("", err.Error())
	}
	switch in.Type {
	case callbackMessage:
		return checkMessage(c, in.Data, true)
	case callbackUpdate:
		return checkMessage(c, in.Data, false)
	}
	return nil
}

// checkMessage applies the rules to one message. A breach is a violation; if
// Discord would refuse it too, the refusal is returned.
func checkMessage(c *call, raw []byte, whole bool) *answer {
	d, err := readDraft(raw)
	if err != nil {
		c.problem(err.Error())
		return invalidForm("", err.Error())
	}
	if d.speaks() && !silent(d.AllowedMentions) {
		c.problem(`allowed_mentions is not {"parse":[]}`)
	}
	if whole && d.empty() && len(c.files) == 0 {
		c.problem("the message is empty")
		a := failure(http.StatusBadRequest, 50006)
		return &a
	}
	for _, rule := range []func(*draft) (field, why string){
		ruleContent, ruleEmbeds, ruleRows, ruleIDs, ruleComponentsFlag,
	} {
		if field, why := rule(d); why != "" {
			c.problem(why)
			return invalidForm(field, why)
		}
	}
	return nil
}

// speaks reports whether a mention could hide in it.
func (d *draft) speaks() bool {
	return d.Content != nil && *d.Content != "" || d.Embeds != nil && len(*d.Embeds) > 0
}

func (d *draft) empty() bool {
	return (d.Content == nil || strings.TrimSpace(*d.Content) == "") && (d.Embeds == nil || len(*d.Embeds) == 0) &&
		(d.Components == nil || len(*d.Components) == 0) && len(d.StickerIDs) == 0 && len(bytes.TrimPrefix(d.Poll, []byte("null"))) == 0
}

// silent reports whether nobody is mentioned, whatever the text says.
func silent(raw json.RawMessage) bool {
	var m struct {
		Parse       *[]string `json:"parse"`
		Users       []string  `json:"users"`
		Roles       []string  `json:"roles"`
		RepliedUser bool      `json:"replied_user"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &m) != nil {
		return false
	}
	return m.Parse != nil && len(*m.Parse)+len(m.Users)+len(m.Roles) == 0 && !m.RepliedUser
}

func ruleContent(d *draft) (field, why string) {
	if d.Content == nil {
		return "", ""
	}
	if n := units(*d.Content); n > maxContent {
		return "content", fmt.Sprintf("content has %d characters, more than %d", n, maxContent)
	}
	return "", ""
}

// ruleEmbeds adds up what Discord adds up, and looks at the fields.
func ruleEmbeds(d *draft) (field, why string) {
	if d.Embeds == nil {
		return "", ""
	}
	total := 0
	for _, e := range *d.Embeds {
		footer, _ := e["footer"].(object)
		author, _ := e["author"].(object)
		for _, text := range []any{e["title"], e["description"], footer["text"], author["name"]} {
			total += trimmed(text)
		}
		fields, _ := e["fields"].([]any)
		for _, f := range fields {
			f, _ := f.(object)
			name, value := trimmed(f["name"]), trimmed(f["value"])
			if name == 0 || value == 0 {
				return "embeds", "an embed field has an empty name or value"
			}
			total += name + value
		}
	}
	if total > maxEmbeds {
		return "embeds", fmt.Sprintf("the embeds have %d characters together, more than %d", total, maxEmbeds)
	}
	return "", ""
}

func ruleRows(d *draft) (field, why string) {
	if d.Components != nil && len(*d.Components) > maxRows && d.Flags&flagComponents == 0 {
		return "components", fmt.Sprintf("%d rows, more than %d", len(*d.Components), maxRows)
	}
	return "", ""
}

// ruleIDs finds a custom_id that stands twice.
func ruleIDs(d *draft) (field, why string) {
	if d.Components == nil {
		return "", ""
	}
	seen := make(map[string]bool)
	var walk func(object) string
	walk = func(c object) string {
		if id, _ := c["custom_id"].(string); id != "" {
			if seen[id] {
				return id
			}
			seen[id] = true
		}
		children, _ := c["components"].([]any)
		for _, child := range append(children, c["accessory"]) {
			if child, isComponent := child.(object); isComponent {
				if id := walk(child); id != "" {
					return id
				}
			}
		}
		return ""
	}
	for _, c := range *d.Components {
		if id := walk(c); id != "" {
			return "components", fmt.Sprintf("custom_id %q stands twice", id)
		}
	}
	return "", ""
}

func ruleComponentsFlag(d *draft) (field, why string) {
	if d.Flags&flagComponents != 0 && d.speaks() {
		return "content", "content and embeds cannot stand beside the components flag"
	}
	return "", ""
}

// units counts a text as Discord does.
func units(text string) int {
	n := 0
	for _, r := range text {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

func trimmed(v any) int {
	text, _ := v.(string)
	return units(strings.TrimSpace(text))
}

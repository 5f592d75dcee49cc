package discordtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/bwmarrin/discordgo"
)

// Discord's rules that its API description does not contain, or states too generously. Pages are below
// https://discord.com/developers/docs/.

// Messages: resources/message#create-message, resources/message#embed-object-embed-limits
// and components/reference#action-row.
const (
	maxContent = 2000 // UTF-16 units
	maxEmbeds  = 6000 // over all embeds of a message
	maxRows    = 5
)

// nonceLife is how long a nonce is remembered: "the past few minutes"
// (resources/message#create-message).
const nonceLife = 5 * time.Minute

// Files: reference#uploading-files and reference#signed-attachment-cdn-urls.
const (
	maxRequest = 25 << 20       // bytes of one request
	maxFile    = 10 << 20       // bytes of one file
	linkLife   = 24 * time.Hour // how long the address of a file works
)

// Interactions: interactions/receiving-and-responding#followup-messages.
const (
	firstAnswer  = 3 * time.Second
	tokenLife    = 15 * time.Minute
	maxFollowups = 5
)

// Gateway: events/gateway#sending-events, events/gateway#rate-limiting and
// events/gateway#privileged-intents.
const (
	maxPacket         = 4096            // bytes that a client may send at once
	maxPackets        = 120             // in a minute, on one connection
	startSpan         = 5 * time.Second // between two IDENTIFYs, as max_concurrency is 1
	intentsPrivileged = discordgo.IntentGuildMembers | discordgo.IntentGuildPresences | discordgo.IntentMessageContent
	intentsAll        = 1<<26 - 1
)

// Requests: topics/rate-limits#global-rate-limit. The limits per channel are not
// documented; these are the observed ones (Discord.Net issue 2375).
const (
	channelLimit = 5
	channelSpan  = 5 * time.Second
	globalLimit  = 50
	globalSpan   = time.Second
)

func checkCreate(c *call) *Plan { return checkMessage(c, c.body, true) }

func checkEdit(c *call) *Plan { return checkMessage(c, c.body, false) }

// checkCallback checks the data of callbacks with a message.
func checkCallback(c *call) *Plan {
	var in callback
	if refusal := c.decode(&in); refusal != nil {
		c.problem("not a callback")
		return refusal
	}
	switch in.Type {
	case discordgo.InteractionResponseChannelMessageWithSource:
		return checkMessage(c, in.Data, true)
	case discordgo.InteractionResponseModal:
		return checkModal(c, in.Data)
	case discordgo.InteractionApplicationCommandAutocompleteResult:
		return checkChoices(c, in.Data)
	}
	return nil
}

// Menus, windows and suggestions: components/reference#string-select,
// components/reference#text-input, interactions/receiving-and-responding#modal and
// interactions/application-commands#autocomplete.
const (
	maxSelect      = 25  // options of a menu
	maxOption      = 100 // of a label, value and description of an option
	maxID          = 100 // of a custom_id
	maxPlaceholder = 150
	maxModalTitle  = 45
	maxInputLabel  = 45
	maxModalRows   = 5
	maxChoices     = 25
	maxChoice      = 100 // of a name and a value
)

// checkControls checks menus and custom_ids at any depth.
func checkControls(all []object) (why string) {
	over := func(o object, key string, most int) {
		if text, _ := o[key].(string); units(text) > most {
			why = fmt.Sprintf("%s has %d characters, more than %d", key, units(text), most)
		}
	}
	for _, row := range all {
		if inside := children(row, "components"); len(inside) > 1 && inside[0]["type"] != json.Number("2") {
			why = "a row has one menu or up to five buttons" // components/reference#action-row
		}
	}
	walk(all, func(c object) {
		over(c, "custom_id", maxID)
		if c["type"] != json.Number("3") {
			return
		}
		over(c, "placeholder", maxPlaceholder)
		options, seen := children(c, "options"), map[any]bool{}
		if len(options) == 0 || len(options) > maxSelect {
			why = fmt.Sprintf("a menu has %d options, not 1 to %d", len(options), maxSelect)
		}
		for _, o := range options {
			over(o, "label", maxOption)
			over(o, "value", maxOption)
			over(o, "description", maxOption)
			if label, _ := o["label"].(string); label == "" || o["value"] == "" || seen[o["value"]] {
				why = "an option has no label or value, or its value occurs twice"
			}
			seen[o["value"]] = true
		}
	})
	return why
}

// checkModal applies the rules to a window.
func checkModal(c *call, raw json.RawMessage) *Plan {
	var m Modal
	if err := json.Unmarshal(raw, &m); err != nil {
		c.problem("not a modal")
		return invalidForm("data", err.Error())
	}
	why := ""
	switch {
	case m.CustomID == "" || units(m.CustomID) > maxID:
		why = "the custom_id of a modal has 1 to 100 characters"
	case m.Title == "" || units(m.Title) > maxModalTitle:
		why = "the title of a modal has 1 to 45 characters"
	case len(m.Rows) == 0 || len(m.Rows) > maxModalRows:
		why = "a modal has 1 to 5 components"
	}
	for _, row := range m.Rows {
		if len(row.Fields) != 1 {
			why = "a row of a modal has one text input"
		}
		for _, f := range row.Fields {
			if f.CustomID == "" || f.Label == "" || units(f.Label) > maxInputLabel || f.Most > 0 && units(f.Value) > f.Most {
				why = "a text input lacks its custom_id or label, or has a label or value that is too long"
			}
		}
	}
	if why == "" {
		return nil
	}
	c.problem(why)
	return invalidForm("data", why)
}

// checkChoices applies the rules to suggestions.
func checkChoices(c *call, raw json.RawMessage) *Plan {
	var in struct {
		Choices []struct{ Name, Value string } `json:"choices"`
	}
	why := ""
	if err := json.Unmarshal(raw, &in); err != nil || in.Choices == nil {
		why = "choices are missing"
	}
	if len(in.Choices) > maxChoices {
		why = fmt.Sprintf("%d choices, more than %d", len(in.Choices), maxChoices)
	}
	for _, k := range in.Choices {
		if k.Name == "" || units(k.Name) > maxChoice || units(k.Value) > maxChoice {
			why = "the name of a choice has 1 to 100 characters, its value up to 100"
		}
	}
	if why == "" {
		return nil
	}
	c.problem(why)
	return invalidForm("data", why)
}

// checkMessage applies the rules to one message. A breach is a violation; if Discord would also reject the message,
// its error is returned.
func checkMessage(c *call, raw []byte, whole bool) *Plan {
	d, refusal := readDraft(raw)
	if refusal != nil {
		c.problem("not a message")
		return refusal
	}
	var content string
	var embeds, components []object
	if d.Content != nil {
		content = *d.Content
	}
	if d.Embeds != nil {
		embeds = *d.Embeds
	}
	if d.Components != nil {
		components = *d.Components
	}
	speaks := content != "" || len(embeds) > 0
	if speaks && !silent(d.AllowedMentions) {
		c.problem(`allowed_mentions is not {"parse":[]}`)
	}
	if whole && strings.TrimSpace(content) == "" && len(embeds)+len(components)+len(c.files) == 0 {
		c.problem("the message is empty")
		return failure(http.StatusBadRequest, 50006)
	}
	field, why := checkEmbeds(embeds)
	twice := sameID(components)
	switch {
	case units(content) > maxContent:
		field, why = "content", fmt.Sprintf("content has %d characters, more than %d", units(content), maxContent)
	case why != "":
	case len(components) > maxRows:
		field, why = "components", fmt.Sprintf("%d rows, more than %d", len(components), maxRows)
	case checkControls(components) != "":
		field, why = "components", checkControls(components)
	case twice != "":
		field, why = "components", fmt.Sprintf("custom_id %q occurs twice", twice)
	default:
		return nil
	}
	c.problem(why)
	return invalidForm(field, why)
}

// silent reports whether a message mentions no one, regardless of its text
// (resources/message#allowed-mentions-object). Requiring this of every message is our own rule.
func silent(raw json.RawMessage) bool {
	var m discordgo.MessageAllowedMentions
	return len(raw) > 0 && json.Unmarshal(raw, &m) == nil && m.Parse != nil &&
		len(m.Parse)+len(m.Users)+len(m.Roles) == 0 && !m.RepliedUser
}

// checkEmbeds checks the total length, counted as Discord does, and the fields
// (resources/message#embed-object-embed-limits).
func checkEmbeds(all []object) (field, why string) {
	total := 0
	for _, e := range all {
		footer, _ := e["footer"].(object)
		author, _ := e["author"].(object)
		for _, text := range []any{e["title"], e["description"], footer["text"], author["name"]} {
			total += trimmed(text)
		}
		for _, f := range children(e, "fields") {
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

// sameID finds a duplicate custom_id (components/reference#anatomy-of-a-component).
func sameID(all []object) (twice string) {
	seen := make(map[string]bool)
	walk(all, func(c object) {
		id, _ := c["custom_id"].(string)
		if id != "" && seen[id] {
			twice = id
		}
		seen[id] = true
	})
	return twice
}

// units returns the length of a text as Discord counts it.
func units(text string) int { return len(utf16.Encode([]rune(text))) }

func trimmed(v any) int {
	text, _ := v.(string)
	return units(strings.TrimSpace(text))
}

// validPresence reports whether a presence has only the keys that Discord documents, and its activities only those
// that a bot may set (events/gateway-events#update-presence).
func validPresence(raw json.RawMessage) bool {
	var p struct {
		Since      *int64 `json:"since"`
		Activities []struct {
			Name  string `json:"name"`
			State string `json:"state"`
			Type  int    `json:"type"`
			URL   string `json:"url"`
		} `json:"activities"`
		Status string `json:"status"`
		AFK    bool   `json:"afk"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	return dec.Decode(&p) == nil && slices.Contains([]string{"online", "dnd", "idle", "invisible", "offline"}, p.Status)
}
